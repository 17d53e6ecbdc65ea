"""A job as litellm's arguments, and the pieces of a reply as whole calls."""

import json
from types import SimpleNamespace

import pytest

from roamtui.conversation.messages import ToolCall, Usage
from roamtui.models.base import ModelRequest
from roamtui.models.completion import CallAssembler, make_arguments, read_usage
from roamtui.models.litellm_worker import read_prices
from roamtui.models.options import ModelOptions
from roamtui.models.worker_protocol import Job, ResolvedModel
from tests.models.asking import answer_calls, make_request

OPENAI = ResolvedModel(model="openai/x", provider="openai")
Piece = tuple[int, str | None, str | None, str | None]


def build(
    target: ResolvedModel, request: ModelRequest | None = None, output_tokens: int | None = None
) -> dict[str, object]:
    options = ModelOptions(output_tokens=output_tokens)
    job = Job(
        operation="complete", model=target.model, api_base=None, options=options, request=request or make_request()
    )
    return make_arguments(job, target)


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"section_ids": ["a"]}', {"section_ids": ["a"]}),
        ('{"section_ids": [', {"invalid_arguments": '{"section_ids": ['}),
        ('"text"', {"invalid_arguments": '"text"'}),
        ("", {"invalid_arguments": ""}),
        ("[" * 9_999, {"invalid_arguments": "[" * 9_999}),
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


def assemble(*pieces: Piece) -> tuple[ToolCall, ...]:
    assembler = CallAssembler()
    for index, call_id, name, arguments in pieces:
        assembler.add_piece(index=index, id=call_id, name=name, arguments=arguments)
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
        ([(0, "a", "x", "{}"), (0, "b", "x", '{"x": 2}')], [("a", "x", "{}"), ("b", "x", '{"x": 2}')]),
        ([(0, "a", "x", '{"x"'), (0, "a", "x", ": 1}")], [("a", "x", '{"x": 1}')]),
        ([(0, None, "x", '{"x": 1}'), (0, None, "x", "{}")], [(None, "x", '{"x": 1}'), (None, "x", "{}")]),
        ([(0, None, "x", '{"x"'), (0, None, "x", ": 1}")], [(None, "x", '{"x": 1}')]),
        ([(0, None, "x", ""), (0, "a", "_y", "{}")], [("a", "x_y", "{}")]),
        ([(0, "a", None, None), (1, "b", "x", None), (2, "c", None, "{}")], [("b", "x", "{}"), ("c", "unnamed", "{}")]),
        ([(0, "a", "x", ""), (0, "b", "x", '{"x"'), (0, "c", "x", ": 1}")], [("a", "x", '{"x": 1}')]),
    ],
    ids=[
        *("alternating", "another id", "id repeated", "whole before", "half before", "late id", "nothing in it"),
        "an id for each piece",
    ],
)
def test_pieces_become_whole_calls(pieces: list[Piece], whole: list[tuple[str | None, str, str]]) -> None:
    calls = assemble(*pieces)
    assert [(call.name, call.arguments) for call in calls] == [(name, arguments) for _, name, arguments in whole]
    assert all(wanted in (None, call.id) for call, (wanted, _, _) in zip(calls, whole, strict=True))


@pytest.mark.parametrize(
    "impossible",
    [
        {"prompt_tokens": -1_000_000},
        {"completion_tokens": -1},
        {"prompt_tokens": 10**15},
        {"prompt_tokens": "many"},
        {"prompt_tokens_details": SimpleNamespace(cached_tokens=-5)},
        {"prompt_tokens_details": SimpleNamespace(cached_tokens=101)},
        {"cost": -100},
        {"cost": float("nan")},
        {"cost": float("inf")},
    ],
)
def test_usage_that_no_request_can_have_is_not_believed(impossible: dict[str, object]) -> None:
    possible = {"prompt_tokens": 100, "completion_tokens": 20, "cost": 0.5}
    believed = Usage(input_tokens=100, output_tokens=20, cost_usd=0.5, source="provider")
    assert read_usage(SimpleNamespace(**possible), is_counted=True) == believed
    assert read_usage(SimpleNamespace(**{**possible, **impossible}), is_counted=True) is None


@pytest.mark.parametrize(("sent", "received", "prices"), [(0.0, 0.0, None), (0.0, None, None), (1.0, 0.0, (1.0, 0.0))])
def test_a_price_of_nothing_in_the_table_is_not_known(
    sent: float, received: float | None, prices: tuple[float, float] | None
) -> None:
    assert read_prices({"input_cost_per_token": sent, "output_cost_per_token": received}) == prices
