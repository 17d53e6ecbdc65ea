"""Fenced blocks of a reply are calls, however a model writes them, and are never shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.transcript import ToolCall
from roamtui.models.tool_fences import FenceReader, write_fence

A, B = "a8a96034", "b9e8ef5c"
OPEN, SEARCH, CLOSE = "expand_sections", "search_sections", "collapse_sections"


def read(reply: str, size: int = 1_000) -> tuple[str, list[tuple[str, dict[str, object]]]]:
    """Return the text of a reply that comes in pieces, and its calls."""
    reader = FenceReader()
    shown = "".join(reader.feed(reply[start : start + size]) for start in range(0, len(reply), size))
    shown += reader.finish()
    return shown, [(wish.tool, dict(wish.arguments)) for wish in reader.wishes]


def opening(*ids: str) -> tuple[str, dict[str, object]]:
    return OPEN, {"section_ids": list(ids)}


def searching(query: str) -> tuple[str, dict[str, object]]:
    return SEARCH, {"query": query}


@pytest.mark.parametrize(
    ("reply", "text", "calls"),
    [
        (f"I look.\n\n```open\n{A} {B}\n```\n", "I look.", [opening(A, B)]),
        (f"```open\n{A}\n```", "", [opening(A)]),
        (f"```open\n{A}\n```\n```close\n{B}\n```", "", [opening(A), (CLOSE, {"section_ids": [B]})]),
        (f"Two.\n```open\n{A}\n```\nand\n```search\nlate fees\n```", "Two.", [opening(A), searching("late fees")]),
        ("```search\nlate fees\n\nswap a shift\n```", "", [searching("late fees"), searching("swap a shift")]),
        (f"```open\n[{A}], [{B}]\n```", "", [opening(A, B)]),
        (f'```open\n["{A}", "{B}"]\n```', "", [opening(A, B)]),
        (f"```open\n- **{A}** Herons\n- {B}: Owls\n```", "", [opening(A, B)]),
        (f"```open\n{A}:2 {B}:c2\n```", "", [opening(f"{A}:2", f"{B}:c2")]),
        (f"```open\n{A} b9e8ef5\n```", "", [opening(A, "b9e8ef5")]),
        ("```open\nthe herons\n```", "", [opening("the", "herons")]),
        ("```open\n```", "", [opening()]),
        ("```open\n\n", "", [opening()]),
        ("```search\n```", "", [searching("")]),
        (f"I look.\n```open\n{A}", "I look.", [opening(A)]),
        (f"```open\n{A}\n```search\nfees\n```", "", [opening(A), searching("fees")]),
        (f"```open {A}, {B}\n```", "", [opening(A, B)]),
        (f"```open {A}```\nDone.", "", [opening(A)]),
        (f"```open\n{A}```", "", [opening(A)]),
        (f"```open\n{A}\n``` and then", "", [opening(A)]),
        (f"````open\n{A}\n````", "", [opening(A)]),
        (f"  ```Open  \n{A}\n  ```", "", [opening(A)]),
        (f"``` open\n{A}\n```", "", [opening(A)]),
        (f"```expand_sections\n{A}\n```", "", [opening(A)]),
        ("```search_sections\nlate fees\n```", "", [searching("late fees")]),
        (f'I look.\n\nexpand_sections(["{A}", "{B}"])', "I look.", [opening(A, B)]),
        (f'`expand_sections(section_ids=["{A}"])`;\nDone.', "", [opening(A)]),
        (f'expand_sections({{"section_ids": ["{A}"]}})', "", [opening(A)]),
        (
            "search_sections(\"late fees\", limit=5)\nsearch_sections(query='a shift')",
            "",
            [searching("late fees"), searching("a shift")],
        ),
        (f"collapse_sections({A})", "", [(CLOSE, {"section_ids": [A]})]),
        (f'Use expand_sections(["{A}"]) here.', f'Use expand_sections(["{A}"]) here.', []),
        ("expand_sections is a tool.\nexpand", "expand_sections is a tool.\nexpand", []),
        (f'```open\n{{"section_ids": ["{A}"]}}\n```', "", [opening(A)]),
        ('```search\n{"query": "fees", "limit": 3}\n```', "", [(SEARCH, {"query": "fees", "limit": 3})]),
        (f"I look.\n```open\n{A}\n```\nResult of open: it is two euros.", "I look.", [opening(A)]),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_a_block_is_a_call(reply: str, text: str, calls: list[tuple[str, dict[str, object]]], size: int) -> None:
    assert read(reply, size) == (text, calls)


@pytest.mark.parametrize(
    "reply",
    [
        "Plain words.",
        "A line.\n\nAnother `code` and ``more``.",
        "```python\nprint(1)\n```\nThat prints.",
        "```\nopen\n```",
        "```openapi\nget: /\n```",
        "```opens\na\n```",
        "In `open` mode, ```open is no block",
        "A ```open\na8a96034\n``` in a line is none.",
        "`open`\n``close``",
        "open\na8a96034",
        "```",
        "```op",
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_anything_else_is_text(reply: str, size: int) -> None:
    assert read(reply, size) == (reply, [])


def test_text_is_let_through_as_it_comes() -> None:
    reader = FenceReader()
    assert [reader.feed(piece) for piece in ("Late ", "returns", "\n", "`x", "` cost", "\n``", "`", "a")] == [
        "Late",
        " returns",
        "",
        "\n`x",
        "` cost",
        "",
        "",
        "\n```a",
    ]


def test_white_space_before_a_block_is_no_text() -> None:
    assert read(f"  \n\n```open\n{A}\n```\n\n") == ("", [opening(A)])


@pytest.mark.parametrize(
    ("name", "arguments", "fence"),
    [
        (OPEN, {"section_ids": [A, B]}, f"```open\n{A} {B}\n```"),
        (SEARCH, {"query": "late fees", "limit": 3}, "```search\nlate fees\n```"),
        (CLOSE, {"section_ids": [A]}, f"```close\n{A}\n```"),
        (OPEN, {"id": A}, f'```open\n{{"id": "{A}"}}\n```'),
        ("other", {"x": 1}, '```other\n{"x": 1}\n```'),
    ],
)
def test_a_call_is_written_as_a_block(name: str, arguments: dict[str, object], fence: str) -> None:
    assert write_fence(ToolCall(id="1", name=name, arguments=json.dumps(arguments))) == fence


@pytest.mark.parametrize("arguments", ["{broken", "[1]", '"a"', "[" * 100_000])
def test_arguments_without_sense_are_written_as_they_are(arguments: str) -> None:
    assert write_fence(ToolCall(id="1", name=OPEN, arguments=arguments)) == f"```open\n{arguments}\n```"


@given(
    st.lists(st.lists(st.from_regex(r"[0-9a-f]{8}", fullmatch=True), min_size=1, max_size=4), max_size=3),
    st.text("ab `\n\t.", max_size=30),
    st.integers(1, 9),
)
def test_what_is_written_is_read_whatever_the_pieces(batches: list[list[str]], text: str, size: int) -> None:
    calls = [ToolCall(id="1", name=OPEN, arguments=json.dumps({"section_ids": ids})) for ids in batches]
    reply = "\n".join([text, *(write_fence(call) for call in calls)])
    shown, wishes = read(reply, size)
    assert wishes == [opening(*ids) for ids in batches]
    assert shown == text.rstrip()


@given(st.text("open`search\n 12af", max_size=60), st.integers(1, 9))
def test_pieces_make_no_difference(reply: str, size: int) -> None:
    assert read(reply, size) == read(reply)
