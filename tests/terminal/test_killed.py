"""The app is killed in its terminal: what its screen showed comes back."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from functools import partial

import pytest

from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, Terminal, open_terminal

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]
__all__ = ["open_terminal"]

QUESTIONS = ("How long is the grace period?", "What does a late tool cost?", "Who may join?")


def _has_question(question: str, screen: str) -> bool:
    """Return whether a question stands in the conversation, no longer in its box alone."""
    return f"❯ {question}" in screen.replace(f"│ ❯ {question}", "")


def _kill(terminal: Terminal) -> None:
    """Kill the program, not the shell that may have started it."""
    pid = int(terminal._run("list-panes", "-t", "t", "-F", "#{pane_pid}"))
    os.kill(pid, signal.SIGKILL)
    terminal.wait_for_end()


def test_what_was_on_the_screen_comes_back(open_terminal: OpenTerminal) -> None:
    """Killed once a section is open, once a question stands there, and once it is answered."""
    shown: list[Callable[[str], bool]] = [
        lambda screen: "◆ Grace period" in screen,
        partial(_has_question, QUESTIONS[1]),
        lambda screen: "in the text" in screen.partition(f"❯ {QUESTIONS[2]}")[2],
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
