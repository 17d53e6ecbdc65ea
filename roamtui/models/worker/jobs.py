"""What the program asks of the model process, what comes back, and both as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never, cast

from roamtui.conversation.plain_values import encode_value
from roamtui.conversation.transcript import Message, Role, ToolCall, Usage
from roamtui.models.base import (
    CallMade,
    ModelEvent,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    UsageReported,
)
from roamtui.models.options import ModelOptions
from roamtui.models.worker.frames import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One request to one model of one provider."""

    model: str
    api_base: str | None
    options: ModelOptions
    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why there is no reply, or no more of it."""

    reason: str
    """What happened: a sentence without its full stop."""
    advice: str
    """What a person can do next, likewise, in small letters."""
    is_retryable: bool = False
    """Whether the same request may work later."""
    is_passing: bool = False
    """Whether it may work so soon that it is worth sending again unasked."""
    is_overflow: bool = False
    """Whether the request was too long for the model."""
    wait_seconds: float | None = None
    """How long the provider asks to wait."""

    @property
    def message(self) -> str:
        """Both in one sentence."""
        return f"{self.reason}; {self.advice}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What is known of a model without asking its provider."""

    provider: str
    """As litellm calls it."""
    window_tokens: int | None
    can_call_tools: bool | None
    """None where unknown."""
    missing_keys: tuple[str, ...]
    """Environment variables of which one has to be set."""
    input_usd: float | None = None
    """Price of one token sent, None where unknown."""
    output_usd: float | None = None
    """Price of one token of a reply, None where unknown."""


JobEvent = ModelEvent | Fault


class JobWriter:
    """Writes jobs as JSON; of a request that begins like the one before it, only what is new is written anew."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self._written: list[str] = []
        """Each of those messages as JSON."""

    def write(self, job: Job) -> str:
        """Return `job` as JSON."""
        request = job.request
        kept = _count_shared(self._messages, request.messages)
        new = [write_json(encode_value(message)) for message in request.messages[kept:]]
        self._messages, self._written = request.messages, [*self._written[:kept], *new]
        head = {"model": job.model, "api_base": job.api_base, "options": encode_value(job.options)}
        rest = {"tools": encode_value(request.tools), "allow_calls": request.allow_calls}
        messages = f'"messages":[{",".join(self._written)}]'
        return f'{write_json(head)[:-1]},"request":{write_json(rest)[:-1]},{messages}}}}}'


def _count_shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return how many messages both begin with."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return shared


def decode_job(data: Mapping[str, Any]) -> Job:
    """Return the job that a `JobWriter` wrote `data` of."""
    request = data["request"]
    return Job(
        model=data["model"],
        api_base=data["api_base"],
        options=ModelOptions(**data["options"]),
        request=Request(
            messages=tuple(_decode_message(message) for message in request["messages"]),
            tools=tuple(ToolSpec(**tool) for tool in request["tools"]),
            allow_calls=request["allow_calls"],
        ),
    )


def _decode_message(data: Mapping[str, Any]) -> Message:
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return Message(**{**data, "role": Role(data["role"]), "tool_calls": calls})


def encode_event(event: JobEvent) -> dict[str, Any]:
    """Return `event` as plain values, its kind under `event`."""
    return {"event": _kind_of(event), "data": encode_value(event)}


def decode_event(frame: Mapping[str, Any]) -> JobEvent:
    """Return the event that `encode_event` made `frame` from."""
    kind, data = frame["event"], frame["data"]
    if kind == "call":
        return CallMade(ToolCall(**data["call"]))
    if kind == "usage":
        return UsageReported(Usage(**data["usage"]))
    event: JobEvent = _PLAIN_EVENTS[kind](**data)
    return event


_PLAIN_EVENTS: Mapping[str, Any] = {
    "text": TextDelta,
    "thinking": ThinkingDelta,
    "retrying": Retrying,
    "stopped": ModelStopped,
    "fault": Fault,
}


def _kind_of(event: JobEvent) -> str:  # noqa: PLR0911 -- one return for each kind
    match event:
        case TextDelta():
            return "text"
        case ThinkingDelta():
            return "thinking"
        case CallMade():
            return "call"
        case UsageReported():
            return "usage"
        case Retrying():
            return "retrying"
        case ModelStopped():
            return "stopped"
        case Fault():
            return "fault"
        case _:
            assert_never(event)


def encode_description(description: Description) -> dict[str, Any]:
    """Return `description` as plain values."""
    return cast("dict[str, Any]", encode_value(description))


def decode_description(data: Mapping[str, Any]) -> Description:
    """Return the description that `encode_description` made `data` from."""
    return Description(**{**data, "missing_keys": tuple(data["missing_keys"])})
