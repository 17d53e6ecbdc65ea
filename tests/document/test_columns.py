from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.columns import Row, build_columns
from roamtui.document.node import NodeKind

_LEVELS = st.lists(st.integers(0, 6), max_size=30)


def _rows(levels: list[int]) -> list[Row]:
    return [Row(NodeKind.SECTION, level, f"t{index}", index) for index, level in enumerate(levels)]


@given(_LEVELS)
def test_a_subtree_is_the_rows_whose_parents_lead_to_its_top(levels: list[int]) -> None:
    columns = build_columns(_rows(levels), len(levels))
    for top in range(len(levels)):
        below = []
        for row in range(len(levels)):
            ancestor = columns.parents[row]
            while ancestor > top:
                ancestor = columns.parents[ancestor]
            if ancestor == top:
                below.append(row)
        assert below == list(range(top + 1, columns.ends[top]))


@given(_LEVELS)
def test_paths_in_order_are_the_paths_one_by_one(levels: list[int]) -> None:
    columns = build_columns(_rows(levels), len(levels))
    assert list(columns.paths()) == [columns.path(row) for row in range(len(columns))]


def test_a_title_is_cut_in_the_paths_below_it_only_where_all_of_them_would_be_a_flood() -> None:
    long = "word " * 20_000
    rows = [Row(NodeKind.SECTION, 1, long, 0), *(Row(NodeKind.SECTION, 2, "b", n) for n in range(1, 600))]
    flood, few = build_columns(rows, 600), build_columns(rows[:400], 400)
    assert flood.path(0) == (long,)
    above, own = flood.path(1)
    assert (len(above) <= 1_000, above[:5], above[-1], own) == (True, "word ", "…", "b")
    assert few.path(1) == (long, "b")
