"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_writes
from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, Terminal, open_terminal

pytestmark = pytest.mark.slow
__all__ = ["open_terminal"]

QUESTIONS = ("How long is the grace period?", "What does a late tool cost?", "Who may join?")


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_writes(programs, tmp_path, is_first=is_first) > 12


def _has_question(question: str, screen: str) -> bool:
    """Return whether a question stands in the conversation, no longer in its box alone."""
    return f"❯ {question}" in screen.replace(f"│ ❯ {question}", "")


def _kill(terminal: Terminal) -> None:
    """Kill the program, not the shell that may have started it."""
    pid = int(terminal._run("list-panes", "-t", "t", "-F", "#{pane_pid}"))
    os.kill(pid, signal.SIGKILL)
    terminal.wait_for_end()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_killed_while_the_app_shows_it(open_terminal: OpenTerminal) -> None:
    """Killed once a section is open, once a question stands there, and once it is answered."""
    shown: list[Callable[[str], bool]] = [
        lambda screen: "◆ Grace period" in screen,
        partial(_has_question, QUESTIONS[1]),
        lambda screen: "no model has read them" in screen.partition(f"❯ {QUESTIONS[2]}")[2],
    ]
    going_on = ""
    for number, is_shown in enumerate(shown):
        terminal = open_terminal(f"{PROGRAM} {HANDBOOK} {going_on}", height=110)
        for question in QUESTIONS[:number]:
            terminal.wait_for(partial(_has_question, question))
        if number:
            terminal.wait_for(shown[0])
        terminal.wait_for(lambda screen: "Ask this document" in screen)
        terminal.type(QUESTIONS[number], "Enter")
        terminal.wait_for(is_shown)
        _kill(terminal)
        going_on = "--continue"
    last = open_terminal(f"{PROGRAM} {HANDBOOK} --continue", height=110)
    last.wait_for(shown[2])
