"""Thoughts and calls that a model writes as text are told from its answer, however the text is cut into pieces."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.models.base import CallUnreadable, ModelEvent, TextDelta, ThinkingDelta, ToolCallReceived
from roamtui.models.reply_reader import ReplyReader

NAMES = ("expand_sections", "search_sections", "collapse_sections")
ARGUMENTS = '{"section_ids": ["d6bd67e2"]}'
CALL = f'{{"name": "expand_sections", "arguments": {ARGUMENTS}}}'
OPENED = ("expand_sections", {"section_ids": ["d6bd67e2"]})


@dataclass(kw_only=True)
class Reading:
    """What a reply turns into."""

    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str, object]] = field(default_factory=list)
    broken: int = 0

    def add(self, events: Iterable[ModelEvent]) -> None:
        for event in events:
            match event:
                case TextDelta(text):
                    self.text += text
                case ThinkingDelta(text, replaces_text):
                    self.thoughts += text
                    self.text = "" if replaces_text else self.text
                case ToolCallReceived(call):
                    self.calls.append((call.name, json.loads(call.arguments)))
                case CallUnreadable():
                    self.broken += 1
                case _:
                    raise AssertionError(event)


def read(*pieces: str, names: tuple[str, ...] = NAMES) -> Reading:
    reader, reading = ReplyReader(names), Reading()
    for piece in pieces:
        reading.add(reader.add(piece))
    reading.add(reader.finish())
    return reading


@pytest.mark.parametrize(
    ("reply", "thoughts", "answer"),
    [
        ("<think>\nHm.\n</think>\n\nSeven.", "Hm.", "Seven."),
        ("<think></think>Seven.", "", "Seven."),
        ("<THINK>Hm.</Think>Seven.", "Hm.", "Seven."),
        ("\n <think>Hm.</think> Seven.", "Hm.", "Seven."),
        ("Hm.\nSo it is.\n</think>\n\nSeven.", "Hm.\nSo it is.", "Seven."),
        ("Hm. So it is.</think>\nSeven.", "Hm. So it is.", "Seven."),
        ("<think>One.</think>\n<think>Two.</think>\nSeven.", "One.Two.", "Seven."),
        ("Seven.\n\n<think>\nOr nine?\n</think>\nIt is seven.", "Or nine?", "Seven.\n\n\nIt is seven."),
        ("<think>Hm, I never end", "Hm, I never end", ""),
        ("<think>The mark `</think>` ends it.</think>Seven.", "The mark `</think>` ends it.", "Seven."),
        ("<thinking>Hm.</thinking>Seven.", "Hm.", "Seven."),
        ("[THINK]Hm.[/THINK]Seven.", "Hm.", "Seven."),
        ("◁think▷Hm.◁/think▷Seven.", "Hm.", "Seven."),
        ("<|START_THINKING|>Hm.<|END_THINKING|>Seven.", "Hm.", "Seven."),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Seven.<|return|>",
            "Hm.",
            "Seven.",
        ),
        ("<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Seven.", "Hm.", "Seven."),
        ("<|channel|>analysis The user asks.", "The user asks.", ""),
        ("<|channel|>final<|message|>Seven.", "", "Seven."),
        ("<|channel>thought\nHm.<channel|>Seven.", "Hm.", "Seven."),
    ],
)
def test_thoughts_are_no_part_of_the_answer(reply: str, thoughts: str, answer: str) -> None:
    reading = read(reply)
    assert (reading.thoughts.strip(), reading.text.strip()) == (thoughts, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The mark `<think>` opens thoughts, and `</think>` ends them.",
        "```\n<think>\nHm.\n</think>\n```\nThat is how it looks.",
        "~~~~\n```\n<think>\n```\n</think>\n~~~~\nSo.",
        "    <think>\n\nThat is code.",
        'It says "<think> a </think>" [e75a6cd0].',
        "- <think> opens\n- </think> ends",
        "| <think> | opens |\n| </think> | ends |",
        "> <think>\n> Hm.\n> </think>",
        "It begins with <think> and ends with\n</think>",
        "<tool_call> is the mark of a call [e75a6cd0].",
        f"A call looks like this [e75a6cd0]:\n\n```json\n{CALL}\n```",
        f"{CALL} is an example.",
        f"```json\n{CALL}\n```\nopens a section.",
        f"```python\nprint({CALL})\n```",
        f"```\n<tool_call>{CALL}</tool_call>\n```",
        '{"name": "Berth", "price": 40}',
        '{"price": 40}',
        "[e75a6cd0] says so.",
        "[{1, 2}, {3}]",
        "Read: the rules say so.",
        "A < B, and [x] < [y]\n\n`code\n</b>",
        "<b>Seven</b>",
        "",
    ],
)
def test_an_answer_about_marks_stays_an_answer(answer: str) -> None:
    assert read(answer) == Reading(text=answer)


@pytest.mark.parametrize(
    "reply",
    [
        CALL,
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<tool_calls>[{CALL}]</tool_calls>",
        f"[TOOL_CALLS] [{CALL}]",
        f"[TOOL_CALLS]expand_sections{ARGUMENTS}",
        f"[TOOL_CALLS]expand_sections[ARGS]{ARGUMENTS}",
        f"<|python_tag|>{CALL}",
        f"<function=expand_sections>{ARGUMENTS}</function>",
        '<tool_call>\n<function=expand_sections>\n<parameter=section_ids>\n["d6bd67e2"]\n</parameter>\n</function>\n</tool_call>',
        f"<|channel|>commentary to=functions.expand_sections <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
        f'{{"type": "function", "function": {{"name": "expand_sections", "arguments": {json.dumps(ARGUMENTS)}}}}}',
        f'{{"tool": "functions.expand_sections", "parameters": {ARGUMENTS}}}',
        f"<think>I open it.</think>\n{CALL}",
        f"<think>I open it.\n<tool_call>\n{CALL}\n</tool_call>",
        "READ: d6bd67e2",
        "Read: [d6bd67e2].",
    ],
)
def test_a_call_in_any_form_is_a_call(reply: str) -> None:
    reading = read(reply)
    assert (reading.calls, reading.text.strip(), reading.broken) == ([OPENED], "", 0)


@pytest.mark.parametrize("reply", [f"[{CALL}, {CALL}]", f"{CALL}\n{CALL}", f"<tool_call>{CALL}</tool_call>" * 2])
def test_several_calls_are_several(reply: str) -> None:
    assert read(reply).calls == [OPENED] * 2


def test_words_before_a_call_are_kept() -> None:
    reading = read(f"I open it.\n\n```json\n{CALL}\n```")
    assert (reading.text.strip(), reading.calls) == ("I open it.", [OPENED])


@pytest.mark.parametrize(
    "reply",
    [
        "<tool_call>",
        '<tool_call>\n{"name": "expand_sec',
        '<tool_call>\n{"name": "open_door", "arguments": {}}\n</tool_call>',
        '{"name": "open_door", "arguments": {"section_ids": []}}',
        '{"name": "expand_sections", "arguments": {"section_ids": ["a',
        '{"name": "expand_sections", "arguments": {"section_ids": [a8a96034]}}',
        '{"name": "expand_sections", "section_ids": ["d6bd67e2"]}',
        "[TOOL_CALLS]open_door{}",
        "<tool_call>" + "[" * 5_000,
    ],
)
def test_a_broken_call_is_no_answer(reply: str) -> None:
    reading = read(reply)
    assert (reading.calls, reading.text, reading.broken) == ([], "", 1)


def test_without_tools_nothing_is_a_call() -> None:
    reply = f"<think>Hm.</think>{CALL}"
    assert read(reply, names=()) == Reading(text=CALL, thoughts="Hm.")


_PIECES = st.sampled_from(
    [
        *("<think>", "</think>", "[/THINK]", "<", "</", "◁", "`", "```", "```json", "~~~", '"', "Hm", "- ", "İ"),
        *("\n", "\n\n", " ", "    ", "[", "]", "{", "}", ",", "[e75a6cd0]", "READ: ", "d6bd67e2", '{"name": '),
        *(
            "<tool_call>",
            "</tool_call>",
            "[TOOL_CALLS]",
            CALL,
            ARGUMENTS,
            "expand_sections",
            "<function=",
            "</function>",
        ),
        *("<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start|>assistant", " to=expand_sections"),
    ]
)


@given(st.lists(_PIECES, max_size=14).map("".join), st.data())
def test_the_pieces_of_a_reply_do_not_matter(reply: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    pieces = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert read(*pieces) == read(*reply) == read(reply)


@given(st.text(alphabet="ab \n<>`\"'[]{}:,#*-", max_size=60))
def test_a_text_without_marks_is_an_answer(answer: str) -> None:
    assert read(*answer) == Reading(text=answer)
