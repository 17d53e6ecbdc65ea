"""Reads the traces of version 0.1, which had a format of their own, as events of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from roamtui.conversation.events import (
    ConversationBegun,
    ConversationEvent,
    DocumentRead,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    StepRecorded,
    TranscriptRebuilt,
)
from roamtui.conversation.log import DAMAGE
from roamtui.conversation.transcript import Step, Stopped, ToolCall, ToolUse, Usage

OLD_START = b'{"kind": "start"'
_NOTHING = Step(text="", uses=())
_STOPPED = QuestionAnswered(answer="", stopped=Stopped.CANCELLED)


def read_old_trace(content: bytes) -> Iterator[ConversationEvent]:  # noqa: C901, PLR0912 - one case a kind of line
    """Yield what a trace tells; lines that cannot be read are passed over."""
    question: dict[str, Any] = {}
    is_asked = False
    reply: Step | None = None
    for line in content.splitlines():
        try:
            data: dict[str, Any] = json.loads(line)
            match data["kind"]:
                case "start":
                    document = data["document"]
                    yield ConversationBegun(conversation_id=data["conversation"])
                    yield DocumentRead(source=document["source"], content_hash=document["hash"])
                case "question":
                    question, is_asked, reply = data, False, None
                case "request":
                    if not is_asked:
                        yield _tell_question(question, data)
                    elif reply is not None:
                        yield StepRecorded(step=reply)
                    is_asked, reply = True, _NOTHING
                case "model" if data["event"] == "retrying":
                    yield RetryScheduled(**data["data"])
                case "model":
                    reply = _add(reply or _NOTHING, data["event"], data["data"])
                case "error" if data["overflow"]:
                    yield TranscriptRebuilt(system="", prologue="", model="", rebuilt_at=0, was_refused=True)
                    reply = None
                case "agent" if data["event"] == "QuestionAnswered":
                    yield from _end(reply or _NOTHING, msgspec.convert(data["data"], QuestionAnswered))
                case "abandoned":
                    yield from _end(reply or _NOTHING, _STOPPED)
                case _:
                    pass
        except DAMAGE:
            continue


def _tell_question(question: Mapping[str, Any], request: Mapping[str, Any]) -> QuestionAsked:
    return QuestionAsked(
        number=question["number"],
        question=question["question"],
        within=question["within"],
        model=request["model"],
        window_tokens=request["window_tokens"],
        preface=request["messages"][-1]["text"],
    )


def _add(reply: Step, event: str, data: Mapping[str, Any]) -> Step:
    match event:
        case "text":
            return replace(reply, text=reply.text + data["text"])
        case "call":
            use = ToolUse(call=msgspec.convert(data["call"], ToolCall), result="")
            return replace(reply, uses=(*reply.uses, use))
        case "usage":
            return replace(reply, usage=msgspec.convert(data["usage"], Usage))
        case "stopped":
            return replace(reply, thinking=data["thinking"])
        case _:
            return reply


def _end(reply: Step, end: QuestionAnswered) -> Iterator[StepRecorded | QuestionAnswered]:
    if reply.uses:
        yield StepRecorded(step=reply)
    yield replace(end, said=reply.text)
