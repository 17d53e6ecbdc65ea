"""What a wrong id may have meant."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.outline.references import find_nearest
from tests.outline.documents import find_id, make_library, make_shape


def test_an_id_with_a_wrong_digit_is_found_first(manual: Library) -> None:
    for section_id in manual.walk():
        wrong = section_id[:3] + ("0" if section_id[3] != "0" else "1") + section_id[4:]
        assert find_nearest(manual, wrong)[0] == section_id
        assert find_nearest(manual, section_id[:7])[0] == section_id


def test_there_are_always_three_as_long_as_there_are_sections(manual: Library) -> None:
    for requested in ("", "zzz", "\x00\ud800", "x" * 10_000, "[]"):
        found = find_nearest(manual, requested)
        assert len(found) == len(set(found)) == 3
    assert find_nearest(make_library(""), "zzz") == ()
    assert len(find_nearest(make_library("# A\n"), "zzz")) == 1


def test_a_large_document_has_nearest_ids_too() -> None:
    library = make_shape("10,000 flat headings")
    assert find_nearest(library, "heading number 4321")[0] == find_id(library, "Heading number 4321")
