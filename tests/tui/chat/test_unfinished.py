"""Answers that are still coming."""

from __future__ import annotations

import pytest

from roamtui.tui.chat.answer_view import AnswerView
from roamtui.tui.chat.unfinished import complete_marks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a **bold", "a **bold**"),
        ("a **bold ", "a **bold**"),
        ("a **", "a "),
        ("a **bold*", "a **bold**"),
        ("a **bold**", "a **bold**"),
        ("**one** and **two", "**one** and **two**"),
        ("**open\n\nnext", "**open\n\nnext"),
        ("a `code", "a `code`"),
        ("a `", "a "),
        ('so "it is" [9b2e', 'so "it is"'),
        ('so "it is" [9b2edcbe', 'so "it is"'),
        ('so "it is" [9b2edcbe]', 'so "it is" [9b2edcbe]'),
        ("[a link", "[a link"),
        ("```\na ** b", "```\na ** b"),
        ("```\nx\n```\n**b", "```\nx\n```\n**b**"),
    ],
)
def test_open_marks_are_closed(text: str, shown: str) -> None:
    assert complete_marks(text) == shown


def test_only_an_answer_that_is_still_coming_is_completed() -> None:
    view = AnswerView()
    view.finish("a **b", ())
    assert view.lay_out(40).plain == "a **b"
