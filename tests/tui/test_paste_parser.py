"""What is pasted is text, whatever it contains and in however many parts it arrives; keys with alt are none."""

import math

import pytest
from textual import events

from roamtui.tui import paste_parser
from roamtui.tui.paste_parser import PasteParser

START, END = "\x1b[200~", "\x1b[201~"
HOSTILE = (
    f"a{END}\r",
    f"a{END}\x11",
    f"a{END}b{START}\r",
    f"a{END}\x1b[13u\x1b[A",
    f"{END}{END}\rb\x1b",
    "a\x1b\x11",
    "a\x1b" + "b" * 40 + "\r",
    f"a{START}\r",
    "a\r\x03",
)


def parse(*parts: str) -> list[events.Key | events.Paste]:
    """Return the keys and pasted texts in some input, which arrives in these parts at once."""
    parser = PasteParser()
    messages = [message for part in parts for message in parser.feed(part)]
    return [message for message in messages if isinstance(message, events.Key | events.Paste)]


def test_alt_with_a_digit_types_nothing() -> None:
    assert [(key.key, key.character) for key in parse("\x1b4") if isinstance(key, events.Key)] == [("alt+4", None)]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_paste_is_a_key(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paste_parser, "_PAUSE_SECONDS", math.inf)  # else a slow machine could pause between two parts
    sent = f"{START}{text}{END}"
    for end in range(len(START), len(sent) + 1):
        parsed = parse(sent[:end], *([sent[end:]] if sent[end:] else []))
        assert all(isinstance(event, events.Paste) for event in parsed)
        assert parsed
    single = parse(START, *text, END)
    assert all(isinstance(event, events.Paste) for event in single)


def test_a_paste_in_many_parts_is_one_text() -> None:
    text = "What is a late fee?\nAnd the rest?"
    for size in (1, 3, 7, 1_000):
        sent = f"{text}{END}"
        (pasted,) = parse(START, *(sent[start : start + size] for start in range(0, len(sent), size)))
        assert isinstance(pasted, events.Paste)
        assert pasted.text == text


def test_keys_before_a_paste_and_after_a_pause_are_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paste_parser, "_PAUSE_SECONDS", -1.0)
    first, pasted, last = parse(f"x{START}a{END}", "\r")
    assert isinstance(first, events.Key)
    assert first.key == "x"
    assert isinstance(pasted, events.Paste)
    assert isinstance(last, events.Key)
    assert last.key == "enter"


def test_the_window_can_get_the_focus_right_after_a_paste() -> None:
    parser = PasteParser()
    messages = list(parser.feed(f"{START}a{END}\x1b[I"))
    assert [type(message) for message in messages] == [events.Paste, events.AppFocus]
