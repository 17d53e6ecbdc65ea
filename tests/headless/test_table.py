"""`roamtui table`: what it prints beside the table."""

from pathlib import Path

import pytest

from roamtui.headless.table import run_table
from tests.fakes.scripted_model import ScriptedModel
from tests.table.filling import PERIOD, define, make_plan, write_leases


def test_a_table_with_a_failed_cell_ends_with_the_reason_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_replies = ["****"] * 20
    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    assert run_table(table, make_plan(ScriptedModel(empty_replies)), tmp_path / "table.json") == 1
    last_line = capsys.readouterr().err.splitlines()[-1]
    note = "The answer contains no value for this cell. To ask again, run the same command."
    assert last_line == f"roamtui: 2 questions failed: {note}"
