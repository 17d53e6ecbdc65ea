"""The app in terminals with few colours, or where a person wants none."""

import re
import shutil

import pytest

from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, Terminal, open_terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
__all__ = ["open_terminal"]

_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m|([^\x1b])")
_GREYS = {0, 7, 8, 15, 16, 59, 102, 145, 188, 231, *range(232, 256)}


class Pen:
    """The colours that characters are drawn with, as SGR sequences set them."""

    def __init__(self) -> None:
        self.text: str | None = None
        self.ground: str | None = None

    def obey(self, codes: list[str]) -> None:
        while codes:
            code = codes.pop(0)
            if code in ("38", "48"):
                count = 2 if codes[0] == "5" else 4
                colour, codes = ";".join([code, *codes[:count]]), codes[count:]
                self._set("3" if code == "38" else "4", colour.partition(";")[2])
            elif code in ("", "0"):
                self.text = self.ground = None
            elif code in ("39", "49"):
                self._set(code[0], None)
            elif code[0] in "34" and len(code) == 2:
                self._set(code[0], f"5;{code[1]}")
            elif code[0] in "91" and len(code) >= 2:
                self._set("3" if code[0] == "9" else "4", f"5;{int(code[-1]) + 8}")

    def _set(self, which: str, colour: str | None) -> None:
        if which == "3":
            self.text = colour
        else:
            self.ground = colour


def read_letters(terminal: Terminal) -> list[tuple[str, str | None, str | None]]:
    """Return every letter on the screen with its colour and that of its ground."""
    found = []
    for line in terminal.screen(with_colours=True).splitlines():
        pen = Pen()
        for codes, letter in _SEQUENCE.findall(line):
            if letter:
                found.append((letter, pen.text, pen.ground))
            else:
                pen.obey(codes.split(";"))
    return found


def ask(open_terminal: OpenTerminal, environ: str) -> Terminal:
    terminal = open_terminal(f"env {environ} {PROGRAM} {HANDBOOK}")
    terminal.wait_for(lambda screen: "Ask this document" in screen)
    terminal.type("How long is the grace period?", "Enter")
    terminal.wait_for(lambda screen: "no model has read them" in screen)
    return terminal


@pytest.mark.parametrize("environ", ["NO_COLOR=1", "NO_COLOR=1 FORCE_COLOR=1 COLORTERM=truecolor"])
def test_no_color_leaves_greys(open_terminal: OpenTerminal, environ: str) -> None:
    letters = read_letters(ask(open_terminal, environ))
    colours = {colour for _, *both in letters for colour in both if colour is not None}
    assert colours
    assert {colour for colour in colours if not _is_grey(colour)} == set()


def _is_grey(colour: str) -> bool:
    kind, *parts = colour.split(";")
    return int(parts[0]) in _GREYS if kind == "5" else len(set(parts)) == 1


@pytest.mark.parametrize(
    "environ", ["-u COLORTERM TERM=xterm", "-u COLORTERM TERM=linux", "FORCE_COLOR=1", "FORCE_COLOR=3"]
)
def test_every_letter_differs_from_its_ground(open_terminal: OpenTerminal, environ: str) -> None:
    letters = read_letters(ask(open_terminal, environ))
    assert len({text for _, text, _ in letters}) > 3
    hidden = "".join(letter for letter, text, ground in letters if letter.isalnum() and text == ground is not None)
    assert hidden == ""
