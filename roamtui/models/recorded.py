"""`RecordedModel`: replays a model's replies from the log of a conversation, without a key or a network.

A reply is found by its question, so that a replay still works when a later version changes the rest of the prompt.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationStarted,
    DocumentIdentified,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    StepRecorded,
    TranscriptRebuilt,
)
from roamtui.conversation.log import decode_log
from roamtui.conversation.transcript import (
    FOUND_LEAD,
    HITS_LEAD,
    QUESTION_START,
    Role,
    Step,
    StopReason,
    Usage,
)
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import ModelError, RoamtuiError, StoreError, UsageError, format_reason
from roamtui.models.base import (
    ModelEvent,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.secrets import Secrets

RECORDED = "recorded:"
"""Prefix of the name of a recorded model. The path of the file follows."""
_PIECE = re.compile(r"\S+\s*|\s+")
_QUESTION_LENGTH_MAX = 60
_EMPTY_STEP = Step(text="", uses=())


class ReplayStoppedError(RoamtuiError):
    """The person cancelled the recorded question here, so the replay ends here too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReply:
    """The reply of a model to one request."""

    question_event: QuestionAsked
    is_first: bool
    """Whether it is the first reply to its question."""
    events: tuple[ModelEvent, ...] = ()
    error: RoamtuiError | None = None
    """Error that ended the reply, if any."""


def _iter_replies(events: Sequence[ConversationEvent], path: Path) -> Iterator[RecordedReply]:
    """Yield the replies to one question from its events. Error messages name `path`."""
    question_event = events[0]
    assert isinstance(question_event, QuestionAsked)
    end = next((event for event in events if isinstance(event, QuestionAnswered)), None)
    steps = [event.step for event in events if isinstance(event, StepRecorded)]
    # At the step limit, the last step and the answer come from one reply.
    last_step = steps[-1] if steps and end is not None and end.stopped is StopReason.STEP_LIMIT else _EMPTY_STEP
    pending: list[ModelEvent] = []
    is_first = True
    for event in events:
        error: RoamtuiError | None = None
        match event:
            case RetryScheduled(reason=reason, wait_seconds=wait):
                pending.append(RetryPending(reason, wait))
                continue
            case TranscriptRebuilt(was_refused=True):
                error = ModelError("The request was too long.", overflow=True)
            case StepRecorded(step=step) if step is not last_step:
                pending += _make_reply(step.text, step, step.usage)
            case QuestionAnswered(usage=total):
                # The usage of the last reply is the total minus the usage of the steps before it.
                used = Usage.total(step.usage for step in steps if step is not last_step)
                last_usage = replace(
                    total,
                    input_tokens=total.input_tokens - used.input_tokens,
                    output_tokens=total.output_tokens - used.output_tokens,
                    cached_tokens=total.cached_tokens - used.cached_tokens,
                    cost_usd=None if total.cost_usd is None else total.cost_usd - (used.cost_usd or 0.0),
                )
                pending += _make_reply(event.said or event.answer, last_step, last_usage)
                was_asked = not is_first or event.answer
                if event.stopped is StopReason.CANCELLED and was_asked:
                    error = ReplayStoppedError(f"This question of {path} was cancelled here.")
                elif event.stopped in (StopReason.CANCELLED, StopReason.COST):
                    return
                elif event.stopped is StopReason.ERROR:
                    error = ModelError(event.error)
            case _:
                continue
        yield RecordedReply(question_event=question_event, is_first=is_first, events=tuple(pending), error=error)
        pending, is_first = [], False
    if end is None:
        error = ModelError(f"{path} ends in the middle of this question.")
        yield RecordedReply(question_event=question_event, is_first=is_first, error=error)


def _make_reply(text: str, step: Step, usage: Usage) -> Iterator[ModelEvent]:
    yield from map(TextDelta, _PIECE.findall(text))
    yield from (ToolCallReceived(use.call) for use in step.uses)
    if usage != Usage():
        yield UsageReported(usage)
    yield ReplyFinished("tool_calls" if step.uses else "stop", step.thinking)


class RecordedModel:
    """Replays the recorded replies to each question in order."""

    def __init__(self, path: Path, environ: Mapping[str, str] | None = None) -> None:
        """Load a file. If it has several conversations, the replay starts with the last one that has a question.

        Raises:
            UsageError: The file cannot be read, or does not contain a conversation.
        """
        if not path.exists():
            raise UsageError(f"cannot replay {path}: no such file.")
        if not path.is_file():
            raise UsageError(f"cannot replay {path}: not a file.")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {format_reason(error)}.") from None
        try:
            events, _ = decode_log(content, str(path))
        except StoreError as error:
            raise UsageError(f"cannot replay: {error}") from None
        self._path = path
        self._secrets = Secrets.from_environ(os.environ if environ is None else environ)
        self._events = events
        self.questions = tuple(event.question for event in self._events if isinstance(event, QuestionAsked))
        self._replies_by_conversation = [
            [reply for question in _split_at(run, QuestionAsked) for reply in _iter_replies(question, path)]
            for run in _split_at(self._events, ConversationStarted)
        ]
        self._replies = next((run for run in reversed(self._replies_by_conversation) if run), [])
        self._done = 0
        """Number of replies in `_replies` that were replayed."""

    @property
    def name(self) -> str:
        """Prefix and path, and the recorded model if it is not the first one of the conversation."""
        event = self._next_question_event
        switched = (
            f"#{event.model}" if event is not None and event.model != self._replies[0].question_event.model else ""
        )
        return f"{RECORDED}{self._path}{switched}"

    @property
    def window_tokens(self) -> int | None:
        """Size of the context window when the next question was recorded."""
        return None if self._next_question_event is None else self._next_question_event.window_tokens

    @property
    def had_retrieval(self) -> bool:
        """Whether the next question came with search results."""
        preface = "" if self._next_question_event is None else self._next_question_event.preface
        return FOUND_LEAD in preface or HITS_LEAD in preface

    def is_about(self, content_hash: str) -> bool:
        """Check whether a recorded document has this digest."""
        return any(
            isinstance(event, DocumentIdentified) and event.content_hash == content_hash for event in self._events
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the next recorded reply to the question of the request, without its waits.

        Raises:
            ModelError: The reply was an error, or is missing. The message says why.
            ReplayStoppedError: The person cancelled the recorded question here.
        """
        reply = self._find_next_reply(request)
        for event in reply.events:
            yield event
            await asyncio.sleep(0)
        if reply.error is not None:
            raise reply.error

    async def close(self) -> None:
        """Nothing to release."""

    @property
    def _next_question_event(self) -> QuestionAsked | None:
        return self._replies[min(self._done, len(self._replies) - 1)].question_event if self._replies else None

    def _find_next_reply(self, request: ModelRequest) -> RecordedReply:
        last_message = request.messages[-1]
        previous_error = self._replies[self._done - 1].error if self._done else None
        # After an overflow, the same question is sent again, and the recording continues.
        is_retry = isinstance(previous_error, ModelError) and previous_error.overflow
        if last_message.role is Role.USER and not is_retry:
            text = self._secrets.redact(last_message.text)
            for run, start in (
                (self._replies, self._done),
                *((run, 0) for run in reversed(self._replies_by_conversation)),
            ):
                for index in range(start, len(run)):
                    question = run[index].question_event.question
                    if run[index].is_first and (text == question or text.endswith(f"{QUESTION_START}{question}")):
                        self._replies, self._done = run, index + 1
                        return run[index]
        if self._done == len(self._replies) or self._replies[self._done].is_first:
            message, event = f"{self._path} has no more replies to this question.", self._next_question_event
            if event is not None and last_message.role is Role.USER:
                recorded = shorten(sanitise_line(event.question), _QUESTION_LENGTH_MAX)
                message = f'{self._path} has no reply to this question; the recorded one is "{recorded}".'
            raise ModelError(message)
        self._done += 1
        return self._replies[self._done - 1]


def _split_at(events: Sequence[ConversationEvent], kind: type[ConversationEvent]) -> list[Sequence[ConversationEvent]]:
    """Split events into parts, each of which starts with an event of type `kind`."""
    starts = [index for index, event in enumerate(events) if isinstance(event, kind)]
    return [events[start:end] for start, end in zip(starts, (*starts[1:], len(events)), strict=False)]
