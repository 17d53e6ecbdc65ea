"""Commands in a real terminal: an answer has styles there, and nothing of a document acts on it."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

pty = pytest.importorskip("pty")
pytestmark = pytest.mark.slow
_QUESTION = "What does a late spade cost?"
_TOOLS = "Tools are lent for three days. A late spade costs 50 cents a day."
_SEQUENCE = re.compile(r"\x1b\[[\d;]+m")


def run_in_terminal(*arguments: str | Path, columns: int = 80, words: str = "", **environ: str) -> str:
    """Run the program with its output in a terminal, `words` as its input, and return what it writes there."""
    import fcntl  # noqa: PLC0415 - only on systems with terminals of this kind
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen(
        [sys.executable, "-m", "roamtui", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=PROJECT_DIR,
        env={**inherited, "TERM": "xterm-256color", **environ},
    ) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(words.encode())
        process.stdin.close()
        written = bytearray()
        try:
            while piece := os.read(ours, 65_536):
                written += piece
        except OSError:  # Linux reports the end like this
            pass
    os.close(ours)
    return written.decode("utf-8").replace("\r\n", "\n")


def test_an_answer_has_styles_in_a_terminal(garden: Path) -> None:
    text = run_in_terminal("ask", garden, _QUESTION)
    assert "\x1b[4;36m“Tools are lent for three days." in text
    assert "\n  1 Garden manual > Tools, line 19\n" in _SEQUENCE.sub("", text)


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_an_answer_has_no_styles_where_nobody_wants_them(garden: Path, environ: dict[str, str]) -> None:
    text = run_in_terminal("ask", garden, _QUESTION, columns=40, **environ)
    assert "\x1b" not in text
    assert "1 Garden manual > Tools, line 19\n" in text
    assert max(map(len, text.splitlines())) <= 40


def test_no_sequence_of_a_document_reaches_the_terminal(garden: Path) -> None:
    title = "\x1b]0;owned\x07Tools\x1b[2J"
    words = "A late spade \x1b[31mcosts\x9b1m &#27;]52;c;aGk=&#7; 50 cents a day."
    garden.write_text(f"# Garden\n\n## {title}\n\n{words}\n", "utf-8")
    text = run_in_terminal("ask", garden, _QUESTION)
    assert "50 cents a day" in text
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", re.sub(r"\x1b\[(?:0|[\d;]*[1-9])m", "", text)) is None
    assert "\x1b[31mcosts" not in text
    assert "\x1b" not in run_in_terminal("ask", garden, _QUESTION, NO_COLOR="1")
