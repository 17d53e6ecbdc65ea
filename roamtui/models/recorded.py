"""`RecordedModel`: the replies of a trace, said again to the same requests; it needs no key and no network.

What a trace holds is checked, whoever wrote it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

import roamtui
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, QUESTION_START, Role
from roamtui.document.plain import plain_line, shorten
from roamtui.errors import ModelError, RoamtuiError, UsageError
from roamtui.models.base import (
    ModelEvent,
    ModelStopped,
    Request,
)
from roamtui.models.secrets import MASK, Secrets
from roamtui.models.trace import FORMAT, RECORDED, encode_request, hash_request, normalise_request
from roamtui.models.worker.jobs import Description, Fault, Vectors, decode_event

_Value = TypeVar("_Value")
_QUESTION_LENGTH_MAX = 60


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
    except (KeyError, TypeError, msgspec.ValidationError):
        raise _BrokenLineError from None
    if isinstance(event, Fault | Description | Vectors):
        raise _BrokenLineError
    return event


def _get(data: Mapping[str, Any], key: str, kind: type[_Value]) -> _Value:
    value = data.get(key)
    if not isinstance(value, kind):
        raise _BrokenLineError
    return value


def _get_count(data: Mapping[str, Any], key: str) -> int | None:
    return None if data.get(key) is None else _get(data, key, int)


class ReplayStoppedError(RoamtuiError):
    """A recorded question ended here without an answer, so its replay does too: the person stopped it."""


class RecordedModel:
    """Answers the n-th request of a run with its n-th recorded reply, if it is the request that was recorded."""

    def __init__(self, path: Path, environ: Mapping[str, str] | None = None) -> None:
        """Read the trace at `path`.

        Raises:
            UsageError: It cannot be read, is no trace, is broken, or has another format.
        """
        self._path = path
        self._secrets = Secrets.of(os.environ if environ is None else environ)
        self._runs = read_trace(path)
        self._run = self._runs[-1]
        self._done = 0
        """How many of the run's replies were given."""

    @property
    def name(self) -> str:
        """The file, and the model that said it where that is not the one with which the run began."""
        reply = self._next_reply
        switched = f"#{reply.model}" if reply is not None and reply.model != self._run.replies[0].model else ""
        return f"{RECORDED}{self._path}{switched}"

    @property
    def window_tokens(self) -> int | None:
        """Size of the context window that the next request was made for."""
        reply = self._next_reply
        return self._run.window_tokens if reply is None else reply.window_tokens

    @property
    def questions(self) -> tuple[str, ...]:
        """What was asked while the trace was written, over all its runs."""
        return tuple(question for run in self._runs for question in run.questions)

    @property
    def has_start(self) -> bool:
        """Whether the question that comes next brought what search found."""
        run_replies = [run.replies for run in self._runs if run.replies] if not self._done else [self._run.replies]
        requests = [replies[min(self._done, len(replies) - 1)].request for replies in run_replies if replies]
        asked = [m["text"] for request in requests for m in request["messages"][-1:] if m["role"] == Role.USER]
        return any(lead in text for text in asked for lead in (FOUND_LEAD, HITS_LEAD))

    def is_about(self, content_hash: str) -> bool:
        """Return whether the document with this digest is the recorded one."""
        return any(run.content_hash == content_hash for run in self._runs)

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the next recorded reply, without its waits.

        Raises:
            ModelError: The reply was an error, or this request was not recorded; the message says why.
            ReplayStoppedError: The person stopped the recorded question here.
        """
        reply = self._take_reply(request)
        number = self._done
        for event in reply.events:
            yield event
            await asyncio.sleep(0)
        match reply.ending:
            case Ending.ERROR:
                raise ModelError(reply.message, retryable=reply.retryable, overflow=reply.overflow)
            case Ending.DEFECT:
                raise ReplayStoppedError(f"Reply {number} of {self._path} ends in a defect: {reply.message}")
            case Ending.CANCELLED:
                raise ReplayStoppedError(f"The person stopped reply {number} of {self._path} here.")
            case Ending.CUT:
                raise ModelError(f"{self._path} ends within reply {number}: it was cut off there.")
            case Ending.WHOLE:
                pass

    async def close(self) -> None:
        """Nothing is held."""

    @property
    def _next_reply(self) -> RecordedReply | None:
        replies = self._run.replies
        return replies[min(self._done, len(replies) - 1)] if replies else None

    def _take_reply(self, request: Request) -> RecordedReply:
        """Return the recorded reply to a request, and go on to the next."""
        data = encode_request(request, self._secrets)
        if not self._done:
            fitting = (run for run in reversed(self._runs) if run.replies and _is_same(run.replies[0], data))
            self._run = next(fitting, self._run)
        replies = self._run.replies
        if self._done == len(replies) or not _is_same(replies[self._done], data):
            self._refuse(data)
        self._done += 1
        return replies[self._done - 1]

    def _refuse(self, data: Mapping[str, object]) -> NoReturn:
        replies = self._run.replies
        if self._done and replies[self._done - 1].is_abandoned:
            raise ReplayStoppedError(f"The person stopped the question after reply {self._done} of {self._path}.")
        if self._done == len(replies):
            raise ModelError(f"{self._path} holds no more than {len(replies)} replies. Ask only what was recorded.")
        why = _explain_difference(replies[self._done].request, data)
        other = self._run.version != roamtui.__version__
        versions = f" (recorded by roamtui {self._run.version}, this is {roamtui.__version__})" if other else ""
        raise ModelError(f"Request {self._done + 1} is not the one in {self._path}: {why}{versions}.")


def _is_same(reply: RecordedReply, data: Mapping[str, object]) -> bool:
    """Return whether a request is the recorded one."""
    return reply.digest == hash_request(data) or _says_the_same(reply.request, data)


def _says_the_same(recorded: Mapping[str, object], asked: Mapping[str, object]) -> bool:
    """Return whether two encoded values are alike; what is masked in the record may be anything."""
    old, new = normalise_request(recorded), normalise_request(asked)
    return old == new or (MASK in old and _fits(old.split(MASK), new))


def _fits(pieces: Sequence[str], text: str) -> bool:
    """Return whether `text` is made of `pieces` in order, with anything between them."""
    first, *between, last = pieces
    position, end = len(first), len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last)):
        return False
    for piece in between:
        found = text.find(piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return position <= end


def _explain_difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Return why a request is not the recorded one: the first difference, and what it most likely means."""
    if recorded["tools"] != asked["tools"]:
        return "the tools differ: another setting of the search, or another roamtui"
    pairs = zip(recorded["messages"], asked["messages"], strict=False)
    different = next(((old, new) for old, new in pairs if not _says_the_same(old, new)), None)
    if different is None:
        return "it goes on otherwise: other limits, or another roamtui"
    old, new = different
    match old["role"]:
        case Role.SYSTEM:
            return "the instructions to the model differ, so this is another roamtui"
        case Role.USER:
            return _explain_question(old["text"], new["text"])
        case Role.TOOL:
            return "the text of a section or the result of a search differs, so the document has changed"
        case _:
            return "what was said before differs: another conversation goes on here"


def _explain_question(recorded: str, asked: str) -> str:
    old, new = recorded.rpartition(QUESTION_START)[2], asked.rpartition(QUESTION_START)[2]
    if old == new:
        return "the outline or what was opened before the question differs: another document, or other settings"
    return f'another question was asked; the recorded one is "{shorten(plain_line(old), _QUESTION_LENGTH_MAX)}"'
