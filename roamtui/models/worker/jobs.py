"""What the program asks of the model process and what comes back, as frames on a pipe.

A frame is a line that holds one JSON object.
"""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from roamtui.models.base import (
    CallMade,
    ModelEvent,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from roamtui.models.options import ModelOptions

Frame = dict[str, Any]
_EMPTY = Request(messages=())


def encode_frame(frame: Mapping[str, object]) -> bytes:
    """Return the bytes of a frame; lone surrogates pass, escaped."""
    return json.dumps(frame, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is asked of one model of one provider."""

    operation: Literal["describe", "complete", "embed"]
    model: str
    api_base: str | None
    options: ModelOptions
    request: Request = _EMPTY
    """What is to be completed."""
    texts: tuple[str, ...] = ()
    """What is to be embedded."""


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


@dataclass(frozen=True, slots=True)
class Vectors:
    """What comes of a batch of texts, each as base64: a fifth as long as its numbers would be."""

    encoded: tuple[str, ...]

    @classmethod
    def of(cls, vectors: Sequence[Sequence[float]]) -> Vectors:
        """Return vectors in half of their precision."""
        return cls(tuple(base64.b64encode(array("f", vector).tobytes()).decode("ascii") for vector in vectors))

    def decode(self) -> list[array[float]]:
        """Return the vectors."""
        return [array("f", base64.b64decode(vector)) for vector in self.encoded]


JobEvent = ModelEvent | Fault | Description | Vectors
"""What comes of a job; a fault, a description and vectors are the last, like the end of a reply."""


def count_shared(before: Sequence[object], now: Sequence[object]) -> int:
    """Return how many values two sequences begin with both."""
    pairs = zip(before, now, strict=False)
    return next((index for index, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def encode_event(event: JobEvent) -> dict[str, Any]:
    """Return `event` as plain values, its kind under `event`."""
    return {"event": _KINDS[type(event)], "data": msgspec.to_builtins(event)}


def decode_event(frame: Mapping[str, Any]) -> JobEvent:
    """Return the event that `encode_event` made `frame` from.

    Raises:
        KeyError: It is of no known kind.
        msgspec.ValidationError: It lacks a field, or one has another type.
    """
    event: JobEvent = msgspec.convert(frame["data"], _EVENTS[frame["event"]])
    return event


_EVENTS: Mapping[str, type[JobEvent]] = {
    "text": TextDelta,
    "thinking": ThinkingDelta,
    "call": CallMade,
    "usage": UsageReported,
    "retrying": Retrying,
    "stopped": ModelStopped,
    "fault": Fault,
    "described": Description,
    "embedded": Vectors,
}
_KINDS = {event: kind for kind, event in _EVENTS.items()}
