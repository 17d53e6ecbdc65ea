"""A job as litellm's arguments, and the pieces of a reply as whole calls and thoughts."""

from __future__ import annotations

import json

import pytest

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.base import Request
from roamtui.models.options import ModelOptions
from roamtui.models.worker.completion import CallAssembler, ThinkingAssembler, build_arguments
from roamtui.models.worker.jobs import Job
from roamtui.models.worker.targets import Target
from tests.models.asking import EXPAND, answer_calls, make_request

OPENAI = Target(model="openai/x", provider="openai")
ANTHROPIC = Target(model="anthropic/x", provider="anthropic")
Piece = tuple[int, str | None, str | None, str | None]


def build(target: Target, request: Request | None = None, output_tokens: int | None = None) -> dict[str, object]:
    options = ModelOptions(output_tokens=output_tokens)
    job = Job(model=target.model, api_base=None, options=options, request=request or make_request())
    return build_arguments(job, target)


def test_the_whole_of_a_first_request() -> None:
    function = {"name": EXPAND.name, "description": EXPAND.description, "parameters": EXPAND.parameters}
    assert build(OPENAI) == {
        "model": "openai/x",
        "messages": [
            {"role": "system", "content": "You roam."},
            {"role": "user", "content": "What is a model?"},
        ],
        "tools": [{"type": "function", "function": function}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_retries": 0,
        "num_retries": 0,
    }


def test_without_tools_there_is_no_choice_of_tools() -> None:
    arguments = build(OPENAI, Request(messages=make_request().messages, allow_calls=False))
    assert "tools" not in arguments
    assert "tool_choice" not in arguments


@pytest.mark.parametrize(
    ("target", "option", "expected"),
    [
        (OPENAI, None, None),
        (OPENAI, 500, 500),
        (ANTHROPIC, None, 4_096),
        (ANTHROPIC, 500, 500),
        (Target(model="x", provider="anthropic", output_tokens=64_000), None, 8_192),
        (Target(model="x", provider="anthropic", output_tokens=2_048), None, 2_048),
    ],
)
def test_length_of_the_reply(target: Target, option: int | None, expected: int | None) -> None:
    assert build(target, output_tokens=option).get("max_tokens") == expected


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"section_ids": ["a"]}', {"section_ids": ["a"]}),
        ('{"section_ids": [', {"invalid_arguments": '{"section_ids": ['}),
        ('"text"', {"invalid_arguments": '"text"'}),
        ("", {"invalid_arguments": ""}),
        ("[" * 9_999, {"invalid_arguments": "[" * 9_999}),
        ('{"a":' * 300 + "1" + "}" * 300, {"invalid_arguments": '{"a":' * 300 + "1" + "}" * 300}),
        ('{"limit": NaN}', {"invalid_arguments": '{"limit": NaN}'}),
        ('{"limit": 1e999}', {"invalid_arguments": '{"limit": 1e999}'}),
        ('{"limit": ' + "9" * 5_000 + "}", {"invalid_arguments": '{"limit": ' + "9" * 5_000 + "}"}),
        ('{"query": "\\ud83d"}', {"invalid_arguments": '{"query": "\\ud83d"}'}),
        ('{"query": "\\ud83d\\ude00"}', {"query": "\N{GRINNING FACE}"}),
        ('{"query": "\ud83d"}', {"query": "\N{REPLACEMENT CHARACTER}"}),
    ],
)
def test_arguments_sent_back_are_always_an_object(arguments: str, sent: dict[str, object]) -> None:
    call = ToolCall(id="a", name="expand_sections", arguments=arguments)
    messages = build(OPENAI, answer_calls(make_request(), (call,)))["messages"]
    assert isinstance(messages, list)
    assert json.loads(messages[2]["tool_calls"][0]["function"]["arguments"]) == sent


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("expand_sections", "expand_sections"),
        ("functions.expand sections", "functions_expand_sections"),
        ("é" * 99, "_" * 64),
        ("", "unnamed"),
    ],
)
def test_names_sent_back_are_names_to_every_provider(name: str, sent: str) -> None:
    call = ToolCall(id="a", name=name, arguments="{}")
    messages = build(OPENAI, answer_calls(make_request(), (call,)))["messages"]
    assert isinstance(messages, list)
    assert messages[2]["tool_calls"][0]["function"]["name"] == sent


def test_text_sent_back_is_text_to_every_provider() -> None:
    messages = build(OPENAI, make_request("A \ud83d\ude00 and a \ud83d."))["messages"]
    assert isinstance(messages, list)
    assert messages[1]["content"] == "A \N{GRINNING FACE} and a \N{REPLACEMENT CHARACTER}."


def test_thinking_goes_back_to_anthropic_alone() -> None:
    block = {"type": "thinking", "thinking": "Where?", "signature": "signed"}
    request = answer_calls(make_request(), (), thinking=json.dumps([block]))
    for target, expected in ((ANTHROPIC, [block]), (OPENAI, None)):
        messages = build(target, request)["messages"]
        assert isinstance(messages, list)
        assert messages[2].get("thinking_blocks") == expected


def test_a_lone_message_is_marked_once() -> None:
    messages = build(ANTHROPIC, Request(messages=(Message(role=Role.USER, text="hello"),)))["messages"]
    assert messages == [
        {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]}
    ]


def test_a_server_of_ones_own_gets_a_placeholder_for_a_key() -> None:
    own = Target(model="openai/x", provider="openai", api_base="http://localhost:1", missing_keys=("OPENAI_API_KEY",))
    arguments = build(own)
    assert (arguments["api_base"], arguments["api_key"]) == ("http://localhost:1", "none")
    assert "api_key" not in build(OPENAI)


def assemble(*pieces: Piece, taken_ids: tuple[str, ...] = ()) -> tuple[ToolCall, ...]:
    assembler = CallAssembler(taken_ids)
    for index, call_id, name, arguments in pieces:
        assembler.add(index=index, id=call_id, name=name, arguments=arguments)
    return assembler.finish()


def test_pieces_of_two_calls_may_alternate() -> None:
    calls = assemble(
        (0, "a", "expand", ""),
        (1, "b", "search", ""),
        (0, None, None, '{"x":'),
        (1, None, None, '{"y":'),
        (0, None, None, " 1}"),
        (1, None, None, " 2}"),
    )
    assert calls == (
        ToolCall(id="a", name="expand", arguments='{"x": 1}'),
        ToolCall(id="b", name="search", arguments='{"y": 2}'),
    )


def test_a_new_id_under_the_same_index_is_a_new_call() -> None:
    calls = assemble((0, "a", "expand", '{"x": 1}'), (0, "b", "expand", '{"x": 2}'))
    assert [(call.id, call.arguments) for call in calls] == [("a", '{"x": 1}'), ("b", '{"x": 2}')]


def test_id_and_name_may_be_repeated_with_each_piece() -> None:
    [call] = assemble((0, "a", "expand", '{"x"'), (0, "a", "expand", ": 1}"))
    assert call == ToolCall(id="a", name="expand", arguments='{"x": 1}')


def test_without_ids_a_name_after_whole_arguments_is_a_new_call() -> None:
    calls = assemble((0, None, "expand", '{"x": 1}'), (0, None, "expand", '{"x": 2}'))
    assert [call.arguments for call in calls] == ['{"x": 1}', '{"x": 2}']
    assert len({call.id for call in calls}) == 2


def test_without_ids_a_name_amid_arguments_is_no_new_call() -> None:
    [call] = assemble((0, None, "expand", '{"x"'), (0, None, "expand", ": 1}"))
    assert call.arguments == '{"x": 1}'


def test_an_id_may_come_late() -> None:
    [call] = assemble((0, None, "expand", ""), (0, "a", None, "{}"))
    assert call == ToolCall(id="a", name="expand", arguments="{}")


@pytest.mark.parametrize("wanted", ["a", "", None])
def test_ids_are_unique_in_the_conversation(wanted: str | None) -> None:
    calls = assemble((0, wanted, "expand", "{}"), (1, wanted, "expand", "{}"), taken_ids=("a",))
    ids = {call.id for call in calls}
    assert len(ids | {"a"}) == 3
    assert "" not in ids


def test_broken_arguments_pass_and_missing_ones_are_none() -> None:
    calls = assemble((0, "a", "expand", '{"x": ['), (1, "b", "expand", None))
    assert [call.arguments for call in calls] == ['{"x": [', "{}"]


def test_a_call_without_anything_is_none() -> None:
    assert assemble((0, "a", None, None), (1, "b", "", "")) == ()


def test_a_call_without_a_name_can_still_be_answered() -> None:
    [call] = assemble((0, "a", None, "{}"))
    assert call.name == "unnamed"


def assemble_thoughts(*pieces: dict[str, object]) -> str:
    assembler = ThinkingAssembler()
    for piece in pieces:
        assembler.add([piece])
    return assembler.finish()


def think(text: str, signature: str | None = None) -> dict[str, object]:
    block: dict[str, object] = {"type": "thinking", "thinking": text}
    return block | ({"signature": signature} if signature else {})


def test_pieces_are_joined_until_the_signature() -> None:
    blocks = json.loads(
        assemble_thoughts(think("one "), think("two"), think("", "s1"), think("three"), think("", "s2"))
    )
    assert blocks == [think("one two", "s1"), think("three", "s2")]


def test_the_whole_text_may_come_again_with_the_signature() -> None:
    assert json.loads(assemble_thoughts(think("one "), think("two"), think("one two", "s"))) == [think("one two", "s")]


def test_a_block_may_come_whole() -> None:
    assert json.loads(assemble_thoughts(think("one", "s1"), think("one", "s2"))) == [
        think("one", "s1"),
        think("one", "s2"),
    ]


def test_redacted_blocks_keep_their_place() -> None:
    redacted: dict[str, object] = {"type": "redacted_thinking", "data": "opaque"}
    assert json.loads(assemble_thoughts(think("one", "s"), redacted)) == [think("one", "s"), redacted]


def test_nothing_is_kept_of_unsigned_thoughts() -> None:
    assert assemble_thoughts(think("only aloud")) == ""
    assert assemble_thoughts() == ""
