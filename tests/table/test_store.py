"""The folder of a table: logs that are only appended to, read and merged."""

from __future__ import annotations

from pathlib import Path

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import Row, TableContent, TableDefined, TableStore, is_table, read_table

COLUMNS = (Column(question="Why?"), Column(question="When?"))


def define(count: int) -> TableDefined:
    rows = tuple(Row(key=f"{number}.md", title=f"{number}.md", source=f"/docs/{number}.md") for number in range(count))
    return TableDefined(sources=("/docs",), rows=rows, columns=COLUMNS)


def make_cell(row: str, value: str) -> Cell:
    citation = Citation(
        section_id="a8a96034", quote=value, state=QuoteState.FOUND, path=("A",), start_line=1, end_line=1
    )
    return Cell(
        row=row,
        column=COLUMNS[0].key,
        content="c",
        model="m",
        state=CellState.FOUND,
        value=value,
        citations=(citation,),
    )


def test_what_was_recorded_is_read_and_the_newest_counts(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "t")
    assert not is_table(store.folder)
    with store.start_run():
        content = store.define(define(2), read_table(store.folder))
        store.define(define(2), content)
        first = store.record(make_cell("0.md", "old"))
        second = store.record(make_cell("0.md", "new \udce9"))
    content = read_table(store.folder)
    assert is_table(store.folder)
    assert content.get_cell("0.md", COLUMNS[0].key) == second
    assert content.list_cells(content.rows[0]) == (second, None)
    assert first.at < second.at
    log = (store.folder / "results.jsonl").read_bytes()
    assert log.count(b"table_defined") == 1


def test_a_damaged_line_is_skipped_and_stays_and_a_torn_one_is_cut_off(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "t")
    with store.start_run():
        store.define(define(1), TableContent(folder=store.folder))
        store.record(make_cell("0.md", "kept"))
    path = store.folder / "results.jsonl"
    damaged = path.read_bytes() + b'{"event": "cell_recorded", "cell": {"row": 3}}\n'
    path.write_bytes(damaged + b'{"event": "cell_reco')
    with store.start_run():
        store.record(make_cell("0.md", "after"))
    content = read_table(store.folder)
    cell = content.get_cell("0.md", COLUMNS[0].key)
    assert cell is not None
    assert (cell.value, content.skipped) == ("after", 1)
    assert path.read_bytes().startswith(damaged)


def test_a_folder_with_results_of_another_program_is_not_a_table(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"event": "epoch", "loss": 0.3}\n')
    assert not is_table(tmp_path)
