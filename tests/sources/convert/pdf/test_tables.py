"""Tables on a page: their first and last rows, their header rows, and the columns of their cells."""

from __future__ import annotations

import pytest

from roamtui.sources.convert.pdf.rows import Cell, PageRow
from roamtui.sources.convert.pdf.tables import detect_tables, write_table

_LABEL, _FIRST, _SECOND = 50.0, 300.0, 400.0


def _rows(*lines: tuple[tuple[str, float], ...] | str) -> list[PageRow]:
    """Return rows below one another, each from cells with text and left edge, or from a line of prose."""
    rows = []
    for number, line in enumerate(lines):
        cells = [(line, _LABEL)] if isinstance(line, str) else line
        made = [Cell(text, x0, x0 + 5 * len(text)) for text, x0 in cells]
        rows.append(PageRow(made, 12.0 * number, 12.0 * number + 10, 10, 0, 0))
    return rows


def _line(label: str, *figures: str) -> tuple[tuple[str, float], ...]:
    return ((label, _LABEL), *zip(figures, (_FIRST, _SECOND), strict=False))


def _find(*lines: tuple[tuple[str, float], ...] | str) -> list[tuple[int, int, int]]:
    return [(table.start, table.end, table.header_count) for table in detect_tables(_rows(*lines))]


_YEARS = (("2023", _FIRST), ("2022", _SECOND))
_PROSE = f"This is prose of the page, {'longer than any label in front of figures, ' * 2}and it ends without a stop"
_SENTENCE = "This sentence ends with a full stop and has over sixty letters."


def test_two_rows_of_figures_are_a_table_and_one_is_not() -> None:
    assert _find("Text", _line("Sales", "10"), _line("Costs", "7"), "More text") == [(1, 3, 0)]
    assert _find("Text", _line("Sales", "10"), "More text") == []
    assert _find(_line("Sales", "none"), _line("Costs", "some")) == []
    assert _find((("10", _FIRST),), (("7", _FIRST),)) == []


def test_years_and_units_above_the_figures_are_heads() -> None:
    assert _find("Text.", "(in millions)", _YEARS, _line("Sales", "10", "9"), _line("Costs", "7", "6")) == [(1, 5, 2)]
    assert _find("A page about it:", _YEARS, _line("Sales", "10", "9"), _line("Costs", "7", "6")) == [(1, 4, 1)]
    assert _find(_line("Year", "2023", "2022"), _line("Sales", "10", "9"), _line("Costs", "7", "6")) == [(0, 3, 1)]


def test_a_row_of_years_after_figures_starts_another_table() -> None:
    body = _line("Sales", "10", "9"), _line("Costs", "7", "6"), _line("Profit", "3", "3")
    assert _find(_YEARS, *body, _YEARS, *body) == [(0, 4, 1), (4, 8, 1)]


def test_a_table_ends_before_prose_a_fifth_title_and_the_next_column_of_the_page() -> None:
    two = _line("Sales", "10"), _line("Costs", "7")
    assert _find(*two, _PROSE, *two) == [(0, 2, 0), (3, 5, 0)]
    assert _find(*two, _SENTENCE, *two) == [(0, 2, 0), (3, 5, 0)]
    assert _find(*two, _SENTENCE.replace(".", ""), *two) == [(0, 5, 0)]
    assert _find(*two, *["Title"] * 4, *two) == [(0, 8, 0)]
    assert _find(*two, *["Title"] * 5, *two) == [(0, 2, 0), (7, 9, 0)]
    rows = _rows(*two, *two)
    for row in rows[2:]:
        row.top -= 24
    assert [(table.start, table.end) for table in detect_tables(rows)] == [(0, 2), (2, 4)]


def test_a_row_above_the_labels_or_at_a_sentence_end_is_not_a_header() -> None:
    two = _line("Sales", "10"), _line("Costs", "7")
    assert _find(_line("Of", "Total"), *two) == [(0, 3, 1)]
    assert _find(_line("Of", "Total:"), *two) == [(1, 3, 0)]
    assert _find("Label", *two) == [(1, 3, 0)]
    assert _find(_line("Of", "Total"), "Parts", *two) == [(0, 4, 1)], "the title of a part stays below the heads"


def test_a_table_is_written_with_its_heads_above_its_columns() -> None:
    rows = _rows(_YEARS, _line("Sales", "10", "9"), _line("Costs", "7", "6"))
    assert write_table(rows, 1) == "|  | 2023 | 2022 |\n| --- | --- | --- |\n| Sales | 10 | 9 |\n| Costs | 7 | 6 |"


def test_a_label_over_two_rows_is_joined_and_a_title_is_not() -> None:
    lines = (("Sales of all",), ("goods", "10"), ("Costs:",), ("rent", "7"), ("Else",), ("Tax", "1"))
    rows = _rows(*(_line(*line) for line in lines))
    written = write_table(rows, 0).splitlines()[2:]
    assert written == ["| Sales of all goods | 10 |", "| Costs: |  |", "| rent | 7 |", "| Else |  |", "| Tax | 1 |"]


def test_a_year_at_the_edge_is_a_label_and_a_figure_further_in_is_not() -> None:
    rows = _rows((("2023", _LABEL), ("10", _FIRST)), (("2022", _LABEL + 30), ("9", _FIRST)))
    assert write_table(rows, 0).splitlines()[2:] == ["| 2023 | 10 |", "| 2022 | 9 |"]
    rows = _rows(_line("Sales", "10", "9"), (("7", _FIRST), ("6", _SECOND)))
    assert write_table(rows, 0).splitlines()[2:] == ["| Sales | 10 | 9 |", "|  | 7 | 6 |"]


def test_figures_of_one_column_may_be_slightly_apart() -> None:
    """Two columns are one unless a row fills both."""
    apart = _line("Sales", "10"), (("Costs", _LABEL), ("7", _FIRST + 15))
    assert write_table(_rows(*apart), 0).splitlines()[2:] == ["| Sales | 10 |", "| Costs | 7 |"]
    both = (("Both", _LABEL), ("10", _FIRST), ("7", _FIRST + 15))
    assert write_table(_rows(*apart, both), 0).splitlines()[2:] == [
        "| Sales | 10 |  |",
        "| Costs |  | 7 |",
        "| Both | 10 | 7 |",
    ]
    far = _line("Sales", "10"), (("Costs", _LABEL), ("7", _FIRST + 30))
    assert write_table(_rows(*far), 0).splitlines()[2:] == ["| Sales | 10 |  |", "| Costs |  | 7 |"]


def test_a_header_over_two_columns_is_in_both_and_a_bar_is_escaped() -> None:
    rows = _rows((("Years that ended in | June", _FIRST),), _line("Sales", "10", "9"), _line("Costs", "7", "6"))
    assert write_table(rows, 1).splitlines()[0] == r"|  | Years that ended in \| June | Years that ended in \| June |"


@pytest.mark.parametrize(("count", "is_table"), [(24, True), (25, False)])
def test_a_table_with_too_many_columns_becomes_lines(count: int, is_table: bool) -> None:  # noqa: FBT001
    rows = _rows(*[tuple((str(column % 10), 40.0 * column) for column in range(count + 1))] * 2)
    assert write_table(rows, 0).startswith("|") is is_table


@pytest.mark.parametrize(("count", "is_table"), [(6, True), (5, False)])
def test_a_short_table_with_a_cell_over_two_columns_becomes_lines(count: int, is_table: bool) -> None:  # noqa: FBT001
    """At most one cell in 25 may span columns, because a figure below a wrong header misleads."""
    third = 500.0
    lines = [(*_line(f"Row {number}", "10", "20"), ("30", third)) for number in range(count)]
    long = (("word " * 15, _LABEL), ("40", third))
    assert write_table(_rows(*lines, long), 0).startswith("|") is is_table
