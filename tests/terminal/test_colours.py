"""The app in terminals with few colours, or where a person wants none."""

import shutil

import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, open_terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
__all__ = ["open_terminal"]


def read_letters(open_terminal: OpenTerminal, environ: str) -> list[tuple[str, Style]]:
    """Ask a question, and return every letter on the screen with its style."""
    terminal = open_terminal(f"env {environ} {PROGRAM} {HANDBOOK}")
    terminal.wait_for(lambda screen: "Ask this document" in screen)
    terminal.type("How long is the grace period?", "Enter")
    terminal.wait_for(lambda screen: "no model has read them" in screen)
    console, text = Console(), Text.from_ansi(terminal.screen(with_colours=True))
    return [(letter, text.get_style_at_offset(console, offset)) for offset, letter in enumerate(text.plain)]


def test_no_color_leaves_greys(open_terminal: OpenTerminal) -> None:
    styles = {style for _, style in read_letters(open_terminal, "NO_COLOR=1 FORCE_COLOR=1 COLORTERM=truecolor")}
    colours = {colour.get_truecolor() for style in styles for colour in (style.color, style.bgcolor) if colour}
    assert colours
    assert [colour for colour in colours if len({*colour}) > 1] == []


@pytest.mark.parametrize("environ", ["-u COLORTERM TERM=linux", "FORCE_COLOR=3"])
def test_every_letter_differs_from_its_ground(open_terminal: OpenTerminal, environ: str) -> None:
    letters = read_letters(open_terminal, environ)
    assert len({style.color for _, style in letters}) > 3
    hidden = [letter for letter, style in letters if letter.isalnum() and style.color == style.bgcolor is not None]
    assert hidden == []
