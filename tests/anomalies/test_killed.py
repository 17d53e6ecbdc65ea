"""kill -9 at any moment: what was shown is on disk, no finished cell is lost or asked again, and all goes on."""

import os
import re
import subprocess
import sys
import threading
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.table.store import read_table
from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import HANDBOOK, QUESTIONS, kill_at_writes
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, RecordedRequest
from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_writes(programs, tmp_path, is_first=is_first) > 5


def test_a_file_that_is_exported_over_is_the_earlier_or_the_new_one(programs: MortalPrograms, tmp_path: Path) -> None:
    asked = programs.run("ask", HANDBOOK, QUESTIONS[0], "--events", home=tmp_path)
    export = ("conversations", "export", asked.find("answer")[0]["conversation"], "-o", str(tmp_path / "answer.md"))
    assert programs.run(*export, home=tmp_path).code == 0
    new = (tmp_path / "answer.md").read_bytes()
    for number in count(1):
        (tmp_path / "answer.md").write_bytes(b"An earlier one.")
        run = programs.run(*export, home=tmp_path, kill_at_write=number)
        now = (tmp_path / "answer.md").read_bytes()
        assert now == (b"An earlier one." if run.was_killed else new)
        if not run.was_killed:
            break
    assert number > 3


class TableServer(FakeOpenAIServer):
    """Answers every question, and tells when as many requests have come as a test awaits."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []
        """Title of the document and question of each request."""
        self.awaited = 0
        self.is_due = threading.Event()

    @override
    def take_reply(self, request: RecordedRequest) -> FakeReply:
        text = request.body["messages"][-1]["content"]
        title = re.search(r"Lease number \d+", text)
        assert title is not None
        self.asked.append((title[0], text.rpartition("Question: ")[2]))
        if len(self.asked) >= self.awaited:
            self.is_due.set()
        return FakeReply(text="Not found: nothing about it.")


def _read_finished(table: Path) -> set[tuple[str, str]]:
    """Return title of the document and question of each finished cell."""
    content = read_table(table)
    titles = {row.source: f"Lease number {row.title.removesuffix('.md')}" for row in content.rows}
    names = {column.key: column.question for column in content.columns}
    return {(titles[row], names[column]) for row, column in content.cells}


def test_a_killed_run_loses_only_the_cells_in_flight(tmp_path: Path, forking_program: tuple[str, ...]) -> None:
    leases, table = tmp_path / "leases", tmp_path / "table"
    leases.mkdir()
    for number in range(4):
        (leases / f"{number}.md").write_text(f"# Lease number {number}\n\nIt is a lease.\n", "utf-8")
    questions = [word for number in range(6) for word in ("-q", f"What is {number}?")]
    environ = {**os.environ, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path)}
    finished: set[tuple[str, str]] = set()
    with TableServer() as server:
        options = ("--folder", str(table), "--jobs", "4", "--model", "openai/m", "--api-base", server.url)
        command = [sys.executable, *forking_program, "table", str(leases), *questions, *options]
        for requests in (7, 2, 5, None):  # after so many a run is killed; the last one ends by itself
            before = len(server.asked)
            server.is_due.clear()
            server.awaited = before + (requests or 1)
            with (
                subprocess.Popen(
                    command, cwd=PROJECT_DIR, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                ) as process,
                ExitStack() as end,
            ):
                end.callback(process.kill)
                assert server.is_due.wait(60)
                if requests is None:
                    process.wait()
            assert (process.returncode == 0) is (requests is None)
            now, asked = _read_finished(table), {*server.asked[before:]}
            assert finished <= now, "no finished cell is lost"
            assert not finished & asked, "none is asked again"
            assert len(asked - now) <= 4, "only those in flight are cut off"
            finished = now
    assert len(finished) == 24
