"""A trace is refused in a sentence unless it is whole, of this format, and about what is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import roamtui
from roamtui.conversation.transcript import Message, Role, ToolCall, Usage
from roamtui.errors import ModelError, UsageError
from roamtui.models.base import (
    CallMade,
    Model,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from roamtui.models.choose import make_model
from roamtui.models.recorded import RecordedModel
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.models.trace import FORMAT, TracedModel, TraceWriter
from tests.models.asking import answer_calls, collect, join_text, list_calls, make_request

START = {
    "format": FORMAT,
    "roamtui": roamtui.__version__,
    "document": {"source": "a.md", "hash": "0123", "sections": 3},
    "model": "scripted",
    "window_tokens": 9_000,
}
OPEN = ScriptedReply(
    text="I look.",
    calls=(("expand_sections", {"section_ids": ["a8a96034"]}),),
    thinking="Where?",
    retries=(Retrying("Busy.", 20.0),),
    usage=Usage(input_tokens=5, output_tokens=2, cached_tokens=1, cost_usd=0.5, source="provider"),
    chunk_size=3,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a run.jsonl"


async def record(path: Path, *replies: ScriptedReply, start: dict[str, Any] | None = None) -> None:
    """Write a run of a first question, and of the results of its calls."""
    writer = TraceWriter(path, {})
    writer.write("start", start or START)
    writer.write("question", {"question": "What is a model?"})
    model = TracedModel(ScriptedModel(replies), writer)
    request = make_request()
    for _ in replies:
        events = await collect(model, request)
        request = answer_calls(request, list_calls(events))
    writer.close()


def change_line(path: Path, index: int, **fields: object) -> None:
    lines = path.read_text("ascii").splitlines()
    lines[index] = json.dumps(json.loads(lines[index]) | fields)
    path.write_text("".join(f"{line}\n" for line in lines), "ascii")


async def test_every_event_comes_again(path: Path) -> None:
    await record(path, OPEN, ScriptedReply(text="Done."))
    model = make_model(f"recorded:{path}")
    assert isinstance(model, Model)
    assert isinstance(model, RecordedModel)
    assert (model.name, model.window_tokens) == (f"recorded:{path}", 128_000)
    assert model.questions == ("What is a model?",)
    events = await collect(model)
    assert events == [
        Retrying("Busy.", 20.0),
        ThinkingDelta("Where?"),
        *(TextDelta(text) for text in ("I l", "ook", ".")),
        CallMade(ToolCall(id="call_1_1", name="expand_sections", arguments='{"section_ids": ["a8a96034"]}')),
        UsageReported(OPEN.usage or Usage()),
        ModelStopped("tool_calls", '[{"type": "thinking", "thinking": "Where?"}]'),
    ]
    second = await collect(model, answer_calls(make_request(), list_calls(events)))
    assert join_text(second) == "Done."
    await model.close()


async def test_past_its_end_the_trace_says_so(path: Path) -> None:
    await record(path, OPEN)
    model = RecordedModel(path)
    await collect(model)
    with pytest.raises(ModelError, match="holds no more than 1 replies") as caught:
        await collect(model)
    assert not caught.value.retryable


async def test_of_several_runs_the_newest_that_fits_is_replayed(path: Path) -> None:
    await record(path, ScriptedReply(text="First."))
    await record(path, ScriptedReply(text="Second."))
    writer = TraceWriter(path, {})
    writer.write("start", START | {"document": {"source": "b.md", "hash": "4567"}})
    await collect(TracedModel(ScriptedModel([ScriptedReply(text="Other.")]), writer), make_request("Why?"))
    writer.close()
    assert join_text(await collect(RecordedModel(path))) == "Second."
    assert join_text(await collect(RecordedModel(path), make_request("Why?"))) == "Other."
    assert RecordedModel(path).is_about("0123")
    assert RecordedModel(path).is_about("4567")
    assert not RecordedModel(path).is_about("89ab")


async def test_what_was_masked_may_be_anything(path: Path) -> None:
    writer = TraceWriter(path, {"A_TOKEN": "secret-0123"})
    writer.write("start", START)
    asked = make_request("Is secret-0123 like secret-0123, or not?")
    await collect(TracedModel(ScriptedModel([OPEN]), writer), asked)
    writer.close()
    assert await collect(RecordedModel(path, {}), asked)
    assert await collect(RecordedModel(path, {"A_TOKEN": "secret-0123"}), asked)
    assert await collect(RecordedModel(path, {}), make_request("Is  like x, or not?"))
    for question in ("Is secret-0123 like, or not?", "Is a like b, or not? No", "Was a like b, or not?"):
        with pytest.raises(ModelError, match="another question was asked"):
            await collect(RecordedModel(path, {}), make_request(question))


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Request(messages=make_request().messages), "the tools differ"),
        (make_request(allow_calls=False), "it goes on otherwise"),
        (Request(messages=make_request().messages[:1], tools=make_request().tools), "it goes on otherwise"),
        (
            Request(
                messages=(Message(role=Role.SYSTEM, text="You fly."), make_request().messages[1]),
                tools=make_request().tools,
            ),
            "the instructions to the model differ, so this is another roamtui",
        ),
    ],
)
async def test_another_request_is_refused_with_the_reason(path: Path, request_: Request, why: str) -> None:
    await record(path, OPEN)
    with pytest.raises(ModelError, match=f"^Request 1 is not the one in {path}: {why}"):
        await collect(RecordedModel(path), request_)


async def test_another_answer_than_the_recorded_is_told(path: Path) -> None:
    await record(path, OPEN, OPEN)
    model = RecordedModel(path)
    calls = list_calls(await collect(model))
    with pytest.raises(ModelError, match="what was said before differs"):
        await collect(model, answer_calls(make_request(), (*calls, *calls)))
    assert join_text(await collect(model, answer_calls(make_request(), calls))) == "I look."


async def test_another_format_is_refused(path: Path) -> None:
    await record(path, OPEN, start=START | {"format": 2, "roamtui": "9.0"})
    with pytest.raises(UsageError, match=r"was recorded by roamtui 9\.0 in another format"):
        RecordedModel(path)


@pytest.mark.parametrize("content", ["", "# Heading\n", '{"kind": "model"}\n', "[]\n", "\x00", '{"kind": "start"'])
def test_a_file_that_is_no_trace_is_refused(path: Path, content: str) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="is no trace of roamtui"):
        RecordedModel(path)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no file .* to replay"):
        make_model(f"recorded:{tmp_path / 'none.jsonl'}")
    with pytest.raises(UsageError, match="is no file, so it cannot be replayed"):
        make_model(f"recorded:{tmp_path}")
    with pytest.raises(UsageError, match="is no file, so it cannot be replayed"):
        make_model("recorded:/dev/zero")


@pytest.mark.parametrize(
    ("index", "fields"),
    [
        (0, {"roamtui": None}),
        (0, {"document": "a.md"}),
        (0, {"document": {}}),
        (0, {"window_tokens": "many"}),
        (1, {"question": 3}),
        (2, {"repeats": 1}),
        (2, {"repeats": -1}),
        (2, {"messages": None}),
        (2, {"messages": ["What?"]}),
        (2, {"messages": [{"role": "user"}]}),
        (2, {"digest": None}),
        (3, {"request": 2}),
        (3, {"event": "fault"}),
        (3, {"event": "fault", "data": {"reason": "a", "advice": "b"}}),
        (3, {"event": "text", "data": {"text": 3}}),
        (3, {"event": "call", "data": {"call": {"id": 1, "name": "a", "arguments": "{}"}}}),
        (3, {"event": "usage", "data": {"usage": {"input_tokens": "a"}}}),
        (3, {"event": "retrying", "data": {"reason": "a", "wait_seconds": "b"}}),
        (3, {"event": "stopped", "data": {"reason": None}}),
        (3, {"event": ["text"]}),
        (3, {"data": None}),
        (3, {"kind": "error", "message": None}),
    ],
)
async def test_a_broken_line_is_named(path: Path, index: int, fields: dict[str, object]) -> None:
    await record(path, OPEN)
    RecordedModel(path)
    change_line(path, index, **fields)
    with pytest.raises(UsageError, match=f"is broken at line {index + 1}, so it cannot be replayed"):
        RecordedModel(path)


async def test_lines_of_a_kind_that_is_not_known_are_passed_over(path: Path) -> None:
    await record(path, OPEN)
    with path.open("a") as file:
        file.write('{"kind": "weather"}\n{"no": "kind"}\n{"kind": ["model"]}\n')
    assert join_text(await collect(RecordedModel(path))) == "I look."
