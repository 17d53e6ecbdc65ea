"""A first ten minutes in a real terminal: each step says on the screen what came of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, Terminal, open_terminal

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]
__all__ = ["open_terminal"]

FEES = HANDBOOK.parent / "pages" / "fees.md"


QUESTION = "Can I drop the folding bike off in the night locker on my way home?"
WARNING = "Petrol machines, loose batteries and anything with wheels may never be left in the locker."
FOLLOW_UP = "How long is the grace period for a late bicycle?"


def _join(screen: str) -> str:
    """Return what the panes beside the outline say, on one line without frames."""
    return " ".join(
        re.sub(r"[│▕▇▅▄▃▂▁▆]", " ", "\n".join(re.split("▕", line)[-1] for line in screen.split("\n"))).split()
    )


def _press(terminal: Terminal, key: str, *words: str) -> str:
    """Press a key and return the screen once it says all the words."""
    terminal.type(key)
    return _see(terminal, *words)


def _see(terminal: Terminal, *words: str) -> str:
    return terminal.wait_for(lambda screen: all(word in _join(screen) or word in screen for word in words))


def _close(terminal: Terminal, title: str) -> str:
    """Close what stands above the screen, by its title."""
    terminal.type("Escape")
    return terminal.wait_for(lambda screen: title not in screen)


def _ask(terminal: Terminal, question: str, *words: str) -> str:
    terminal.type("-l", question)
    _see(terminal, f"❯ {question}"[:40])
    terminal.type("Enter")
    said = (*words, "no model has read them")
    return terminal.wait_for(
        lambda screen: "ctrl+c stops" not in screen and all(word in _join(screen) for word in said)
    )


def _start(open_terminal: OpenTerminal, arguments: str, width: int, height: int) -> Terminal:
    terminal = open_terminal(f"{PROGRAM} {arguments}", width=width, height=height)
    _see(terminal, "Ask this document")
    return terminal


def _quit(terminal: Terminal) -> None:
    terminal.type("C-q")
    terminal.wait_for_end()


def test_a_question_its_sections_and_its_sentence(open_terminal: OpenTerminal) -> None:
    terminal = _start(open_terminal, str(HANDBOOK), 120, 35)
    screen = _see(terminal, "enter ask your question", "esc browse the outline", "f1 show all keys", "f2 model")
    assert "▸ About the library" in screen
    assert "offline No open sections" in " ".join(screen.split())
    screen = _ask(terminal, QUESTION, "About the library › Returns locker", WARNING)
    assert "▾ ◆ Returns locker ❝" in screen  # what the model opened stands open, and what it cites is marked
    assert re.search(r"◆ \d open", screen)

    _press(terminal, "Escape", "space fold")
    _press(terminal, "Tab", "enter show", "r ask again", "y copy answer")
    terminal.type("j")
    screen = _press(terminal, "Enter", "▌3 Reader", "About the library › Returns locker", WARNING)
    assert "Returns locker ❝¶" in screen
    terminal.type("3")
    _press(terminal, "NPage", "About the library › Item classes", "Item classes ¶")  # on past the section's end
    _press(terminal, "]", "▌3 Reader Membership", "▸ Membership ¶")
    _press(terminal, "]", "Membership › Tiers and prices", "Tiers and prices ¶")
    _press(terminal, "[", "▌3 Reader Membership", "▾ Membership ¶")

    terminal.type("2", "Tab")
    screen = _ask(terminal, FOLLOW_UP, "Late fees › Grace period", "4 passages")
    assert "◆ Grace period" in screen
    assert "◆ Returns locker" in screen  # what the first question opened stays open
    _press(terminal, "C-f", "pgup pgdn to scroll the preview")
    terminal.type("chainsaw")
    _see(terminal, "Titles · ", "matches", "Chainsaws Safety › Petrol plant rules")
    _close(terminal, "pgup pgdn to scroll the preview")
    _press(terminal, "F2", "● offline", "Missing a key", "OPENAI_API_KEY is not set", "Other model…")
    _close(terminal, "● offline")

    _press(terminal, "C-o", "Open a document", "Files in this")
    terminal.type("-l", str(FEES))
    _press(terminal, "Enter", "The Tallow Street Tool Library Handbook Fees and deposits", "5 sections")
    _press(terminal, "C-t", "129 sections", "Grace period")
    _quit(terminal)


def test_what_was_asked_is_resumed(open_terminal: OpenTerminal) -> None:
    terminal = _start(open_terminal, str(HANDBOOK), 120, 35)
    _ask(terminal, QUESTION)
    _quit(terminal)
    again = _start(open_terminal, str(HANDBOOK), 120, 35)
    _see(again, "f4 lists them", "No open sections")
    _press(again, "F4", "Conversations · this document · 1", f"{QUESTION}", "1 question", "offline")
    screen = _press(again, "Enter", WARNING, "◆ Returns locker ❝")
    assert "No open sections" not in screen
    _quit(again)
    going_on = _start(open_terminal, f"{HANDBOOK} --continue", 120, 35)
    _see(going_on, WARNING, "◆ Returns locker ❝")
    _quit(going_on)


def test_the_same_in_a_small_window(open_terminal: OpenTerminal) -> None:
    terminal = _start(open_terminal, str(HANDBOOK), 60, 20)
    terminal.type("-l", QUESTION)
    _press(terminal, "Enter", "Returns locker")
    _press(terminal, "Escape", "▌1 Outline", "◆ Returns locker ❝")
    _press(terminal, "Tab", "▌2 Conversation")
    terminal.type("j")
    _press(terminal, "Enter", "▌3 Reader", "Returns locker · ")
    _press(terminal, "]", "Item classes")
    _press(terminal, "F2", "● offline", "enter to test and use, esc to cancel")
    _close(terminal, "● offline")
    _press(terminal, "C-o", "Open a document", "esc close")
    terminal.type("-l", str(FEES))
    _press(terminal, "Enter", "Fees and deposits", "enter ask your question")
    _press(terminal, "C-t", "▌3 Reader")
    _press(terminal, "F4", "Conversations · this document · 1", "● now")
    _close(terminal, "Conversations ·")
    _quit(terminal)


def test_a_link_opens_another_file_and_a_key_comes_back(open_terminal: OpenTerminal, tmp_path: Path) -> None:
    (tmp_path / "start.md").write_text("# Start\n\nSee [the fees](fees.md#late).\n", "utf-8")
    (tmp_path / "fees.md").write_text("# Fees\n\nNone.\n\n## Late\n\nTwo euros.\n", "utf-8")
    terminal = _start(open_terminal, f"{tmp_path / 'start.md'} --model offline", 120, 35)
    _close(terminal, "enter send")
    _press(terminal, "3", "o links")
    _press(terminal, "o", "1he fees")
    _press(terminal, "1", "Two euros.")
    _press(terminal, "BSpace", "See the fees.")
    _quit(terminal)
