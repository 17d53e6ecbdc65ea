"""The app is put into the background, and comes back as it was."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import PseudoTerminal, open_guide

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[PseudoTerminal]:
    with open_guide(tmp_path) as opened:
        opened.wait_for(b"sk this document")
        yield opened


def wait_until_stopped(terminal: PseudoTerminal) -> None:
    """Wait until the program is stopped, and check that it left the terminal to the shell."""
    terminal.wait_for(b"\x1b[?1049l")
    _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


def bring_back(terminal: PseudoTerminal) -> None:
    """Do what `fg` does, and wait until the screen is drawn again."""
    terminal.written = b""
    terminal.process.send_signal(signal.SIGCONT)
    terminal.wait_for(b"\x1b[?1049h")
    for words in (b"roamtui", b"sk this document", b"Part"):
        terminal.wait_for(words)


def test_after_a_stop_the_screen_is_drawn_again(terminal: PseudoTerminal) -> None:
    terminal.process.send_signal(signal.SIGTSTP)
    wait_until_stopped(terminal)
    bring_back(terminal)
