"""A paste in a terminal that leaves control characters in it."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import open_guide

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


def test_a_paste_neither_asks_a_question_nor_quits(tmp_path: Path, home_dir: Path) -> None:
    with open_guide(tmp_path) as terminal:
        terminal.wait_for(b"sk this document")
        terminal.type(b"\x1b[200~deposit\x1b[201~\r\x11\nafter\x1b\x11wards\x1b[201~")
        terminal.wait_for(b"afterwards")
        terminal.type(b"\x1b[200~, and more\x1b[201~")
        terminal.wait_for(b", and more")
        assert terminal.process.poll() is None
    assert not list(home_dir.rglob("*.jsonl"))
