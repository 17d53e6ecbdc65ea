"""`roamtui table` with sources of other kinds, and what its folder leaves untouched."""

from pathlib import Path

from tests.cli.conftest import RunCommand
from tests.table.filling import PERIOD, write_leases


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


def test_a_table_never_replaces_a_document_that_a_link_leads_to(run: RunCommand, tmp_path: Path) -> None:
    leases = write_leases(tmp_path / "leases")
    before = (leases / "anna.md").read_bytes()
    (tmp_path / "link.md").symlink_to(leases / "anna.md")
    result = run("table", leases, "-q", PERIOD, "-o", tmp_path / "link.md")
    assert result.code == 2
    assert "is one of the sources" in result.err
    assert (leases / "anna.md").read_bytes() == before
