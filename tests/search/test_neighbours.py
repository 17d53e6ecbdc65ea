"""Neighbours of what was found join with a share of its score, within limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roamtui.search.neighbours import NeighbourRules, find_neighbours
from tests.search.libraries import id_of, make_folder, make_library

LIBRARY = make_library("""# Book

Words.

## One

### One a

### One b

#### Deep

### One c

### One d

## Two

## Three
""")
RULES = NeighbourRules(parent=0.75, child=0.7, sibling=0.6, depth=1, count=100, siblings_per_node=2)


def _find(title: str, rules: NeighbourRules = RULES, score: float = 1.0) -> dict[str, tuple[float, str]]:
    joined = find_neighbours(LIBRARY, {id_of(LIBRARY, title): score}, rules)
    return {LIBRARY.title_of(section_id): (found.score, found.relation) for section_id, found in joined.items()}


def test_parent_children_and_those_beside_it_join() -> None:
    assert _find("One b") == {
        "One": (0.75, "parent"),
        "Deep": (0.7, "child"),
        "One c": (0.6, "sibling"),
        "One a": (0.6, "sibling"),
    }


def test_neighbours_are_the_nearest_and_as_many_as_wished() -> None:
    assert list(_find("One d")) == ["One", "One c", "One b"]
    assert list(_find("One", replace(RULES, siblings_per_node=1))) == ["Book", "One a", "Two"]


def test_the_best_ones_join_where_only_some_may() -> None:
    assert list(_find("One b", replace(RULES, count=2))) == ["One", "Deep"]
    assert _find("One b", replace(RULES, count=0)) == {}


def test_a_share_of_nothing_joins_nothing() -> None:
    assert list(_find("One b", replace(RULES, parent=0, sibling=0))) == ["Deep"]


def test_each_step_takes_its_share() -> None:
    found = _find("Deep", replace(RULES, depth=2))
    assert found["One b"] == (0.75, "parent")
    assert found["One"][0] == pytest.approx(0.75 * 0.75)
    assert found["One c"][0] == pytest.approx(0.75 * 0.6)
    assert found["One c"][1] == "sibling"
    assert "One c" not in _find("Deep")


def test_the_best_way_to_a_neighbour_counts_and_what_was_found_is_none() -> None:
    scores = {id_of(LIBRARY, "One a"): 1.0, id_of(LIBRARY, "One c"): 0.5}
    joined = find_neighbours(LIBRARY, scores, RULES)
    assert joined[id_of(LIBRARY, "One")].score == 0.75
    assert joined[id_of(LIBRARY, "One")].origin == id_of(LIBRARY, "One a")
    assert scores.keys().isdisjoint(joined)


def test_nothing_outside_joins() -> None:
    inside = frozenset(LIBRARY.walk(id_of(LIBRARY, "One b")))
    joined = find_neighbours(LIBRARY, {id_of(LIBRARY, "One b"): 1.0}, RULES, inside)
    assert [LIBRARY.title_of(section_id) for section_id in joined] == ["Deep"]


def test_files_and_folders_do_not_join() -> None:
    library = make_folder({"a.md": "# A\n\nStart of A.\n\n## A one\n\nText.\n", "b.md": "# B\n\nText.\n"})
    joined = find_neighbours(library, {id_of(library, "A"): 1.0}, RULES)
    assert [library.title_of(section_id) for section_id in joined] == ["A one"]
