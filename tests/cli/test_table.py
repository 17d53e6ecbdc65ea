"""`roamtui table` with sources of other kinds, and what its folder leaves untouched."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.table.filling import PERIOD, write_leases


def test_a_table_goes_on_without_a_source_that_is_gone(run: RunCommand, tmp_path: Path) -> None:
    leases = write_leases(tmp_path / "leases")
    sources = (leases / "anna.md", leases / "bert.md")
    first = run("table", *sources, "-q", PERIOD).json
    (leases / "anna.md").unlink()
    again = run("table", first["table"])
    assert again.code == 1
    assert again.json["rows"] == first["rows"]
    assert "could not be read. Earlier answers stay" in again.err


def test_documents_without_text_are_failed_rows_that_say_why(run: RunCommand, tmp_path: Path) -> None:
    leases, output = write_leases(tmp_path / "leases"), tmp_path / "t.csv"
    (leases / "cut.pdf").write_bytes(b"%PDF-1.7\n")
    (leases / "empty.md").touch()
    result = run("table", leases, "-q", PERIOD, "-o", output)
    assert result.code == 1
    problems = ["cut.pdf is a damaged PDF. Open it in its own program and save it again.", "The document has no text."]
    assert f"2 documents could not be read. Earlier answers stay. {problems[0]} empty.md: {problems[1]}" in result.err
    rows = [*csv.reader(output.read_text("utf-8").splitlines())]
    assert [row[2:] for row in rows[3:]] == [["failed", "", "", problem] for problem in problems]
    assert run("table", leases, "-q", PERIOD, "-o", tmp_path / "t.md").code == 1
    assert f"✗ **{PERIOD}**: *{problems[1]}*" in (tmp_path / "t.md").read_text("utf-8")


def test_the_conversation_of_a_cell_goes_on_by_its_log(run: RunCommand, tmp_path: Path) -> None:
    source = write_leases(tmp_path / "leases") / "anna.md"
    table = run("table", source, "-q", PERIOD).json
    (cell,) = table["rows"][0]["cells"]
    log = Path(table["table"]) / "conversations" / f"{cell['conversation']}.jsonl"
    answer = run("ask", source, "Are pets allowed?", "--conversation", log, "--json")
    assert answer.json["conversation"] == cell["conversation"]
    assert log.read_text("utf-8").count('"question_asked"') == 2
    assert "fills one cell" in log.read_text("utf-8").partition("Are pets allowed?")[0]
    assert run("conversations").out == "No conversations yet.\n"


@pytest.mark.parametrize("name", ["leases/anna.md", "link.md"])
def test_a_table_never_replaces_a_document_that_it_is_about(run: RunCommand, tmp_path: Path, name: str) -> None:
    leases = write_leases(tmp_path / "leases")
    before = (leases / "anna.md").read_bytes()
    (tmp_path / "link.md").symlink_to(leases / "anna.md")
    result = run("table", leases, "-q", PERIOD, "-o", tmp_path / name)
    assert result.code == 2
    assert "is one of the sources" in result.err
    assert (leases / "anna.md").read_bytes() == before
