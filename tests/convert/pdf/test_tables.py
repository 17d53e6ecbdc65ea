"""Tables on a page: their first and last rows, their header rows, and the columns of their cells."""

from itertools import pairwise

import pytest

from roamtui.convert.pdf.markdown import LineJoiner
from roamtui.convert.pdf.rows import PageCell, PageRow
from roamtui.convert.pdf.table_writer import write_page_table
from roamtui.convert.pdf.tables import detect_tables

_LABEL, _FIRST, _SECOND = 50.0, 300.0, 400.0


def _rows(*lines: tuple[tuple[str, float], ...] | str) -> list[PageRow]:
    """Return rows below one another, each from cells with text and left edge, or from a line of prose."""
    rows = []
    for number, line in enumerate(lines):
        cells = [(line, _LABEL)] if isinstance(line, str) else line
        made = [PageCell(text, x0, x0 + 5 * len(text)) for text, x0 in cells]
        rows.append(PageRow(made, 12.0 * number, 12.0 * number + 10, 10, 0, 0))
    return rows


def _line(label: str, *figures: str) -> tuple[tuple[str, float], ...]:
    return ((label, _LABEL), *zip(figures, (_FIRST, _SECOND), strict=False))


def _find(*lines: tuple[tuple[str, float], ...] | str) -> list[tuple[int, int, int]]:
    return [(table.start, table.end, table.header_row_count) for table in detect_tables(_rows(*lines))]


def _write(rows: list[PageRow]) -> str:
    (table,) = detect_tables(rows)
    body = rows[table.start : table.end]
    return write_page_table(body, table.header_row_count, table.columns, LineJoiner([]).join)


def test_two_rows_of_figures_are_a_table_and_one_is_not() -> None:
    assert _find("Text", _line("Sales", "10"), _line("Costs", "7"), "More text") == [(1, 3, 0)]
    assert _find("Text", _line("Sales", "10"), "More text") == []
    assert _find("Text", _line("Sales", "12,50 €"), _line("Costs", "1 234"), "More text") == [(1, 3, 0)]
    assert _find(_line("Sales", "none"), _line("Costs", "31, 2019")) == []
    assert _find((("10", _FIRST),), (("7", _FIRST),)) == []


def test_a_title_in_larger_letters_is_no_part_of_a_narrow_table() -> None:
    title = (("Catch", _LABEL),)
    cells = (("Port", "Sum"), ("Kiel", "10"), ("Husum", "7"))
    head, *body = (((label, _LABEL), (figure, _LABEL + 30)) for label, figure in cells)
    rows = _rows(title, head, *body, title, *body)
    rows[0].size = rows[4].size = 15
    assert [(table.start, table.end) for table in detect_tables(rows)] == [(1, 4), (5, 7)]


def test_heads_below_figures_start_the_next_table_and_wrapped_words_do_not() -> None:
    table = (_line("Sales", "10", "9"), _line("Costs", "7", "6"))
    assert _find(*table, (("Assets", _FIRST), ("Debt", _SECOND)), *table) == [(0, 2, 0), (2, 5, 1)]
    assert _find(*table, (("($ in millions)", _LABEL), ("Net", _FIRST)), *table) == [(0, 2, 0), (2, 5, 1)]
    assert _find(*table, (("and its parts", 120), ("value", _FIRST)), *table) == [(0, 5, 0)]


def test_one_row_of_figures_below_heads_is_a_table() -> None:
    goodwill = _line("Goodwill", "10", "9")
    assert _find("Text", (("Gross", _FIRST), ("Net", _SECOND)), goodwill, "More text") == [(1, 3, 1)]
    assert _find("Text", (("$10 to $12", _FIRST), ("$3 to $4", _SECOND)), goodwill, "More text") == []


def test_a_head_left_of_all_columns_is_that_of_the_labels() -> None:
    rows = _rows((("Item", 200.0), ("2023", _FIRST)), _line("Sales", "10"), _line("Costs", "7"))
    assert _write(rows).startswith("| Item | 2023 |")


@pytest.mark.parametrize(("count", "is_table"), [(4, False), (9, True)])
def test_a_table_whose_cells_fit_no_column_too_often_is_plain_lines(count: int, *, is_table: bool) -> None:
    rows = _rows(*[_line("Sales", "10", "9")] * count, (("A label over columns" * 4, _LABEL), ("7", 500.0)))
    assert _write(rows).startswith("|") is is_table


def test_a_total_below_the_words_of_other_columns_does_not_make_the_table_plain_lines() -> None:
    total = (("Net of tax", 280.0), ("17", _SECOND))
    assert _write(_rows(_line("Sales", "10", "9"), _line("Costs", "7", "6"), total)).startswith("|")


_COLUMNS = (300.0, 380.0, 460.0, 540.0)


def _head(*cells: tuple[str, float]) -> tuple[tuple[str, float], ...]:
    """Return cells that are centred at x."""
    return tuple((text, x - 2.5 * len(text)) for text, x in cells)


def _write_headed(*header: tuple[tuple[str, float], ...], count: int = 3) -> list[str]:
    """Return the heads of a table whose columns have their middles at `_COLUMNS`."""
    body = [(("Sales", _LABEL), *((f"{row}0,000", x - 15) for x in _COLUMNS[:count])) for row in (1, 2, 3)]
    head, _, first, *_ = _write(_rows(*header, *body)).splitlines()
    assert first == f"| Sales{' | 10,000' * count} |"
    return [text.strip() for text in head.strip("|").split(" | ")]


_THREE_YEARS = _head(("2022", 300), ("2021", 380), ("2020", 460))


@pytest.mark.parametrize(
    "title", ["Year Ended", "Fiscal Year", "For the Years Ended December 31,", "YEAR ENDED MAY 31,"]
)
def test_a_period_is_above_all_its_years(title: str) -> None:
    assert _write_headed(_head((title, 380)), _THREE_YEARS) == ["", f"{title} 2022", f"{title} 2021", f"{title} 2020"]


def test_two_periods_have_two_years_each_and_a_year_has_amounts_and_percents() -> None:
    years = _head(("2022", 300), ("2021", 380), ("2022", 460), ("2021", 540))
    assert _write_headed(_head(("Three Months", 340), ("Six Months", 500)), years, count=4)[1::2] == [
        "Three Months 2022",
        "Six Months 2022",
    ]
    parts = _head(("Amount", 300), ("Percent", 380), ("Amount", 460), ("Percent", 540))
    years = _head(("2022", 340), ("2021", 500))
    assert _write_headed(_head(("FOURTH QUARTER", 420)), years, parts, count=4)[2:4] == [
        "FOURTH QUARTER 2022 Percent",
        "FOURTH QUARTER 2021 Amount",
    ]


def test_years_beside_a_day_have_equal_shares_of_the_columns() -> None:
    years = (("June 30,", _LABEL), *_head(("2022", 380), ("2021", 540)))
    parts = _head(("Gross", 300), ("Net", 380), ("Gross", 460), ("Net", 540))
    assert _write_headed(years, parts, count=4) == ["June 30,", "2022 Gross", "2022 Net", "2021 Gross", "2021 Net"]


def test_the_second_line_of_one_head_stays_in_its_column_although_all_heads_stand_left_of_their_figures() -> None:
    first = _head(("Flexibles", 275), ("Rigid", 355), ("Total", 435))
    second = (("($ million)", _LABEL), *_head(("Packaging", 355)))
    assert _write_headed(first, second) == ["($ million)", "Flexibles", "Rigid Packaging", "Total"]


def _space(rows: list[PageRow], *distances: float) -> list[PageRow]:
    for (above, row), distance in zip(pairwise(rows), distances, strict=True):
        row.top = above.top + distance
    return rows


def test_lines_of_a_row_of_words_are_joined_if_rows_are_further_apart_than_lines() -> None:
    rows = _rows(
        (("Role", 50), ("Duty", 150), ("Deputy", 400)),
        (("Harbour", 50), ("keeps order and signs each permit that", 150), ("Pilot", 400)),
        (("master", 50), ("the office has prepared", 150)),
        (("Pilot", 50), ("brings vessels in, and trains the", 150), ("Harbour", 400)),
        (("young", 150), ("master", 400)),
        (("Diver", 50), ("none", 150), ("Clerk", 400)),
    )
    assert _write(_space(rows, 20, 11, 20, 11, 20)).splitlines()[-4:] == [
        "| Role | Duty | Deputy |",
        "| Harbour master | keeps order and signs each permit that the office has prepared | Pilot |",
        "| Pilot | brings vessels in, and trains the young | Harbour master |",
        "| Diver | none | Clerk |",
    ]
    assert len(_write(_space(rows, 11, 11, 11, 11, 11)).splitlines()) == 8


def test_a_row_of_words_below_figures_belongs_to_their_table_if_its_cells_stand_below_theirs() -> None:
    idle = (("Idle", _LABEL), ("1", _FIRST), ("€ 85 per hour", _SECOND))
    assert _find(_line("Night", "2", "15 %"), _line("Cargo", "3", "40 %"), idle, "Text") == [(0, 3, 0)]


def test_a_head_of_the_labels_between_two_rows_of_heads_belongs_to_both() -> None:
    label = (("Class of vessel", _LABEL),)
    body = [(("Barge", _LABEL), *((f"{row}0,000", x - 15) for x in _COLUMNS)) for row in (1, 2)]
    seasons = _head(*zip(("Summer", "Winter") * 2, _COLUMNS, strict=True))
    rows = _rows(_head(("Inside", 340), ("Outside", 500)), label, seasons, *body)
    heads = "Class of vessel | Inside Summer | Inside Winter | Outside Summer | Outside Winter"
    assert _write(_space(rows, 9, 9, 19, 19)).startswith(f"| {heads} |")
