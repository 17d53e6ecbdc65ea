"""What must hold of a home in which programs were killed: everything that they showed is there."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState
from tests.anomalies.mortal_programs import MortalPrograms, MortalRun
from tests.real_documents import PROJECT_DIR

HANDBOOK = str(PROJECT_DIR / "examples" / "handbook.md")
QUESTIONS = ("How long is the grace period?", "What does a late tool cost?", "Who may join?", "When is it open?")


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


def kill_at_writes(programs: MortalPrograms, home: Path, *, is_first: bool) -> int:
    """Kill a run in its first write to a log, the next one in its second, and so on; return how many were killed.

    With `is_first`, each run begins a conversation; else most go on with the one before.
    """
    promises = Promises(home)
    if not is_first:
        promises.check(programs.run("ask", HANDBOOK, QUESTIONS[0], "--events", home=home), QUESTIONS[0])
    for number in count(1):
        question = f"{QUESTIONS[number % 4]} ({number})"
        going_on = [] if is_first or number % 7 == 0 else ["--continue"]
        run = programs.run("ask", HANDBOOK, question, "--events", *going_on, home=home, kill_at_write=number)
        promises.check(run, question)
        if not run.was_killed:
            assert run.find("answer"), run.errors
            return number - 1
    raise AssertionError
