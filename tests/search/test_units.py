"""The units of Markdown that quotes come from."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.units import UnitKind, find_units

_PIECES = st.sampled_from(
    [
        *("text", "# Head", "---", "===", "- item", "1. one", "  more", "    deep", "> quote", "> - x", "```", "~~~"),
        *(
            "| a | b |",
            "|---|---|",
            "<!-- c",
            "-->",
            "<div>",
            "[r]: u",
            "![i](u)",
            ":::",
            "",
            "*",
            "\tx",
            "``` `",
            "  ",
        ),
    ]
)


def _list_units(text: str) -> list[tuple[str, str]]:
    return [(unit.kind.value, text[unit.start : unit.end]) for unit in find_units(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\ntwo\n\nthree\n", [("prose", "One\ntwo"), ("prose", "three")]),
        ("# Head ##\ntext", [("heading", "Head"), ("prose", "text")]),
        ("# C#\n", [("heading", "C#")]),
        ("Head\nof two\n---\ntext", [("heading", "Head\nof two"), ("prose", "text")]),
        ("#no head", [("prose", "#no head")]),
        (
            "- one\n- [x] two\n  more\n\n  a paragraph\n1) three",
            [("item", "one"), ("item", "two\n  more"), ("prose", "a paragraph"), ("item", "three")],
        ),
        ("- item\n\ntext\n\n    code", [("item", "item"), ("prose", "text"), ("code", "code")]),
        ("> quoted\n> on\n", [("prose", "quoted\n> on")]),
        ("```py\n# x\ny = 1\n```\nafter", [("code", "# x"), ("code", "y = 1"), ("prose", "after")]),
        ("~~~\n```\na\n~~~\nb", [("code", "a"), ("prose", "b")]),
        ("- ```sh\n  run\n  ```\n", [("code", "run")]),
        ("text\n\n    code\n", [("prose", "text"), ("code", "code")]),
        (
            "- item\n\n  still the item\n\n      code\n",
            [("item", "item"), ("prose", "still the item"), ("code", "code")],
        ),
        (
            "intro\n| a | b |\n|---|:-:|\n| c | d |\n\nend",
            [("prose", "intro"), ("table_head", "| a | b |"), ("row", "| c | d |"), ("prose", "end")],
        ),
        ("| a | b |\n| c | d |\n", [("row", "| a | b |"), ("row", "| c | d |")]),
        ("<div>\n\n<!-- a\nb -->\n<!-- c -->\n[r]: http://x\n![i](u)\n***\n:::note\n{% tabs %}\n", []),
        ("a\r\nb\rc\n\r\nd", [("prose", "a\r\nb\rc"), ("prose", "d")]),
        ("---\ntitle: x\n---\ntext", [("prose", "text")]),
        ("---\r\ntitle: x\r\n---\r\ntext", [("prose", "text")]),
        ("```\nnever closed\n# x", [("code", "never closed"), ("code", "# x")]),
    ],
)
def test_units(text: str, expected: list[tuple[str, str]]) -> None:
    assert _list_units(text) == expected


@given(st.lists(_PIECES, max_size=12).map("\n".join))
def test_units_follow_each_other_and_hold_words(text: str) -> None:
    units = find_units(text)
    assert all(before.end <= after.start for before, after in itertools.pairwise(units))
    assert all(any(map(str.isalnum, text[unit.start : unit.end])) for unit in units)


@given(st.lists(st.sampled_from(["alpha", "beta", "- gamma", "1. delta", "> epsilon", ""]), max_size=12))
def test_no_word_of_plain_paragraphs_and_lists_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    units = find_units(text)
    words = [word for line in lines for word in line.split() if word.isalpha()]
    kept = " ".join(text[unit.start : unit.end] for unit in units)
    assert [word for word in kept.split() if word.isalpha()] == words
    assert {unit.kind for unit in units} <= {UnitKind.PROSE, UnitKind.ITEM}
