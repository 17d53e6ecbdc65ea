"""`RecordedModel`: replays the replies of a model from the log of a conversation, without a key or a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from roamtui.conversation.events import QuestionAnswered, QuestionAsked, StepRecorded
from roamtui.conversation.log import decode_log
from roamtui.conversation.transcript import QUESTION_START, Role, Step, StopReason
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import ModelError, StoreError, UsageError, format_reason
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived

RECORDED = "recorded:"
"""Prefix of the name of a recorded model. The path of the file follows."""
_PIECE = re.compile(r"\S+\s*|\s+")
_QUESTION_LENGTH_MAX = 60
_FAILURES = (StopReason.ERROR, StopReason.CANCELLED, StopReason.COST)


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
            events, _ = decode_log(path.read_bytes(), str(path))
        except OSError as error:
            raise UsageError(f"cannot replay {path}: {format_reason(error)}.") from None
        except StoreError as error:
            raise UsageError(f"cannot replay: {error}") from None
        self._path = path
        self.name = f"{RECORDED}{path}"
        self.window_tokens: int | None = None
        self._replies: dict[str, list[Step]] = {}
        """The replies to each question."""
        self._pending: list[Step] = []
        """The replies to the current question that were not replayed yet."""
        replies: list[Step] = []
        for event in events:
            match event:
                case QuestionAsked(question=question):
                    replies = []  # only the first answer to a question is replayed
                    self._replies.setdefault(question, replies)
                case StepRecorded(step=step) if step.uses or step.reminder:
                    replies.append(step)
                case QuestionAnswered(stopped=stopped) if stopped not in _FAILURES:
                    replies.append(Step(text=event.said or event.answer, uses=()))
                case _:
                    pass

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that it answers."""
        return tuple(self._replies)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the next recorded reply to the question of the request.

        Raises:
            ModelError: There is no reply. The message says why.
        """
        if request.messages[-1].role is Role.USER:
            self._pending = self._get_replies(request.messages[-1].text)
        if not self._pending:
            raise ModelError(f"{self._path} has no more replies to this question.")
        step = self._pending.pop(0)
        for piece in _PIECE.findall(step.text):
            yield TextDelta(piece)
            await asyncio.sleep(0)
        for use in step.uses:
            yield ToolCallReceived(use.call)
        yield ReplyFinished("tool_calls" if step.uses else "stop")

    async def close(self) -> None:
        """Nothing to release."""

    def _get_replies(self, text: str) -> list[Step]:
        for question, replies in self._replies.items():
            if text == question or text.endswith(f"{QUESTION_START}{question}"):
                return [*replies]
        recorded = shorten(sanitise_line(", ".join(self.questions)), _QUESTION_LENGTH_MAX)
        raise ModelError(f'{self._path} has no reply to this question; the recorded one is "{recorded}".')
