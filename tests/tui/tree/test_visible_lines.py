from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.tree.visible_lines import VisibleLines
from tests.tui.tree.outlines import make_library, walk_visible

_OPENINGS = ("", "\n", "Words.\n\n", "---\ntitle: x\n---\n")


@st.composite
def outlines(draw: st.DrawFn) -> str:
    levels = draw(st.lists(st.integers(1, 5), min_size=1, max_size=14))
    has_title = draw(st.booleans())
    headings = [f"{'#' * (level + has_title)} h{number}\n" for number, level in enumerate(levels)]
    return draw(st.sampled_from(_OPENINGS)) + ("# Title\n" if has_title else "") + "".join(headings)


def _assert_is_consistent(lines: VisibleLines, library: Library, unfolded: frozenset[str]) -> None:
    expected = list(walk_visible(library, unfolded))
    assert list(lines) == expected
    assert [lines.get_line(lines.numbering.find(section_id)) for section_id in expected] == list(range(len(expected)))
    hidden = set(library.walk()) - set(expected)
    assert all(lines.get_line(lines.numbering.find(section_id)) is None for section_id in hidden)


@given(outlines(), outlines(), outlines(), st.randoms(use_true_random=False))
def test_lines_are_those_of_a_naive_walk_under_any_folding_and_grafting(
    text: str, graft_text: str, deeper_text: str, chance: random.Random
) -> None:
    library = make_library(text)
    unfolded: frozenset[str] = frozenset()
    _assert_is_consistent(VisibleLines(library, unfolded), library, unfolded)
    grafts = [parse_document(graft_text, key="a"), parse_document(deeper_text, key="b")]
    for _ in range(12):
        ids = list(library.walk())
        if grafts and chance.random() < 0.3:
            free = [one for one in ids if one not in library.grafts and library.title_of(one)]
            library = library.graft_all({chance.choice(free): grafts.pop()}) if free else library
        unfolded = unfolded ^ frozenset(chance.sample(ids, min(len(ids), chance.choice((0, 1, 1, 2, 5)))))
        _assert_is_consistent(VisibleLines(library, unfolded), library, unfolded)
