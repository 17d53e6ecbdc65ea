"""The terminal goes away while the app runs, and no signal says so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


@pytest.mark.parametrize("is_answering", [False, True], ids=["idle", "answering"])
def test_the_app_ends_when_its_terminal_is_gone(tmp_path: Path, *, is_answering: bool) -> None:
    sections = "".join(f"## Part {n}\n\nThe deposit of part {n} is {n} euros.\n\n" for n in range(300))
    (tmp_path / "guide.md").write_text(f"# Guide\n\n{sections}")
    terminal = PseudoTerminal(
        [tmp_path / "guide.md", "--model", "offline"],
        tmp_path,
        environ={"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        ignores_hangups=True,
    )
    try:
        terminal.wait_for(b"Ask this document")
        if is_answering:
            terminal.type(b"What is the deposit?\r")
        terminal.disconnect()
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()
