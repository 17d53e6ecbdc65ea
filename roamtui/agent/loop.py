"""The loop: a question goes to the model, its calls are run, until it answers."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from roamtui.agent.answer import complete_answer
from roamtui.agent.events import (
    AgentEvent,
    AnswerStreamed,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.agent.options import AgentOptions
from roamtui.agent.prompt import CALL_NOT_RUN, LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM
from roamtui.agent.room import estimate_request, find_room
from roamtui.agent.tools.base import Tool, ToolContext, ToolOutcome, read_arguments
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.expand import ExpandTool
from roamtui.agent.tools.search import SearchTool
from roamtui.conversation.questions import Briefing, Outcome
from roamtui.conversation.transcript import Step, Stopped, ToolCall, ToolUse, Usage
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import ModelError, RoamtuiError
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
from roamtui.models.choose import start_model
from roamtui.outline.render import render_outline

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from roamtui.conversation.session import Session
    from roamtui.search.base import Searcher


@dataclass(slots=True)
class _Reply:
    """What the model has said in one step, and what its calls gave so far."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    thinking: str = ""

    def make_step(self) -> Step:
        """Return calls and results as one value; a call that was not run says so."""
        missing = [CALL_NOT_RUN] * (len(self.calls) - len(self.results))
        uses = tuple(
            ToolUse(call=call, result=result) for call, result in zip(self.calls, self.results + missing, strict=True)
        )
        return Step(text=self.text, uses=uses, thinking=self.thinking)

    def make_refused_step(self) -> Step:
        """Return the calls made although no steps are left; the text is the answer, so it is not repeated here."""
        uses = tuple(ToolUse(call=call, result=LIMIT_REACHED) for call in self.calls)
        return Step(text="", uses=uses, thinking=self.thinking)


@dataclass(slots=True)
class _Progress:
    """How far one question has come."""

    reply: _Reply = field(default_factory=_Reply)
    usage: Usage = field(default_factory=Usage)
    stopped: Stopped = Stopped.ANSWERED
    steps: int = 0
    is_running_calls: bool = False

    def interrupted_step(self) -> Step | None:
        """Return the step whose calls were being run, None between steps."""
        return self.reply.make_step() if self.is_running_calls else None


class Agent:
    """Answers questions in one session with one model at a time."""

    def __init__(
        self, session: Session, model: Model, searcher: Searcher | None = None, options: AgentOptions | None = None
    ) -> None:
        """Answer with `model`; without a searcher the model has no `search_sections`."""
        self.session = session
        self.model = model
        self.searcher = searcher
        self.options = options or AgentOptions()
        self._tools: Mapping[str, Tool] = {
            tool.spec.name: tool
            for tool in (ExpandTool(), CollapseTool(), *((SearchTool(),) if searcher is not None else ()))
        }

    async def ask(self, question: str) -> AsyncIterator[AgentEvent]:
        """Answer `question` and yield what happens; `QuestionAnswered` is the last event.

        A failure of the model is an event too. Closing or cancelling this keeps what was answered so far.
        """
        exchange = _Progress()
        await start_model(self.model)
        self.session.fit_window(self.model.window_tokens)
        number = self.session.state.question_number + 1
        try:
            for change in await self.session.begin_question(question, self._brief()):
                yield change
            yield QuestionAsked(number=self.session.state.question_number, question=question)
            try:
                async with aclosing(self._roam(exchange)) as events:
                    async for event in events:
                        yield event
                outcome = complete_answer(
                    self.session.state, exchange.reply.text, exchange.stopped, exchange.usage, self.searcher
                )
            except ModelError as error:
                outcome = Outcome(
                    answer=exchange.reply.text, stopped=Stopped.ERROR, usage=exchange.usage, error=str(error)
                )
            for change in await self.session.finish_question(outcome):
                yield change
            yield self._tell(outcome, exchange.steps)
        finally:
            if self.session.state.is_asking and self.session.state.question_number == number:
                partial = Outcome(answer=exchange.reply.text, stopped=Stopped.CANCELLED, usage=exchange.usage)
                self.session.abandon_question(partial, step=exchange.interrupted_step())

    async def _roam(self, exchange: _Progress) -> AsyncGenerator[AgentEvent, None]:
        """Ask the model step by step, and run its calls, until it answers or the limit is reached."""
        steps_max = self.options.steps_max
        for step in range(1, steps_max + 1):
            exchange.steps = step
            exchange.reply = _Reply()
            request = self._make_request(allow_calls=step < steps_max)
            yield StepStarted(number=step, input_tokens=estimate_request(request))
            async with aclosing(self._listen(request, exchange)) as heard:
                async for event in heard:
                    yield event
            if not exchange.reply.calls:
                return
            if step == steps_max:
                exchange.stopped = Stopped.STEP_LIMIT
                for failure in await self.session.record_step(exchange.reply.make_refused_step()):
                    yield failure
                return
            async with aclosing(self._run_calls(exchange, is_next_last=step + 1 == steps_max)) as done:
                async for event in done:
                    yield event

    def _brief(self) -> Briefing:
        window = self.model.window_tokens
        outline = render_outline(self.session.state.library, budget_tokens=self.options.outline_budget(window))
        return Briefing(
            system=SYSTEM, outline=outline, model=self.model.name, room_tokens=self.options.preface_room(window)
        )

    def _make_request(self, *, allow_calls: bool) -> Request:
        return Request(
            messages=tuple(self.session.state.transcript.messages()),
            tools=tuple(tool.spec for tool in self._tools.values()),
            allow_calls=allow_calls,
        )

    async def _listen(self, request: Request, exchange: _Progress) -> AsyncGenerator[AgentEvent, None]:
        """Collect the model's reply and yield what a person can watch of it."""
        reply = exchange.reply
        call_ids = {call.id for message in request.messages for call in message.tool_calls}
        async with aclosing(self.model.stream(request)) as stream:  # type: ignore[type-var]
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
                        exchange.usage += usage
                    case Retrying(reason, wait_seconds):
                        yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                    case ModelStopped(thinking=thinking):
                        reply.thinking = thinking
                    case _:
                        assert_never(event)

    async def _run_calls(self, exchange: _Progress, *, is_next_last: bool) -> AsyncGenerator[AgentEvent, None]:
        """Run the calls of a reply in order, then record them with their results as one step."""
        reply = exchange.reply
        exchange.is_running_calls = True
        room = find_room(self._make_request(allow_calls=True), self.model.window_tokens)
        for index, call in enumerate(reply.calls):
            if index >= self.options.calls_max:
                reply.results.append(f"{LIMIT_REACHED}: at most {self.options.calls_max} calls a step")
                continue
            outcome = await self._run_call(call, room)
            room = max(0, room - estimate_tokens(outcome.text))
            reply.results.append(outcome.text)
            for event in outcome.events:
                yield event
            yield outcome.finished
        if is_next_last:
            reply.results[-1] += f"\n{LAST_STEP_NOTE}"
        exchange.is_running_calls = False
        exchange.reply = _Reply()
        for failure in await self.session.record_step(reply.make_step()):
            yield failure

    async def _run_call(self, call: ToolCall, room_tokens: int) -> ToolOutcome:
        tool = self._tools.get(call.name)
        if tool is None:
            text = f'There is no tool "{call.name[:60]}". The tools are {", ".join(self._tools)}.'
            return ToolOutcome(text=text, finished=ToolFinished(tool=call.name[:60]))
        context = ToolContext(session=self.session, searcher=self.searcher, room_tokens=room_tokens)
        try:
            return await tool.run(read_arguments(call.arguments), context)
        except RoamtuiError as error:
            return ToolOutcome(text=f"{call.name} failed: {error}", finished=ToolFinished(tool=call.name))

    def _tell(self, outcome: Outcome, steps: int) -> QuestionAnswered:
        return QuestionAnswered(
            number=self.session.state.question_number,
            answer=outcome.answer,
            stopped=outcome.stopped,
            citations=outcome.citations,
            usage=outcome.usage,
            steps=steps,
            error=outcome.error,
        )


def _give_own_id(call: ToolCall, taken: set[str]) -> ToolCall:
    """Return a call whose id no other call of the conversation has; some servers number those of each reply anew."""
    number, call_id = 1, call.id
    while not call_id or call_id in taken:
        number += 1
        call_id = f"{call.id or 'call'}_{number}"
    taken.add(call_id)
    return call if call_id == call.id else replace(call, id=call_id)
