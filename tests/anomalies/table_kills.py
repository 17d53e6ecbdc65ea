"""Kills `roamtui table` at random while a provider on loopback answers it, and counts what is lost or asked again."""

import os
import random
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override

from roamtui.table.store import read_table
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, RecordedRequest
from tests.real_documents import PROJECT_DIR

_JOBS = 4
_REQUESTS_MAX = 12
"""Number of requests after which a run is killed at the latest."""


class TableServer(FakeOpenAIServer):
    """Answers every question, and tells when a number of requests have come."""

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


@dataclass(slots=True)
class KillReport:
    """What came of all runs."""

    kills: int = 0
    cells: int = 0
    asked_again: list[tuple[str, str]] = field(default_factory=list)
    """Cells that were asked although they were finished before."""
    lost: int = 0
    """Finished cells that a later run no longer had."""
    cut_off_max: int = 0
    """The most cells that one kill cut off."""


def kill_tables(folder: Path, kills: int, *, seed: int = 0, program: tuple[str, ...] = ("-m", "roamtui")) -> KillReport:
    """Fill a table, killing the program as often as asked, then let it end.

    Args:
        folder: Where documents and table are written.
        kills: How often to kill the program.
        seed: Decides after how many requests it is killed.
        program: The arguments of Python that start it.
    """
    dice, report = random.Random(seed), KillReport()  # noqa: S311 - not a secret
    documents, questions = max(4, kills), 6 if kills < 10 else 10
    leases = folder / "leases"
    leases.mkdir()
    for number in range(documents):
        (leases / f"{number}.md").write_text(f"# Lease number {number}\n\nIt is a lease.\n", "utf-8")
    asked = [word for number in range(questions) for word in ("-q", f"What is {number}?")]
    table = folder / "table"
    environ = {**os.environ, "OPENAI_API_KEY": "sk-test", "HOME": str(folder)}
    finished: set[tuple[str, str]] = set()
    with TableServer() as server:
        options = ("--folder", str(table), "--jobs", str(_JOBS), "--model", "openai/m", "--api-base", server.url)
        command = [sys.executable, *program, "table", str(leases), *asked, *options]
        while True:
            before = len(server.asked)
            server.is_due.clear()
            is_last = report.kills >= kills
            server.awaited = before + (documents * questions + 1 if is_last else dice.randint(1, _REQUESTS_MAX))
            process = subprocess.Popen(
                command, cwd=PROJECT_DIR, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            threading.Thread(target=_set_at_end, args=(process, server.is_due), daemon=True).start()
            server.is_due.wait()
            was_running = process.poll() is None
            process.kill() if was_running else None
            process.wait()
            content = read_table(table)
            titles = {row.source: f"Lease number {row.title.removesuffix('.md')}" for row in content.rows}
            names = {column.key: column.question for column in content.columns}
            now = {(titles[row], names[column]) for row, column in content.cells}
            report.lost += len(finished - now)
            this_run = server.asked[before:]
            report.asked_again += [cell for cell in this_run if cell in finished]
            report.cut_off_max = max(report.cut_off_max, len({*this_run} - now))
            finished = now
            report.cells = len(finished)
            if not was_running:
                assert process.returncode == 0
                return report
            report.kills += 1


def _set_at_end(process: subprocess.Popen[bytes], event: threading.Event) -> None:
    process.wait()
    event.set()
