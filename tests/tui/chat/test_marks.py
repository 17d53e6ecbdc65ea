"""Citation marks and their numbers."""

from __future__ import annotations

import pytest

from roamtui.tui.chat.marks import Numbering, find_marks


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a [a8a96034] b", [("a8a96034",)]),
        ("[a8a96034, 00000001;00000002]", [("a8a96034", "00000001", "00000002")]),
        ("[a8a96034:2] [a8a96034:c3.1]", [("a8a96034",), ("a8a96034",)]),
        ("[§ a8a96034, a8a96034:2]", [("a8a96034",)]),
        ("[**a8a96034**] [`a8a96034` `00000001`]", [("a8a96034",), ("a8a96034", "00000001")]),
        ("[a8a9603] [A8A96034] [a8a960345] (a8a96034) [a8a96034", []),
        ("[x](a8a96034) [1] []", []),
    ],
)
def test_marks_are_found(text: str, ids: list[tuple[str, ...]]) -> None:
    assert [mark.section_ids for mark in find_marks(text)] == ids


def test_a_mark_knows_where_it_stands() -> None:
    (mark,) = find_marks("ab [a8a96034].")
    assert "ab [a8a96034]."[mark.start : mark.end] == "[a8a96034]"


def test_numbers_follow_first_mention_and_stay() -> None:
    numbering = Numbering()
    assert [numbering.number_of(name) for name in ("b", "a", "b", "c", "a")] == [1, 2, 1, 3, 2]
    assert len(numbering) == 3
