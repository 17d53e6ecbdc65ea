from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.tree.visible_lines import VisibleLines
from tests.tui.tree.outlines import find_id, make_library, make_state, make_wide_library, walk_visible

_OPENINGS = ("", "\n", "Words.\n\n", "---\ntitle: x\n---\n")


@st.composite
def outlines(draw: st.DrawFn) -> str:
    levels = draw(st.lists(st.integers(1, 5), min_size=1, max_size=14))
    has_title = draw(st.booleans())
    headings = [f"{'#' * (level + has_title)} h{number}\n" for number, level in enumerate(levels)]
    return draw(st.sampled_from(_OPENINGS)) + ("# Title\n" if has_title else "") + "".join(headings)


def _titles(lines: VisibleLines) -> list[str]:
    return [lines.tree.library.title_of(section_id) for section_id in lines]


def _assert_is_consistent(lines: VisibleLines, library: Library, unfolded: frozenset[str]) -> None:
    expected = list(walk_visible(library, unfolded))
    assert list(lines) == expected
    assert [lines.line_of(section_id) for section_id in expected] == list(range(len(expected)))
    hidden = set(library.walk()) - set(expected)
    assert all(lines.line_of(section_id) is None for section_id in hidden)


@given(outlines(), outlines(), outlines(), st.randoms(use_true_random=False))
def test_lines_are_those_of_a_naive_walk_under_any_folding_and_grafting(
    text: str, graft_text: str, deeper_text: str, chance: random.Random
) -> None:
    library = make_library(text)
    unfolded: frozenset[str] = frozenset()
    lines = VisibleLines(library, unfolded)
    _assert_is_consistent(lines, library, unfolded)
    grafts = [parse_document(graft_text, key="a"), parse_document(deeper_text, key="b")]
    for _ in range(12):
        ids = list(library.walk())
        if grafts and chance.random() < 0.3:
            library = library.graft(chance.choice([i for i in ids if i not in library.grafts]), grafts.pop())
        unfolded = unfolded ^ frozenset(chance.sample(ids, min(len(ids), chance.choice((0, 1, 1, 2, 5)))))
        lines.update(library, unfolded)
        _assert_is_consistent(lines, library, unfolded)


def test_folding_one_of_many_nodes_asks_only_for_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    library = make_wide_library(10_000)
    big = find_id(library, "Part 5000")
    graft_rows = make_wide_library(10_000).root
    library = library.graft(big, parse_document("# One\n" + "## x\n" * 3, key="g"))
    library = library.graft(find_id(library, "Part 7000"), graft_rows)
    lines = VisibleLines(library, frozenset())
    asked: list[int] = []
    original = lines.tree.id_of

    def count_ids(key: int) -> str:
        asked.append(key)
        return original(key)

    monkeypatch.setattr(lines.tree, "id_of", count_ids)
    lines.update(library, frozenset({big}))
    assert len(lines) == 10_002
    assert len(asked) <= 4
    lines.update(library, frozenset())
    assert len(lines) == 10_001
    assert len(asked) <= 8


def test_a_batch_draws_each_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    library = make_library("# T\n## A\n### B\n#### C\n" + "".join(f"##### {number}\n" for number in range(500)))
    lines = VisibleLines(library, frozenset())
    asked: list[int] = []
    original = lines.tree.id_of

    def count_ids(key: int) -> str:
        asked.append(key)
        return original(key)

    monkeypatch.setattr(lines.tree, "id_of", count_ids)
    lines.update(library, make_state(library, "A", "B", "C").unfolded)
    assert len(lines) == 504
    assert len(asked) <= 510
