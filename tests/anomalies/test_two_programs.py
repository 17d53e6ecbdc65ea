"""Two programs on one conversation at the same time: nothing of either is lost, and the second is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roamtui.conversation.log import ConversationStore
from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import HANDBOOK, Promises
from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.slow


def _list_questions(path: Path) -> dict[str, list[str]]:
    store = ConversationStore(path)
    return {s.title: [e.question for e in store.load(s.id).exchanges] for s in store.list()}


class _Chat:
    """`roamtui --plain` in a process of its own, written to line by line."""

    def __init__(self, home: Path, *arguments: str) -> None:
        folders = {"HOME": str(home), "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "roamtui", HANDBOOK, "--plain", *arguments],
            env=os.environ | folders,
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: str) -> None:
        """Ask, and read until the answer has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        has_answer = False
        for line in self._process.stdout:
            if has_answer and not line.strip():
                return
            has_answer = has_answer or line.startswith(f"Ask: {question}")
        pytest.fail(f"It ended: {self._process.communicate()[1]}")

    def leave(self) -> str:
        """End it, and return what it warned of."""
        return self._process.communicate()[1]


def test_the_second_continues_in_a_copy_and_says_so(programs: MortalPrograms, tmp_path: Path) -> None:
    promises = Promises(tmp_path)
    chat = _Chat(tmp_path)
    title = "How long is the grace period?"
    chat.ask(title)
    run = programs.run("ask", HANDBOOK, "Who may borrow?", "--continue", "--events", home=tmp_path)
    assert run.code == 0, run.errors
    assert [event["message"] for event in run.find("warning_raised")] == [
        "You continue in a copy of this conversation: another program uses it."
    ]
    promises.check(run, "Who may borrow?")
    chat.ask("What does it cost?")
    assert _list_questions(promises.path) == {
        title: [title, "What does it cost?"],
        f"{title} (copy)": [title, "Who may borrow?"],
    }
    assert "Another program" not in chat.leave()
