"""What goes through the pipe comes out as it was."""

from __future__ import annotations

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
from roamtui.models.jobs import (
    Fault,
    Job,
    JobEvent,
    Target,
    Vectors,
    decode_event,
    encode_event,
    encode_frame,
)
from roamtui.models.options import ModelOptions

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=8,
)
frames = st.dictionaries(st.text(), json_values)
CALL = ToolCall(id="call_1", name="expand_sections", arguments='{"section_ids": [')


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(frames, max_size=4))
def test_each_frame_is_a_line(sent: list[dict[str, object]]) -> None:
    lines = b"".join(map(encode_frame, sent)).splitlines(keepends=True)
    assert [json.loads(line) for line in lines] == sent


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
        Fault(reason="It is busy", advice="wait", is_passing=True, wait_seconds=2.0),
    ],
)
def test_events_come_back_as_they_were(event: JobEvent) -> None:
    assert decode_event(json.loads(encode_frame(encode_event(event)))) == event


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
    job = Job(operation="complete", model="openai/x", api_base="http://localhost", options=options, request=request)
    assert msgspec.convert(json.loads(encode_frame(msgspec.to_builtins(job))), Job) == job


@pytest.mark.parametrize(
    ("api_base", "is_local"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000", True),
        ("http://192.168.1.20:8000/v1", True),
        ("http://10.1.2.3", True),
        ("http://ollama:11434", True),
        ("http://host.docker.internal:11434", True),
        ("http://8.8.8.8/v1", False),
        ("https://api.example.com/v1", False),
        ("http://[broken", False),
        (None, False),
    ],
)
def test_a_server_nearby_is_waited_for_longer(api_base: str | None, *, is_local: bool) -> None:
    target = Target(model="m", provider="openai", api_base=api_base)
    assert target.is_local is is_local
    patient, hasty = ModelOptions(), ModelOptions(first_token_seconds=2.0)
    usual = patient.wait_for_first_token(is_local=False)
    assert (patient.wait_for_first_token(is_local=target.is_local) > usual) is is_local
    assert hasty.wait_for_first_token(is_local=target.is_local) == 2.0
