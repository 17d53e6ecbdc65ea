"""The column heads of a row are those that a reader finds, or unknown, but never wrong."""

import pytest

from roamtui.markdown.blocks import Table
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.table_header import TableHeader, find_header_above

_UNKNOWN = None
_NONE_NEEDED = ()


def _find(rows: str, heads: str) -> list[tuple[str, ...] | None]:
    """Return the heads of each row, written with a bar after each cell, below a header row."""
    columns = heads.count("|")
    text = f"|{heads}\n|{'---|' * columns}\n" + "".join(f"|{row.strip()}\n" for row in rows.strip().split("\n"))
    (table,) = parse_markdown(text).blocks
    assert isinstance(table, Table)
    return [TableHeader(table).find(index) for index in range(1, len(table.rows))]


@pytest.mark.parametrize(
    ("heads", "rows", "found"),
    [
        (
            "(Millions)|2022|2021|2020|",
            "Cash||||\nDebt|$5|—|(3)|",
            [_NONE_NEEDED, ("(Millions)", "2022", "2021", "2020")],
        ),
        (
            "|||||",
            "|A|A|B|B|\n|2022|2021|2022|2021|\nDebt|5|6|7|8|",
            [_NONE_NEEDED, _NONE_NEEDED, ("", "A 2022", "A 2021", "B 2022", "B 2021")],
        ),
        (
            "|A|A|B|B|",
            "In all||||\n(in millions)|2021|2020|2021|2020|\nDebt|5|6|7|8|",
            [_NONE_NEEDED, _NONE_NEEDED, ("In all (in millions)", "A 2021", "A 2020", "B 2021", "B 2020")],
        ),
        (
            "|2022|2021|",
            "Debt|5|6|\n(in %)|2019|2018|\nDebt|7|8|",
            [("", "2022", "2021"), _NONE_NEEDED, ("(in %)", "2019", "2018")],
        ),
    ],
    ids=["one row", "two rows", "a label between two rows", "years in the middle"],
)
def test_heads_are_those_above_the_row(heads: str, rows: str, found: list[tuple[str, ...] | None]) -> None:
    assert _find(rows, heads) == found


@pytest.mark.parametrize(
    ("heads", "rows"),
    [
        ("|||", "Debt|5|6|"),
        ("Owner|5|6|", "Debt|7|8|"),
        ("Owner|$5 million|6|", "Debt|7|8|"),
        ("|2022||", "Debt|7|8|"),
        ("|2022|2021|", "Notes due|2030|2031|\nDebt|7|8|"),
        ("|||", "Owner|Mr. X|Mr. Y|\nDebt|7|8|"),
    ],
    ids=["empty", "figures", "amounts", "one missing", "years with a label", "a first row with a label"],
)
def test_heads_in_doubt_are_unknown(heads: str, rows: str) -> None:
    assert _find(rows, heads)[-1] is _UNKNOWN


@pytest.mark.parametrize(
    ("above", "row", "heads"),
    [
        ("Text.\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n", "| 3 | 4 |", "| A | B |\n| --- | --- |\n"),
        ("A|B\r\n-|-\r\n1|2\r\n", "3|4\r\n", "A|B\r\n-|-\r\n"),
        ("> | A | B |\n> |:-:|--:|\n", "> | 1 | 2 |", "> | A | B |\n> |:-:|--:|\n"),
        ("- | A |\n  | --- |\n  | 1 |\n", "  | 2 |", "- | A |\n  | --- |\n"),
        (
            "| | 2023 | 2023 |\n|---|---|---|\n| | Jan | Feb |\n",
            "| a | 1 | 2 |",
            "| | 2023 | 2023 |\n|---|---|---|\n| | Jan | Feb |\n",
        ),
        ("| | 2023 |\n|---|---|\n", "| | Jan |\n| a | 1 |", "| | 2023 |\n|---|---|\n"),
        ("", "| A | B |\n|---|---|", None),
        ("| A | B |\n", "|---|---|\n| 1 | 2 |", None),
        ("| A |\n|---|\n| 1 |\n\n", "| no | table |", None),
        ("| A |\n|---|\n| 1 |\n## B\n", "a | b", None),
        ("| A |\n|---|\n| 1 |\n", "text", None),
        ("|---|\n", "| 1 |", None),
        ("Title\n---\n| A | B |\n|---|---|\n", "| 1 | 2 |", "| A | B |\n|---|---|\n"),
        ("| A |\n|---|\n|\n", "| 1 |", "| A |\n|---|\n"),
        ("| A |\n|\n", "| 1 |", None),
        ("", "", None),
    ],
)
def test_a_row_has_the_heads_above_it(above: str, row: str, heads: str | None) -> None:
    text = above + row
    bounds = find_header_above(text, len(above))
    assert (None if bounds is None else text[slice(*bounds)]) == heads
