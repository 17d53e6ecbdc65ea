"""What terminals send that is no plain text: a paste with control characters, and bytes that are not UTF-8."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import open_guide

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


def test_a_paste_neither_asks_a_question_nor_quits(tmp_path: Path, home_dir: Path) -> None:
    with open_guide(tmp_path) as terminal:
        terminal.wait_for(b"sk a question")
        terminal.type(b"\x1b[200~deposit\x1b[201~\r\x11\nafter\x1b\x11wards\x1b[201~")
        terminal.wait_for(b"afterwards")
        terminal.type(b"\x1b[200~, and more\x1b[201~")
        terminal.wait_for(b", and more")
        assert terminal.process.poll() is None
    assert not list(home_dir.rglob("*.jsonl"))


def test_bytes_that_are_not_utf_8_do_not_end_the_app(tmp_path: Path) -> None:
    with open_guide(tmp_path) as terminal:
        terminal.wait_for(b"sk a question")
        for number, data in enumerate((b"caf\xe9 ", b"\xff", b"\x1b[200~caf\xe9 latin1\x1b[201~")):
            terminal.type(data + b" and more%d" % number)
            terminal.wait_for(b"and more%d" % number)
        assert terminal.process.poll() is None
