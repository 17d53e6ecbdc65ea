"""Which sections are opened, and what they may cost."""

from __future__ import annotations

from dataclasses import replace

from roamtui.models.offline.choosing import SECTIONS_MAX, choose_sections
from roamtui.models.offline.reading import Found, Reading


def _find(*sizes: tuple[int, int], snippet: str = "It says so.") -> Reading:
    """Return a reading whose search found sections of these tokens and descendants."""
    return Reading(
        question="?",
        earlier_questions=(),
        outline=(),
        given=(),
        given_ids=frozenset(),
        asked_ids=frozenset(),
        found=tuple(
            Found(section_id=f"{place:08x}", path="A", tokens=tokens, descendants=descendants, snippet=snippet)
            for place, (tokens, descendants) in enumerate(sizes)
        ),
        has_searched=True,
        has_expanded=False,
    )


def _choose(*sizes: tuple[int, int]) -> list[int]:
    return [int(section_id, 16) for section_id in choose_sections(_find(*sizes))]


def test_at_most_four_are_opened() -> None:
    assert _choose(*[(100, 0)] * 9) == list(range(SECTIONS_MAX))


def test_the_first_is_opened_whatever_it_costs() -> None:
    assert _choose((9_000, 0), (3_000, 0)) == [0]


def test_what_passes_the_budget_is_left_out_and_small_ones_are_not() -> None:
    assert _choose((2_500, 0), (2_100, 0), (2_000, 0), (200, 0)) == [0, 2, 3]


def test_a_section_with_many_below_it_costs_its_own_text_alone() -> None:
    assert _choose((2_500, 0), (30_000, 99)) == [0, 1]
    assert _choose((2_500, 0), (30_000, 1)) == [0]


def test_a_heading_without_text_is_left_to_the_next_one() -> None:
    bare = _find((10, 0), (3_000, 2), snippet="").found
    reading = _find(*[(100, 0)] * 5)
    found = (*bare, *(replace(hit, section_id=f"{number:08x}") for number, hit in enumerate(reading.found, start=2)))
    chosen = choose_sections(replace(reading, found=found))
    assert [int(section_id, 16) for section_id in chosen] == [1, 2, 3, 4]
