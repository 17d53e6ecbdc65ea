"""A job as litellm's arguments, and the pieces of a reply as whole calls."""

from types import SimpleNamespace

import pytest

from roamtui.conversation.events import ToolCall, Usage
from roamtui.models.completion import CallAssembler, read_usage

Piece = tuple[int, str | None, str | None, str | None]


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
        ([(0, "a", "x", "{1}"), (0, "b", "x", "{2}")], [("a", "x", "{1}"), ("b", "x", "{2}")]),
        ([(0, "a", "x", '{"x"'), (0, "a", "x", ": 1}")], [("a", "x", '{"x": 1}')]),
        ([(0, None, "x", '{"x": 1}'), (0, None, "x", "{}")], [(None, "x", '{"x": 1}'), (None, "x", "{}")]),
        ([(0, None, "x", ""), (0, "a", None, "{}")], [("a", "x", "{}")]),
        ([(0, "a", None, None), (1, "b", "x", None), (2, "c", None, "{}")], [("b", "x", "{}"), ("c", "unnamed", "{}")]),
        ([(0, "a", "x", ""), (0, "b", "x", "")], [("a", "x", "{}"), ("b", "x", "{}")]),
        ([(0, "a", "x", "{}"), (0, "a", None, '{"x": 1}')], [("a", "x", '{"x": 1}')]),
    ],
    ids=[
        *("alternating", "another id", "id repeated", "without ids", "late id", "nothing in it"),
        *("calls without arguments", "an empty object before"),
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
