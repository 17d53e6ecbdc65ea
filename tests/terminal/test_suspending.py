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


def test_a_key_suspends_the_app_outside_text_fields_and_undoes_typing_inside(terminal: PseudoTerminal) -> None:
    terminal.written = b""
    terminal.type(b"vv")  # not pasted: what follows a paste at once is text too
    terminal.wait_for(b"v")
    terminal.written = b""
    terminal.type(b"\x1a")
    terminal.wait_for(b"sk this document")
    terminal.type(b"\x1b")
    terminal.wait_for(b"fold")
    terminal.type(b"\x1a")
    wait_until_stopped(terminal)
    bring_back(terminal)
    terminal.type(b"\x11")
    assert terminal.wait_for_end() == 0
