"""`RecordedModel`: the replies of a trace, said again to the same requests; it needs no key and no network."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, NoReturn

import roamtui
from roamtui.conversation.transcript import FOUND_LEAD, QUESTION_START, Role
from roamtui.document.plain import plain_line, shorten
from roamtui.errors import ModelError, RoamtuiError
from roamtui.models.redacting import MASK, Secrets
from roamtui.models.trace import RECORDED, encode_request, hash_request, normalise_request
from roamtui.models.trace_file import Ending, RecordedReply, read_trace

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from roamtui.models.base import ModelEvent, Request


_QUESTION_LENGTH_MAX = 60


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
        """Whether search had opened sections with the question that comes next."""
        run_replies = [run.replies for run in self._runs if run.replies] if not self._done else [self._run.replies]
        requests = [replies[min(self._done, len(replies) - 1)].request for replies in run_replies if replies]
        asked = [m["text"] for request in requests for m in request["messages"][-1:] if m["role"] == Role.USER]
        return any(FOUND_LEAD in text for text in asked)

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
