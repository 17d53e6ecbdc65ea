"""What the program asks of the model process and what comes back, as frames on a pipe.

A frame is four bytes of length, most significant first, then one JSON object.
"""

from __future__ import annotations

import asyncio
import base64
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

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

_LENGTH_BYTES = 4
FRAME_BYTES_MAX = 1 << 28
"""A length beyond this is no length: something else has written to the pipe."""

Frame = dict[str, Any]


class BrokenFrameError(Exception):
    """What came through the pipe is no frame."""


def encode_frame(frame: Mapping[str, object]) -> bytes:
    """Return the bytes of a frame; lone surrogates pass, escaped."""
    data = json.dumps(frame, separators=(",", ":")).encode("ascii")
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data


async def receive_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame, None at the end of the pipe."""
    try:
        length = _decode_length(await reader.readexactly(_LENGTH_BYTES))
        return _decode_frame(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def read_frame(pipe: BinaryIO) -> Frame | None:
    """Return the next frame of a blocking pipe, None at its end."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = _decode_length(head)
    data = pipe.read(length)
    return _decode_frame(data) if len(data) == length else None


def _decode_length(head: bytes) -> int:
    length = int.from_bytes(head, "big")
    if length > FRAME_BYTES_MAX:
        raise BrokenFrameError(f"a frame of {length} bytes")
    return length


def _decode_frame(data: bytes) -> Frame:
    try:
        frame = json.loads(data)
    except ValueError as error:
        raise BrokenFrameError("no JSON") from error
    if not isinstance(frame, dict):
        raise BrokenFrameError("no JSON object")
    return frame


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


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedJob:
    """One batch of texts for one embedder of one provider."""

    model: str
    api_base: str | None
    options: ModelOptions
    texts: tuple[str, ...]


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
