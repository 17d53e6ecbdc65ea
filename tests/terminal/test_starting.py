"""What a person types before the app has started."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import open_guide

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


def test_letters_and_enter_that_are_typed_before_the_app_has_started_ask_a_question(tmp_path: Path) -> None:
    with open_guide(tmp_path, "--model", "offline", XDG_DATA_HOME=str(tmp_path)) as terminal:
        terminal.type(b"How much is the deposit?\r")
        terminal.wait_for(b"7 euros")
    *_, screen = terminal.written.partition(b"\x1b[?1049h")
    assert b"How much is the deposit?" in screen
