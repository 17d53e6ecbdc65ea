"""A job as litellm's arguments, and the pieces of a reply as whole calls."""

from __future__ import annotations

import json

import pytest

from roamtui.conversation.transcript import ToolCall
from roamtui.models.base import ModelRequest
from roamtui.models.completion import CallAssembler, build_arguments
from roamtui.models.options import ModelOptions
from roamtui.models.worker_protocol import Job, ResolvedModel
from tests.models.asking import answer_calls, make_request

OPENAI = ResolvedModel(model="openai/x", provider="openai")
ANTHROPIC = ResolvedModel(model="anthropic/x", provider="anthropic")
Piece = tuple[int, str | None, str | None, str | None]


def build(
    target: ResolvedModel, request: ModelRequest | None = None, output_tokens: int | None = None
) -> dict[str, object]:
    options = ModelOptions(output_tokens=output_tokens)
    job = Job(
        operation="complete", model=target.model, api_base=None, options=options, request=request or make_request()
    )
    return build_arguments(job, target)


@pytest.mark.parametrize(
    ("target", "option", "expected"),
    [
        (OPENAI, None, None),
        (OPENAI, 500, 500),
        (ANTHROPIC, None, 4_096),
        (ANTHROPIC, 500, 500),
        (ResolvedModel(model="x", provider="anthropic", output_tokens=64_000), None, 8_192),
        (ResolvedModel(model="x", provider="anthropic", output_tokens=2_048), None, 2_048),
    ],
)
def test_length_of_the_reply(target: ResolvedModel, option: int | None, expected: int | None) -> None:
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


def test_a_server_of_ones_own_gets_a_placeholder_for_a_key() -> None:
    own = ResolvedModel(
        model="openai/x", provider="openai", api_base="http://localhost:1", missing_keys=("OPENAI_API_KEY",)
    )
    arguments = build(own)
    assert (arguments["api_base"], arguments["api_key"]) == ("http://localhost:1", "none")
    assert "api_key" not in build(OPENAI)


def assemble(*pieces: Piece) -> tuple[ToolCall, ...]:
    assembler = CallAssembler()
    for index, call_id, name, arguments in pieces:
        assembler.add(index=index, id=call_id, name=name, arguments=arguments)
    return assembler.finish()


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (
            [
                (0, "a", "x", ""),
                (1, "b", "y", ""),
                (0, None, None, '{"x":'),
                (1, None, None, "{"),
                (0, None, None, "1}"),
            ],
            [("a", "x", '{"x":1}'), ("b", "y", "{")],
        ),
        ([(0, "a", "x", "{1}"), (0, "b", "x", "{2}")], [("a", "x", "{1}"), ("b", "x", "{2}")]),
        ([(0, "a", "x", '{"x"'), (0, "a", "x", ": 1}")], [("a", "x", '{"x": 1}')]),
        ([(0, None, "x", '{"x": 1}'), (0, None, "x", "{}")], [(None, "x", '{"x": 1}'), (None, "x", "{}")]),
        ([(0, None, "x", '{"x"'), (0, None, "x", ": 1}")], [(None, "x", '{"x": 1}')]),
        ([(0, None, "x", ""), (0, "a", None, "{}")], [("a", "x", "{}")]),
        ([(0, "a", None, None), (1, "b", "x", None), (2, "c", None, "{}")], [("b", "x", "{}"), ("c", "unnamed", "{}")]),
    ],
    ids=["alternating", "another id", "id repeated", "whole before", "half before", "late id", "nothing in it"],
)
def test_pieces_become_whole_calls(pieces: list[Piece], whole: list[tuple[str | None, str, str]]) -> None:
    calls = assemble(*pieces)
    assert [(call.name, call.arguments) for call in calls] == [(name, arguments) for _, name, arguments in whole]
    assert all(wanted in (None, call.id) for call, (wanted, _, _) in zip(calls, whole, strict=True))
