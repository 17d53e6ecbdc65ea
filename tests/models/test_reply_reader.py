"""Thoughts and calls that a model writes as text are told from its answer, however the text is cut into pieces."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.models.base import CallUnreadable, ModelEvent, TextDelta, ThinkingDelta, ToolCallReceived
from roamtui.models.reply_reader import ReplyReader
from tests.case_files import read_rows

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
                    arguments: object = call.arguments
                    with suppress(ValueError):  # a model may send anything as arguments
                        arguments = json.loads(call.arguments)
                    self.calls.append((call.name, arguments))
                case CallUnreadable():
                    self.broken += 1
                case _:
                    raise AssertionError(event)


def read(*pieces: str, names: tuple[str, ...] = NAMES) -> Reading:
    reader = ReplyReader(names)
    reading = Reading()
    for piece in pieces:
        reading.add(reader.feed(piece))
    reading.add(reader.finish())
    return reading


@pytest.mark.parametrize(("reply", "thoughts", "answer"), read_rows("models/reply_reader", "thoughts"))
def test_thoughts_are_no_part_of_the_answer(reply: str, thoughts: str, answer: str) -> None:
    reading = read(reply)
    assert (reading.thoughts.strip(), reading.text.strip()) == (thoughts, answer)


@pytest.mark.parametrize("answer", read_rows("models/reply_reader", "answers"))
def test_an_answer_about_marks_stays_an_answer(answer: str) -> None:
    assert read(answer) == Reading(text=answer)


@pytest.mark.parametrize("reply", read_rows("models/reply_reader", "calls"))
def test_a_call_in_any_form_is_a_call(reply: str) -> None:
    reading = read(reply)
    assert (reading.calls, reading.text.strip(), reading.broken) == ([OPENED], "", 0)


@pytest.mark.parametrize("reply", [f"[{CALL}, {CALL}]", f"{CALL}\n{CALL}", f"<tool_call>{CALL}</tool_call>" * 2])
def test_several_calls_are_several(reply: str) -> None:
    assert read(reply).calls == [OPENED] * 2


def test_a_list_without_a_name_is_the_only_argument() -> None:
    assert read('Next: search_sections(["late fees"])').calls == [("search_sections", {"_raw": ["late fees"]})]


def test_the_name_of_a_tool_in_the_arguments_of_a_call_is_no_call() -> None:
    arguments = {"queries": ["what does expand_sections do", 'collapse_sections {"section_ids": ["d6bd67e2"]}']}
    reply = json.dumps({"name": "search_sections", "arguments": arguments})
    assert read(f"{reply}\n{CALL}").calls == [("search_sections", arguments), OPENED]


def test_a_call_in_thoughts_counts_if_nothing_else_was_said() -> None:
    reader = ReplyReader(NAMES)
    reader.add_thoughts(f"I open it: {CALL}")
    assert [type(event) for event in reader.finish()] == [ToolCallReceived]


@pytest.mark.parametrize("call", [CALL, f'{{\n  "name": "expand_sections",\n  "arguments": {ARGUMENTS}\n}}'])
def test_a_call_on_a_line_of_its_own_after_a_citation_is_a_call(call: str) -> None:
    assert read(f'It costs "2 euros" [e75a6cd0].\n\n{call}').calls == [OPENED]


def test_words_before_a_call_are_kept() -> None:
    reading = read(f"I open it.\n\n```json\n{CALL}\n```")
    assert (reading.text.strip(), reading.calls) == ("I open it.", [OPENED])


@pytest.mark.parametrize("reply", [*read_rows("models/reply_reader", "broken_calls"), "<tool_call>" + "[" * 5_000])
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
        *("<tool_call>", "</tool_call>", "[TOOL_CALLS]", CALL, ARGUMENTS),
        *("expand_sections", "<function=", "</function>"),
        *("<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start|>assistant", " to=expand_sections"),
    ]
)


@pytest.mark.parametrize("cut", [0, 40])
def test_arguments_that_are_no_json_are_passed_on(cut: int) -> None:
    reply = '{"name": "expand_sections", "arguments": "{"}'
    assert read(reply[:cut], reply[cut:]).calls == [("expand_sections", "{")]


@given(st.lists(_PIECES, max_size=14).map("".join), st.data())
def test_the_pieces_of_a_reply_do_not_matter(reply: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    pieces = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert read(*pieces) == read(*reply) == read(reply)


@given(st.text(alphabet="ab \n<>`\"'[]{}:,#*-", max_size=60))
def test_a_text_without_marks_is_an_answer(answer: str) -> None:
    assert read(*answer) == Reading(text=answer)
