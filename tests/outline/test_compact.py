"""The compact form: one line a section, what it holds, and deeper levels while they fit."""

from __future__ import annotations

import pytest

from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.outline.compact import render_compact
from roamtui.outline.render import render_outline
from tests.outline.documents import find_id, make_library, write_words

_ROOMS = ("Hall", "Attic", "Cellar")


@pytest.fixture
def house() -> Library:
    """Return a document of three chapters, each with four sections that hold one more."""
    parts = []
    for room in _ROOMS:
        parts.append(f"# {room}\n\n{room} opening.\n")
        for index in range(4):
            parts.append(f"## {room} part {index}\n\n{write_words(40)}")
            parts.append(f"### {room} detail {index}\n\n{write_words(400, seed=index)}")
    return make_library("\n".join(parts))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("- [")]


def test_every_line_has_id_title_size_and_what_is_below(house: Library) -> None:
    outline = render_compact(house, 220)
    assert outline.startswith("# (no title)\n<!-- Each line is a collapsed section:")
    hall = house.node(find_id(house, "Hall"))
    assert hall.descendants == 8
    line = next(line for line in _lines(outline) if "Hall" in line)
    assert line.startswith(f"- [{hall.id}] Hall (+8, ~{format_tokens(hall.tokens)}): ")
    assert "Hall part 0 (Hall detail 0); Hall part 1 (Hall detail 1)" in line
    assert len(_lines(outline)) == 3


def test_where_two_levels_of_titles_do_not_fit_one_level_stands_alone(house: Library) -> None:
    line = next(line for line in _lines(render_compact(house, 170)) if "Hall" in line)
    assert line.endswith(": Hall part 0; Hall part 1; Hall part 2; Hall part 3")


def test_where_no_level_of_titles_fits_their_number_is_said(house: Library) -> None:
    outline = render_compact(house, 120)
    assert estimate_tokens(outline) <= 120
    lines = _lines(outline)
    assert len(lines) == 3
    assert "Cellar (+8, ~9.1k): Cellar part 0; Cellar part 1; +2 more" in outline


def test_with_more_room_children_are_lines_of_their_own_and_their_titles_stand_once(house: Library) -> None:
    outline = render_compact(house, 2_000)
    lines = _lines(outline)
    assert len(lines) == len(house) == 27
    assert sum(line.startswith("    - [") for line in lines) == 12
    assert outline.count("Hall part 0 ") == 1


def test_levels_are_filled_breadth_first(house: Library) -> None:
    """No section has its grandchildren listed while another has not even its children."""
    for budget in range(200, 1_600, 100):
        depths = {(len(line) - len(line.lstrip())) // 2 for line in _lines(render_compact(house, budget))}
        if 2 in depths:
            assert render_compact(house, budget).count("\n  - [") == 12


def test_the_seed_form_gives_way_where_not_all_headings_fit(house: Library) -> None:
    assert "Section collapsed" in render_outline(house, budget_tokens=12_000)
    compact = render_outline(house, budget_tokens=700)
    assert "Section collapsed" not in compact
    assert compact == render_compact(house, 700)


def test_the_title_line_holds_the_id_of_a_title_that_holds_everything() -> None:
    parts = "".join(f"## Part {i}\n\n{write_words(50)}" for i in range(30))
    library = make_library(f"# Whole\n\nIts opening.\n\n{parts}")
    outline = render_compact(library, 500)
    whole = library.node(find_id(library, "Whole"))
    assert outline.startswith(f"# [{whole.id}] Whole (+30, ~")
    assert outline.splitlines()[0].endswith(": Its opening.")


def test_a_title_of_the_file_is_defused_too() -> None:
    library = make_library("---\ntitle: a <!-- [deadbeef] --> b\n---\n# One\n\n# Two\n" + write_words(3_000))
    outline = render_compact(library, 300)
    assert outline.startswith("# a <> (deadbeef) <> b\n")


def test_terms_that_no_title_shows_are_named_where_room_is_left() -> None:
    text = "# Fees\n\n**Grace period** applies. The `late_fee` is two euros.\n\nA reminder letter is sent.\n\n# Hours\n"
    line = _lines(render_compact(make_library(text), 400))[0]
    assert line.endswith(": terms: late_fee, Grace period, reminder letter")


def test_terms_of_a_title_and_marks_of_tables_are_no_terms() -> None:
    text = "# Fees\n\n**Fees** are due. | **a** | b |\n|---|---|\n\n# Hours\n\nThe hours are long.\n"
    assert "terms" not in render_compact(make_library(text), 400)


def test_empty_sections_say_so(manual: Library) -> None:
    lost = find_id(manual, "Lost books")
    assert f"- [{lost}] Lost books (empty)" in render_compact(manual, 2_000)


def test_a_generic_title_gets_its_first_words() -> None:
    text = (
        "# One\n\n## FAQ\n\nRenewals are free of charge.\n\n## Renewals\n\nThey are free.\n\n"
        "# Two\n\n## Other changes\n\n### Inner\n\nText\n"
    )
    outline = render_compact(make_library(text), 2_000)
    assert "FAQ (~10): Renewals are free of charge." in outline
    assert not any("They are free" in line for line in outline.splitlines())
    assert "Inner" in outline
