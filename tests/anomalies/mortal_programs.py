"""Runs the real program in processes that are killed, and checks that all that they showed is on the disk.

The processes are forks of one that has imported the program (`forking.py`): a fork costs a tenth of a start.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState
from tests.real_documents import PROJECT_DIR

HANDBOOK = str(PROJECT_DIR / "examples" / "handbook.md")
QUESTIONS = ("How long is the grace period?", "What does a late tool cost?", "Who may join?", "When is it open?")


@dataclass(frozen=True, kw_only=True)
class MortalRun:
    """What a run showed until it ended."""

    was_killed: bool
    code: int
    events: tuple[Mapping[str, Any], ...]
    """Whole lines of `ask --events`; a line that was cut off was not shown."""
    errors: str

    def find(self, name: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["event"] == name]


class MortalPrograms:
    """Starts runs of `roamtui` in homes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.anomalies.forking"],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, home: Path, **given: object) -> MortalRun:
        """Run the program in a home until it ends or is killed; `given` may have `kill_at_write` and `umask`."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._count += 1
        out = self._folder / f"{self._count}"
        job = {"arguments": arguments, "home": str(home), "out": str(out), **given}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        return _read(out, int(self._server.stdout.readline()))

    def close(self) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(60)
        self._server.stdout.close()


def _read(out: Path, status: int) -> MortalRun:
    lines = out.read_text("utf-8", "replace").split("\n")[:-1]
    return MortalRun(
        was_killed=os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
        code=os.waitstatus_to_exitcode(status),
        events=tuple(json.loads(line) for line in lines if line.startswith("{")),
        errors=out.with_suffix(".err").read_text("utf-8"),
    )


class Promises:
    """Remembers what runs showed of one source, and checks that the disk has it."""

    def __init__(self, home: Path) -> None:
        self.path = home / "data" / "roamtui" / "conversations"
        self._answers: dict[tuple[str, str], Mapping[str, Any]] = {}
        """The `answer` event of each question that was answered."""
        self._open: dict[str, set[str]] = {}
        """What is open in each conversation."""

    def check(self, run: MortalRun, question: str) -> None:
        """Check that all that runs have shown until now is in the logs."""
        if not self.path.exists():
            assert run.events == ()
            return
        self._check_run(run, question)
        for answer in run.find("answer"):
            self._answers[answer["conversation"], question] = answer
        saved = {conversation.id: conversation for conversation in self._load_all()}
        for (conversation_id, asked), answer in self._answers.items():
            exchange = next(e for e in saved[conversation_id].exchanges if e.question == asked)
            assert exchange.answer == answer["answer"]
            assert exchange.stopped is StopReason(answer["stopped"])

    def _load_all(self) -> list[ConversationState]:
        """Return all conversations, the one that was changed last first."""
        store = ConversationStore(self.path)
        return [store.load(summary.id) for summary in store.list()]

    def _check_run(self, run: MortalRun, question: str) -> None:
        newest = next(iter(self._load_all()), None)
        if newest is None:
            assert run.events == ()
            return
        if run.find("question_asked"):
            assert newest.exchanges[-1].question == question
        if run.events:
            assert {*newest.open_sections} >= self._open.get(newest.id, set()) | _find_open(run)
        self._open[newest.id] = {*newest.open_sections}


def _find_open(run: MortalRun) -> set[str]:
    """Return the sections that a run opened, as far as it showed; the offline model closes none of a small document."""
    assert not run.find("sections_closed")
    expansions = [result for event in run.find("sections_expanded") for result in event["results"]]
    return {result["section_id"] for result in expansions if result["status"] == "opened"}
