"""Reads a trace back: its runs, with each request and the reply to it. What it holds is checked, whoever wrote it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from roamtui.errors import UsageError
from roamtui.models.base import (
    CallMade,
    ModelEvent,
    ModelStopped,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from roamtui.models.trace import FORMAT
from roamtui.models.worker.jobs import Fault, decode_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_Value = TypeVar("_Value")
_NUMBERS = (int, float)


class Ending(StrEnum):
    """How a recorded reply ends."""

    CUT = "cut"
    """Not at all: the trace ends within it."""
    WHOLE = "whole"
    ERROR = "error"
    DEFECT = "defect"
    """By an exception that no model should raise."""
    CANCELLED = "cancelled"


@dataclass(slots=True, kw_only=True)
class RecordedReply:
    """A request and what was said to it."""

    request: Mapping[str, Any]
    """Messages, tools and `allow_calls`, encoded."""
    digest: str
    model: str
    window_tokens: int | None
    events: list[ModelEvent] = field(default_factory=list)
    ending: Ending = Ending.CUT
    message: str = ""
    """What the error says."""
    retryable: bool = False
    overflow: bool = False
    is_abandoned: bool = False
    """Whether the person stopped the question after it."""


@dataclass(slots=True, kw_only=True)
class Run:
    """What one run of the program wrote."""

    version: str
    """Of the roamtui that wrote it."""
    content_hash: str
    """Digest of the document."""
    model: str
    window_tokens: int | None
    questions: list[str] = field(default_factory=list)
    replies: list[RecordedReply] = field(default_factory=list)


class _BrokenLineError(Exception):
    """A line says something that no trace says."""


def read_trace(path: Path) -> tuple[Run, ...]:
    """Return the runs that a trace holds, at least one. A line that was cut off ends its run.

    Raises:
        UsageError: It cannot be read, is no trace, is broken, or has another format; the message says where.
    """
    runs: list[Run] = []
    cut_at = 0
    number = 0
    try:
        for number, line in enumerate(_read_lines(path), start=1):
            data = _parse(line)
            is_start = data.get("kind") == "start"
            if cut_at and not is_start:
                raise UsageError(_describe_broken(path, cut_at))
            cut_at = 0 if data else number
            if is_start:
                runs.append(_read_start(data, path))
            elif not runs:
                break
            elif data:
                _take_line(data, runs[-1])
    except _BrokenLineError:
        raise UsageError(_describe_broken(path, number)) from None
    if not runs:
        raise UsageError(f"{path} is no trace of roamtui. `--trace FILE` writes one.")
    return tuple(runs)


def _describe_broken(path: Path, number: int) -> str:
    return f"{path} is broken at line {number}, so it cannot be replayed. Record it again."


def _read_lines(path: Path) -> Iterator[bytes]:
    if not path.exists():
        raise UsageError(f"There is no file {path} to replay.")
    if not path.is_file():
        raise UsageError(f"{path} is no file, so it cannot be replayed.")
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None


def _parse(line: bytes) -> dict[str, Any]:
    """Return a line's object, an empty one for a line that holds none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _read_start(data: Mapping[str, Any], path: Path) -> Run:
    version = _get(data, "roamtui", str)
    if data.get("format") != FORMAT:
        raise UsageError(f"{path} was recorded by roamtui {version} in another format. Replay it with that version.")
    return Run(
        version=version,
        content_hash=_get(_get(data, "document", dict), "hash", str),
        model=_get(data, "model", str),
        window_tokens=_get_count(data, "window_tokens"),
    )


def _take_line(data: Mapping[str, Any], run: Run) -> None:
    kind = data.get("kind")
    last = run.replies[-1] if run.replies else None
    if kind == "question":
        run.questions.append(_get(data, "question", str))
    elif kind == "request":
        run.replies.append(_read_request(data, last))
    elif kind == "abandoned" and last is not None:
        last.is_abandoned = True
    elif kind in ("model", "error", "cancelled"):
        if last is None or data.get("request") != len(run.replies):
            raise _BrokenLineError
        _take_reply_line(data, last)


def _read_request(data: Mapping[str, Any], before: RecordedReply | None) -> RecordedReply:
    earlier = before.request["messages"] if before is not None else []
    repeats = _get(data, "repeats", int)
    messages = _get(data, "messages", list)
    if not 0 <= repeats <= len(earlier):
        raise _BrokenLineError
    for message in messages:
        if not isinstance(message, dict):
            raise _BrokenLineError
        _get(message, "role", str)
        _get(message, "text", str)
    return RecordedReply(
        request={
            "messages": [*earlier[:repeats], *messages],
            "tools": _get(data, "tools", list),
            "allow_calls": _get(data, "allow_calls", bool),
        },
        digest=_get(data, "digest", str),
        model=_get(data, "model", str),
        window_tokens=_get_count(data, "window_tokens"),
    )


def _take_reply_line(data: Mapping[str, Any], reply: RecordedReply) -> None:
    if data["kind"] == "cancelled":
        reply.ending = Ending.CANCELLED
    elif data["kind"] == "error":
        reply.ending = Ending.DEFECT if "defect" in data else Ending.ERROR
        reply.message = _get(data, "message", str)
        reply.retryable = bool(data.get("retryable"))
        reply.overflow = bool(data.get("overflow"))
    else:
        event = _read_event(data)
        reply.events.append(event)
        if isinstance(event, ModelStopped):
            reply.ending = Ending.WHOLE


def _read_event(data: Mapping[str, Any]) -> ModelEvent:
    try:
        event = decode_event(data)
    except (KeyError, TypeError):
        raise _BrokenLineError from None
    if isinstance(event, Fault) or not _is_sound(event):
        raise _BrokenLineError
    return event


def _is_sound(event: ModelEvent) -> bool:
    """Return whether the fields of an event from a file have their types."""
    match event:
        case TextDelta(text) | ThinkingDelta(text):
            return isinstance(text, str)
        case CallMade(call):
            return all(isinstance(part, str) for part in (call.id, call.name, call.arguments))
        case UsageReported(usage):
            counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
            cost = 0 if usage.cost_usd is None else usage.cost_usd
            return all(isinstance(count, int) for count in counts) and isinstance(cost, _NUMBERS)
        case Retrying(reason, wait_seconds):
            return isinstance(reason, str) and isinstance(wait_seconds, _NUMBERS)
        case ModelStopped(reason, thinking):
            return isinstance(reason, str) and isinstance(thinking, str)
        case _:
            assert_never(event)


def _get(data: Mapping[str, Any], key: str, kind: type[_Value]) -> _Value:
    value = data.get(key)
    if not isinstance(value, kind):
        raise _BrokenLineError
    return value


def _get_count(data: Mapping[str, Any], key: str) -> int | None:
    return None if data.get(key) is None else _get(data, key, int)
