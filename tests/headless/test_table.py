"""`roamtui table`: what it prints beside the table."""

from pathlib import Path

import pytest

from roamtui.errors import ModelError
from roamtui.headless.table import run_table
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.table.filling import PERIOD, define, make_plan, write_leases


def test_a_table_with_a_failed_cell_ends_with_the_reason_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [ScriptedReply(error=ModelError("The model has gone."))] * 20
    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    assert run_table(table, make_plan(ScriptedModel(failures)), tmp_path / "table.json") == 1
    first_line, *_, last_line = capsys.readouterr().err.splitlines()
    assert first_line == "Asking scripted: 2 cells · ~18k tokens"
    note = "The model has gone. To ask again, run the same command."
    assert last_line == f"roamtui: 2 questions failed: {note}"
