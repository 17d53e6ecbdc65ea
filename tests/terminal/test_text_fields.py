"""In a real terminal: digits, `?`, `/` and what alt+1 sends are never a command while a text field has the focus."""

from __future__ import annotations

import shutil

import pytest

from tests.terminal.test_tmux import HANDBOOK, PROGRAM, OpenTerminal, Terminal, open_terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
__all__ = ["open_terminal"]

TYPED = "12 ?/ 3¡ q"
"""Textual takes ESC 1 for what some terminals of macOS mean by it; no other key with alt is typed."""
HIDDEN = "•" * len(TYPED)
_LIST = ("F4", "● now")
_FORM = (("F2", "Other model…"), ("Down", "Other model…"), ("Enter", "API key (this run"))
_NEXT = ("Tab", "API key (this run")
FIELDS = (
    # Keys that lead to the field, each with what is there then; keys that lead back.
    ((), ("C-u",)),
    ((("C-f", "enter to read"),), ("Escape",)),
    ((("F1", "Type to filter"),), ("Escape", "Escape")),
    ((("C-p", "Everywhere"),), ("Escape",)),
    ((("C-o", "Open a document"),), ("Escape", "Escape")),
    ((_LIST, ("/", "Search titles, questions")), ("Escape", "Escape")),
    ((_LIST, ("e", "Rename conversation")), ("Escape", "Escape")),
    ((_LIST, ("w", "Export conversation to")), ("Escape", "Escape")),
    ((("Escape", "▌1 Outline"), ("b", "Add note")), ("Escape", "Escape")),
    (_FORM, ("Escape", "Escape")),
    ((*_FORM, _NEXT), ("Escape", "Escape")),
    ((*_FORM, _NEXT, _NEXT), ("Escape", "Escape")),
)


def _see(terminal: Terminal, sign: str) -> None:
    terminal.wait_for(lambda screen: sign in screen)


def _see_no(terminal: Terminal, sign: str) -> None:
    terminal.wait_for(lambda screen: sign not in screen)


def _type(terminal: Terminal) -> None:
    before, after = TYPED.split("¡")
    terminal.type("-l", before)
    terminal.type("M-1", "M-q")
    terminal.type("-l", after)


@pytest.mark.parametrize("size", [(120, 35), (60, 20)])
def test_what_is_typed_into_a_text_field_stays_there(open_terminal: OpenTerminal, size: tuple[int, int]) -> None:
    terminal = open_terminal(f"{PROGRAM} {HANDBOOK}", *size)
    _see(terminal, "Ask this document")
    terminal.type("-l", "How long is the grace period?")
    terminal.type("Enter")
    terminal.wait_for(lambda screen: "no model has read them" in screen and "ctrl+c stops" not in screen)
    for steps, backs in FIELDS:
        for key, sign in steps:
            terminal.type(key)
            _see(terminal, sign)
        _type(terminal)
        shown = HIDDEN if steps[-2:] == (_NEXT, _NEXT) else TYPED
        _see(terminal, shown)
        for key, left in zip(backs, (shown, *(sign for _, sign in steps)), strict=False):
            terminal.type(key)
            _see_no(terminal, left)
        _see(terminal, "Ask this document")


def test_what_is_typed_where_a_document_is_chosen_stays_there(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal(str(PROGRAM))
    _see(terminal, "Tallow Street")
    _type(terminal)
    terminal.wait_for(lambda screen: TYPED in screen and "No match" in screen)
