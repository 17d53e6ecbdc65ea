from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType

import pytest

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
    Description,
    Fault,
    Job,
    JobEvent,
    JobWriter,
    decode_description,
    decode_event,
    decode_job,
    encode_description,
    encode_event,
)

CALL = ToolCall(id="call_1", name="expand_sections", arguments='{"section_ids": [')


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
    assert decode_job(json.loads(JobWriter().write(job))) == job


def test_each_job_of_a_writer_comes_back_whatever_it_shares_with_the_one_before() -> None:
    names = ["system", "a", "b", "c", "d"]
    messages = [Message(role=Role.USER, text=name) for name in names]
    shorter, other = messages[:3], [*messages[:2], Message(role=Role.USER, text="b", thinking="[]"), messages[3]]
    writer = JobWriter()
    for sent in ([], messages[:2], messages, shorter, other, messages, []):
        request = Request(messages=tuple(replace(message) for message in sent))
        job = Job(model="x", api_base=None, options=ModelOptions(), request=request)
        assert decode_job(json.loads(writer.write(job))) == job


def test_a_tool_may_have_read_only_parameters() -> None:
    parameters = MappingProxyType({"type": "object", "required": ("section_ids",)})
    tool = ToolSpec(name="expand_sections", description="Opens.", parameters=parameters)
    job = Job(model="x", api_base=None, options=ModelOptions(), request=Request(messages=(), tools=(tool,)))
    [sent] = json.loads(JobWriter().write(job))["request"]["tools"]
    assert sent["parameters"] == {"type": "object", "required": ["section_ids"]}


def test_a_description_comes_back_as_it_was() -> None:
    description = Description(provider="groq", window_tokens=None, can_call_tools=True, missing_keys=("GROQ_API_KEY",))
    assert decode_description(json.loads(json.dumps(encode_description(description)))) == description


def test_a_fault_is_one_sentence() -> None:
    assert Fault(reason="It is busy", advice="ask again").message == "It is busy; ask again."
