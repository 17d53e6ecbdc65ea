"""What goes through the pipe comes out as it was."""

from __future__ import annotations

import asyncio
import io
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.conversation.transcript import Message, Role, ToolCall, Usage
from roamtui.models.base import (
    CallMade,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    UsageReported,
)
from roamtui.models.options import ModelOptions
from roamtui.models.worker.jobs import (
    BrokenFrameError,
    Fault,
    Job,
    JobEvent,
    Vectors,
    decode_event,
    encode_event,
    encode_frame,
    read_frame,
    receive_frame,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=8,
)
frames = st.dictionaries(st.text(), json_values)
CALL = ToolCall(id="call_1", name="expand_sections", arguments='{"section_ids": [')


async def receive_all(data: bytes) -> list[object]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    received: list[object] = []
    while (frame := await receive_frame(reader)) is not None:
        received.append(frame)
    return received


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(frames, max_size=4))
def test_frames_come_back_from_either_kind_of_pipe(sent: list[dict[str, object]]) -> None:
    data = b"".join(encode_frame(frame) for frame in sent)
    pipe = io.BytesIO(data)
    assert [read_frame(pipe) for _ in sent] == sent
    assert read_frame(pipe) is None
    assert asyncio.run(receive_all(data)) == sent


@pytest.mark.parametrize("length", [1, 3, 5, 9])
def test_a_cut_frame_is_the_end(length: int) -> None:
    data = encode_frame({"text": "half"})[:length]
    assert read_frame(io.BytesIO(data)) is None
    assert asyncio.run(receive_all(data)) == []


@pytest.mark.parametrize("data", [b"INFO: no frame", b"\x00\x00\x00\x02{]", b"\x00\x00\x00\x02[]"])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenFrameError):
        read_frame(io.BytesIO(data))
    with pytest.raises(BrokenFrameError):
        asyncio.run(receive_all(data))


@pytest.mark.parametrize(
    "event",
    [
        TextDelta("text"),
        ThinkingDelta("thought"),
        CallMade(CALL),
        UsageReported(Usage(input_tokens=3, output_tokens=2, cached_tokens=1, cost_usd=0.5, source="provider")),
        UsageReported(Usage()),
        Retrying("busy", 1.5),
        ModelStopped("stop", "[]"),
        Vectors.of([[0.5, -1.0]]),
        Fault(reason="It is busy", advice="wait", is_retryable=True, is_passing=True, wait_seconds=2.0),
    ],
)
def test_events_come_back_as_they_were(event: JobEvent) -> None:
    assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


def test_a_job_comes_back_as_it_was() -> None:
    parameters = {"type": "object", "properties": {"section_ids": {"type": "array"}}, "required": ["section_ids"]}
    request = Request(
        messages=(
            Message(role=Role.SYSTEM, text="You roam."),
            Message(role=Role.USER, text="Grüße"),
            Message(role=Role.ASSISTANT, text="", tool_calls=(CALL, CALL), thinking="[]"),
            Message(role=Role.TOOL, text="result", tool_call_id="call_1"),
        ),
        tools=(ToolSpec(name="expand_sections", description="Opens.", parameters=parameters),),
        allow_calls=False,
    )
    options = ModelOptions(window_tokens=9_000, gap_seconds=2.5)
    job = Job(model="openai/x", api_base="http://localhost", options=options, request=request)
    assert msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(job))), Job) == job
