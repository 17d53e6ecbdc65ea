"""`roamtui table`: what it prints beside the table."""

import re
import signal
from pathlib import Path

import pytest

from roamtui.conversation.citations import CHANGED_LABEL
from roamtui.errors import ModelError, RoamtuiError
from roamtui.headless.table import run_table
from roamtui.models.base import ModelRequest
from roamtui.models.registry import NoModel
from roamtui.table.store import read_table
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.table.filling import LEASES, PERIOD, PETS, answering_model, define, make_plan, write_leases


def test_a_table_with_a_failed_cell_ends_with_the_reason_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [ScriptedReply(error=ModelError("The model has gone."))] * 20
    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    assert run_table(table, make_plan(ScriptedModel(failures)), tmp_path / "table.json") == 1
    first_line, *_, last_line = capsys.readouterr().err.splitlines()
    assert first_line == "Asking scripted: 2 cells · ~2k tokens"
    note = "The model has gone. To continue, run the same command again."
    assert last_line == f"roamtui: 2 questions failed. {table.rows[-1].title}: {note}"


def test_a_quote_that_a_document_no_longer_has_is_not_written_as_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leases = write_leases(tmp_path / "leases")
    table = define(tmp_path / "table", leases, PERIOD)
    run_table(table, make_plan(answering_model()), tmp_path / "then.csv")
    (leases / "anna.md").write_text(LEASES["anna.md"].replace("60 days", "45 days"), "utf-8")
    run_table(read_table(table.folder), make_plan(NoModel()), tmp_path / "now.csv")
    then, now = ((tmp_path / name).read_text("utf-8").splitlines()[1] for name in ("then.csv", "now.csv"))
    assert "60 days,found," in then
    assert "60 days,not proven," in now
    assert CHANGED_LABEL in now
    assert "2 of 2 cells: 1 found, 1 not proven" in capsys.readouterr().err


def test_a_table_with_answers_of_several_models_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    run_table(table, make_plan(answering_model(name="openai/old")), tmp_path / "table.md")
    assert "Cells by model" not in capsys.readouterr().err
    both = define(table.folder, tmp_path / "leases", PERIOD, PETS)
    run_table(both, make_plan(NoModel()), tmp_path / "table.md")
    assert "Cells by model: openai/old 2, offline 2. To have one model fill all" in capsys.readouterr().err


def test_where_the_table_is_is_told_although_its_file_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()

    def remove_folder(_request: ModelRequest) -> ScriptedReply:
        (tmp_path / "out").rmdir()
        return ScriptedReply(text="Not found: no.")

    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    model = ScriptedModel([remove_folder, *[ScriptedReply(text="Not found: no.")] * 9])
    with pytest.raises(RoamtuiError, match="Could not write"):
        run_table(table, make_plan(model), tmp_path / "out" / "table.md")
    assert f"Its cells are kept in {tmp_path / 'table'}" in capsys.readouterr().err


def test_where_the_table_is_is_told_when_a_person_stops_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(_request: ModelRequest) -> ScriptedReply:
        signal.raise_signal(signal.SIGINT)
        return ScriptedReply(text="Not found: no.")

    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    with pytest.raises(KeyboardInterrupt):
        run_table(table, make_plan(ScriptedModel([stop] * 9)), None)
    assert f"The cells that are filled are kept in {tmp_path / 'table'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing/deeper/x.csv", "There is no folder {}/missing."),
        ("leases/anna.md", "would be overwritten"),
        ("leases/anna.md/x.csv", "Not a directory"),
        ("folder.csv", "Is a directory"),
    ],
)
def test_nothing_is_asked_if_the_table_cannot_be_written(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    table = define(tmp_path / "table", write_leases(tmp_path / "leases"), PERIOD)
    model = ScriptedModel()
    with pytest.raises(RoamtuiError, match=problem.format(re.escape(str(tmp_path)))):
        run_table(table, make_plan(model), tmp_path / name)
    assert model.requests == []
    assert not (tmp_path / "missing").exists()
