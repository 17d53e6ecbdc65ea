"""kill -9 at any moment, and two programs at once: what was shown is on disk, nothing is lost or asked again."""

import asyncio
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

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.table.store import read_table
from tests.anomalies.mortal_programs import HANDBOOK, QUESTIONS, MortalPrograms, Promises
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, RecordedRequest
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    """A run is killed in its first write to a log, the next one in its second, and so on.

    If `is_first`, each run begins a conversation; else most go on with the one before.
    """
    promises = Promises(tmp_path)
    if not is_first:
        promises.check(programs.run("ask", HANDBOOK, QUESTIONS[0], "--events", home=tmp_path), QUESTIONS[0])
    for number in count(1):
        question = f"{QUESTIONS[number % 4]} ({number})"
        going_on = [] if is_first or number % 7 == 0 else ["--continue"]
        run = programs.run("ask", HANDBOOK, question, "--events", *going_on, home=tmp_path, kill_at_write=number)
        promises.check(run, question)
        if not run.was_killed:
            assert run.find("answer"), run.errors
            break
    assert number > 6


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
        for requests in (7, 5, None):  # after so many a run is killed; the last one ends by itself
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
            now = _read_finished(table)
            asked = {*server.asked[before:]}
            assert finished <= now, "no finished cell is lost"
            assert not finished & asked, "none is asked again"
            assert len(asked - now) <= 4, "only those in flight are cut off"
            finished = now
    assert len(finished) == 24


def test_the_second_continues_in_a_copy_and_says_so(programs: MortalPrograms, tmp_path: Path) -> None:
    promises = Promises(tmp_path)
    library = open_library((HANDBOOK,))
    first = Conversation(library, store=ConversationStore(promises.path))
    agent = Agent(first, ScriptedModel([ScriptedReply(text="Not found: no.")] * 2))
    title = "How long is the grace period?"
    asyncio.run(agent.ask(title))
    options = ("--continue", "--events", "--model", "offline")
    run = programs.run("ask", HANDBOOK, "Who may borrow?", *options, home=tmp_path)
    assert run.code == 0, run.errors
    assert [event["message"] for event in run.find("warning_raised")] == [
        "This conversation cannot be changed (another window or program is using it), so you are now in a copy of it.",
        "This conversation continues with another model or server. So far: scripted at its provider. Next: offline.",
    ]
    promises.check(run, "Who may borrow?")
    asyncio.run(agent.ask("What does it cost?"))
    first.close()
    assert first.save_failure == ""
    store = ConversationStore(promises.path)
    questions = {s.title: [e.question for e in store.load(s.id).exchanges] for s in store.list()}
    assert questions == {title: [title, "What does it cost?"], f"{title} (copy)": [title, "Who may borrow?"]}
