"""`RecordedModel`: replays the replies of a model from the log of a conversation, without a key or a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from roamtui.conversation.events import (
    ConversationEvent,
    QuestionAnswered,
    QuestionAsked,
    StepRecorded,
)
from roamtui.conversation.log import decode_log
from roamtui.conversation.transcript import QUESTION_START, Role, Step, StopReason, Usage
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import ModelError, StoreError, UsageError, format_reason
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived, UsageReported

RECORDED = "recorded:"
"""Prefix of the name of a recorded model. The path of the file follows."""
_PIECE = re.compile(r"\S+\s*|\s+")
_QUESTION_LENGTH_MAX = 60
_EMPTY_STEP = Step(text="", uses=())
_Reply = tuple[ModelEvent, ...]


class RecordedModel:
    """Replays the recorded replies to each question in order. A reply is found by its question, not by the prompt."""

    def __init__(self, path: Path) -> None:
        """Load the log of one conversation.

        Raises:
            UsageError: The file cannot be read, or does not contain a conversation.
        """
        if not path.is_file():
            raise UsageError(f"cannot replay {path}: {'not a file' if path.exists() else 'no such file'}.")
        try:
            self._events, _ = decode_log(path.read_bytes(), str(path))
        except OSError as error:
            raise UsageError(f"cannot replay {path}: {format_reason(error)}.") from None
        except StoreError as error:
            raise UsageError(f"cannot replay: {error}") from None
        self._path = path
        self._asked = [event for event in self._events if isinstance(event, QuestionAsked)]
        self.questions = tuple(event.question for event in self._asked)
        self.name = f"{RECORDED}{path}"
        self._pending: list[_Reply] = []
        """The replies to the current question that were not replayed yet."""

    @property
    def window_tokens(self) -> int | None:
        """Size of the context window of the recorded model."""
        return self._asked[0].window_tokens if self._asked else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the next recorded reply to the question of the request.

        Raises:
            ModelError: There is no reply. The message says why.
        """
        if request.messages[-1].role is Role.USER:
            self._pending = self._find_replies(request.messages[-1].text)
        if not self._pending:
            raise ModelError(f"{self._path} has no more replies to this question.")
        for event in self._pending.pop(0):
            yield event
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Nothing to release."""

    def _find_replies(self, text: str) -> list[_Reply]:
        for asked in self._asked:
            if text == asked.question or text.endswith(f"{QUESTION_START}{asked.question}"):
                return list(_iter_replies(self._events[self._events.index(asked) + 1 :]))
        recorded = shorten(sanitise_line(", ".join(self.questions)), _QUESTION_LENGTH_MAX)
        raise ModelError(f'{self._path} has no reply to this question; the recorded one is "{recorded}".')


def _iter_replies(events: Sequence[ConversationEvent]) -> Iterator[_Reply]:
    """Yield the replies to a question from the events after it."""
    used = Usage()
    for event in events:
        match event:
            case StepRecorded(step=step) if step.uses or step.reminder:
                used += step.usage
                yield _make_reply(step.text, step, step.usage)
            case QuestionAnswered(usage=total) as answered:
                if answered.stopped not in (StopReason.ERROR, StopReason.CANCELLED, StopReason.COST):
                    cost = None if total.cost_usd is None else total.cost_usd - (used.cost_usd or 0.0)
                    rest = replace(
                        total,
                        input_tokens=total.input_tokens - used.input_tokens,
                        output_tokens=total.output_tokens - used.output_tokens,
                        cached_tokens=total.cached_tokens - used.cached_tokens,
                        cost_usd=cost,
                    )
                    yield _make_reply(answered.said or answered.answer, _EMPTY_STEP, rest)
                return
            case QuestionAsked():
                return
            case _:
                pass


def _make_reply(text: str, step: Step, usage: Usage) -> _Reply:
    reported = (UsageReported(usage),) if usage != Usage() else ()
    return (
        *map(TextDelta, _PIECE.findall(text)),
        *(ToolCallReceived(use.call) for use in step.uses),
        *reported,
        ReplyFinished("tool_calls" if step.uses else "stop"),
    )
