"""The catalogue of a library: titles, outlines, and a summary of each document, found by search as well."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from roamtui.document.document import hash_text
from roamtui.outline.labels import find_opening
from roamtui.search.catalogue.entries import list_entries
from roamtui.search.options import SearchMode
from tests.search.backends.conftest import Backend, backend
from tests.search.libraries import id_of, make_folder, make_library

__all__ = ["backend"]

FILES = {
    "a.md": "# Apples\n\nRed and round.\n\n## Kinds\n\n### Boskoop\n\nOld.\n",
    "b.md": "# Cherries\n\nRed and small.\n",
}
LIBRARY = make_folder(FILES)
SUMMARISED = replace(
    LIBRARY,
    summaries={
        hash_text(FILES["a.md"]): "All about pomology.",
        hash_text("## Kinds\n\n### Boskoop\n\nOld.\n"): "Lists cultivars.",
    },
)


def test_an_entry_says_what_a_document_is() -> None:
    first, second = list_entries(SUMMARISED)
    assert (first.key, first.title, first.sections) == ("a.md", "a.md: Apples", 3)
    assert first.outline == "Apples · Kinds · Boskoop"
    assert (first.summary, first.is_summarised) == ("All about pomology.", True)
    assert (second.summary, second.is_summarised) == ("Red and small.", False)
    assert first.digest != second.digest


def test_a_single_document_is_an_entry_too() -> None:
    (entry,) = list_entries(make_library("# Handbook\n\nHow this works.\n\n## Fees\n\nTwo.\n"))
    assert (entry.key, entry.title, entry.summary) == ("", "Handbook", "How this works.")


def test_the_outline_of_a_long_document_keeps_its_highest_titles() -> None:
    text = "# Top\n\n" + "".join(f"## Chapter {n}\n\n### {'Long title ' * 20}\n\n" for n in range(50))
    (entry,) = list_entries(make_library(text))
    assert entry.outline.count("Chapter") == 50
    assert len(entry.outline) < 2_100


def test_a_summary_is_the_opening_of_its_document_and_section() -> None:
    assert find_opening(SUMMARISED, id_of(LIBRARY, "a.md")) == "All about pomology."
    assert find_opening(SUMMARISED, id_of(LIBRARY, "Kinds")) == "Lists cultivars."
    assert find_opening(SUMMARISED, id_of(LIBRARY, "Cherries")) == "Red and small."


def test_a_changed_text_has_no_summary() -> None:
    changed = replace(make_folder({**FILES, "a.md": FILES["a.md"] + "More.\n"}), summaries=SUMMARISED.summaries)
    assert not list_entries(changed)[0].is_summarised


@pytest.mark.parametrize("mode", [SearchMode.KEYWORD, SearchMode.VECTOR])
def test_words_of_a_summary_are_searched(backend: Backend, mode: SearchMode) -> None:
    backend.open(LIBRARY, mode).search("pomology")
    searcher = backend.open(SUMMARISED, mode)
    assert LIBRARY.title_of(searcher.search("pomology")[0].section_id) == "Apples"
    assert LIBRARY.title_of(searcher.search("cultivars")[0].section_id) == "Kinds"
    if mode is SearchMode.KEYWORD:
        assert backend.open(LIBRARY).search("pomology") == ()


@pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")
def test_a_database_keeps_the_catalogue_and_what_was_summarised() -> None:
    from roamtui.search.lance.catalogue import LanceCatalogue  # noqa: PLC0415 - an extra
    from roamtui.search.lance.database import Database  # noqa: PLC0415 - an extra

    catalogue = LanceCatalogue(Database("memory://"))
    assert catalogue.list_documents() == ()
    assert catalogue.load_summaries() == {}
    catalogue.write(list_entries(LIBRARY))
    assert catalogue.list_documents() == list_entries(LIBRARY)
    catalogue.write(list_entries(SUMMARISED)[:1])
    assert catalogue.list_documents() == list_entries(SUMMARISED)[:1]
    catalogue.save_summaries(SUMMARISED.summaries)
    catalogue.save_summaries({"other": "Text."})
    assert catalogue.load_summaries() == {**SUMMARISED.summaries, "other": "Text."}
