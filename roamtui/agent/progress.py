"""How far one question has come: the reply that the model is giving, what it cost, why it ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from roamtui.agent.prompt import CALL_NOT_RUN, LIMIT_REACHED
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    make_draft,
)
from roamtui.conversation.transcript import Step, Stopped, ToolCall, ToolUse, Usage
from roamtui.models.base import (
    CallMade,
    Model,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)


@dataclass(slots=True)
class Reply:
    """What the model has said in one step, and what its calls gave so far."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    """Those calls that were run, with their results."""
    thinking: str = ""
    reason: str = ""
    """Why it ended, as `ModelStopped` has it."""
    usage: Usage | None = None
    """Of this reply alone, None until it is reported."""

    def make_step(self) -> Step:
        """Return calls and results as one value; a call that was not run says so."""
        missing = (ToolUse(call=call, result=CALL_NOT_RUN) for call in self.calls[len(self.uses) :])
        return Step(text=self.text, uses=(*self.uses, *missing), thinking=self.thinking, usage=self.usage or Usage())

    def make_refused_step(self) -> Step:
        """Return the calls made although no steps are left; the text is the answer, so it is not repeated here."""
        uses = tuple(ToolUse(call=call, result=LIMIT_REACHED) for call in self.calls)
        return Step(text="", uses=uses, thinking=self.thinking, usage=self.usage or Usage())


@dataclass(slots=True)
class Progress:
    """How far one question has come."""

    reply: Reply = field(default_factory=Reply)
    usage: Usage = field(default_factory=Usage)
    stopped: Stopped = Stopped.ANSWERED
    steps: int = 0
    is_running_calls: bool = False
    has_reminded: bool = False
    """Whether the model was told once that its reply was no answer yet."""
    draft: str = ""
    """That reply: the answer where nothing better follows."""
    said: str = ""
    """Text of the model since it did something last."""

    def note(self, event: ConversationEvent) -> tuple[ConversationEvent, ...]:
        """Return what is to be recorded of an event that no command made, after what the model said before it."""
        match event:
            case AnswerStreamed(text=text):
                self.said += text
                return ()
            case StepStarted():
                return self.take_draft()
            case SectionsSearched() | ReminderSent() | RetryScheduled():
                return (*self.take_draft(), event)
            case _:
                return ()

    def take_draft(self) -> tuple[ConversationEvent, ...]:
        """Return what the model has said before it goes on working."""
        draft, self.said = make_draft(self.said), ""
        return draft

    def make_reminded_step(self, reminder: str) -> Step:
        """Return the reply that was no answer yet, with what the model is told of it."""
        self.has_reminded = True
        self.draft = self.reply.text
        step, self.reply = replace(self.reply.make_step(), reminder=reminder), Reply()
        return step

    def last_words(self) -> str:
        """Return what the model has said last that could be an answer."""
        return self.reply.text if self.reply.text.strip() else self.draft

    def last_cost_usd(self) -> float:
        """Return what one step of this question has cost on average, as a guess for the next."""
        return (self.usage.cost_usd or 0.0) / max(1, self.steps - 1)

    def interrupted_step(self) -> Step | None:
        """Return the step whose calls were being run, None between steps."""
        return self.reply.make_step() if self.is_running_calls else None


async def listen(model: Model, request: Request, progress: Progress) -> AsyncGenerator[ConversationEvent, None]:
    """Send a request, fill `progress.reply` from the stream, and yield what a person can watch of it.

    Raises:
        ModelError: The model could not answer.
    """
    reply = progress.reply
    call_ids = {call.id for message in request.messages for call in message.tool_calls}
    async with aclosing(model.stream(request)) as stream:  # type: ignore[type-var]
        async for event in stream:
            match event:
                case TextDelta(text):
                    reply.text += text
                    yield AnswerStreamed(text=text)
                case ThinkingDelta(text):
                    yield ThinkingStreamed(text=text)
                case CallMade(call):
                    reply.calls.append(_give_own_id(call, call_ids))
                case UsageReported(usage):
                    reply.usage = usage
                    progress.usage += usage
                case Retrying(reason, wait_seconds):
                    yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                case ModelStopped(reason, thinking):
                    reply.reason, reply.thinking = reason, thinking
                case _:
                    assert_never(event)


def _give_own_id(call: ToolCall, taken: set[str]) -> ToolCall:
    """Return a call whose id no other call of the conversation has; some servers number those of each reply anew."""
    number, call_id = 1, call.id
    while not call_id or call_id in taken:
        number += 1
        call_id = f"{call.id or 'call'}_{number}"
    taken.add(call_id)
    return call if call_id == call.id else replace(call, id=call_id)
