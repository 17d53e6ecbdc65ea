"""The folder of a table: a log that is only appended to."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import ResultRow, ResultTable, TableLog, is_table, read_table

COLUMN = Column(question="Why?")
ROW = ResultRow(title="0.md", source="/docs/0.md")


def make_table(folder: Path) -> ResultTable:
    return ResultTable(folder=folder, rows=(ROW,), columns=(COLUMN,))


@contextmanager
def running(folder: Path) -> Iterator[TableLog]:
    with closing(TableLog(make_table(folder))) as log:
        log.begin_run()
        yield log


def make_cell(value: str) -> Cell:
    citation = Citation(
        section_id="a8a96034", quote=value, state=QuoteState.EXACT, path=("A",), start_line=1, end_line=1
    )
    return Cell(
        row=ROW.source,
        column=COLUMN.key,
        text_hash="c",
        model="m",
        state=CellState.FOUND,
        value=value,
        citations=(citation,),
    )


def test_what_was_recorded_is_read_and_the_newest_counts(tmp_path: Path) -> None:
    assert not is_table(tmp_path)
    for value in ("old", "new \udce9"):
        with running(tmp_path) as log:
            log.record(make_cell(value))
    table = read_table(tmp_path)
    assert is_table(tmp_path)
    assert table.list_cells(ROW) == (make_cell("new \udce9"),)
    assert (tmp_path / "results.jsonl").read_bytes().count(b"definition") == 1


def test_a_damaged_line_is_skipped_and_stays_and_a_torn_one_is_cut_off(tmp_path: Path) -> None:
    with running(tmp_path) as log:
        log.record(make_cell("kept"))
    path = tmp_path / "results.jsonl"
    damaged = path.read_bytes() + b'{"cell": {"row": 3}}\n'
    path.write_bytes(damaged + b'{"cel')
    with running(tmp_path) as log:
        log.record(make_cell("after"))
    assert read_table(tmp_path).list_cells(ROW) == (make_cell("after"),)
    assert path.read_bytes().startswith(damaged)
