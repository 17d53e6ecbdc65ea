"""The loop: a question goes to the model, its calls are run, until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from roamtui.agent.answer import complete_answer, find_reminder
from roamtui.agent.hits import Start, find_start, list_whole, tell_search
from roamtui.agent.options import AgentOptions, ConfidentStart
from roamtui.agent.prompt import CALL_NOT_RUN, LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM, WHOLE_NOTE
from roamtui.agent.room import TokenCalibration, estimate_request, find_room, has_room
from roamtui.agent.tools import make_tools
from roamtui.agent.tools.base import Tool, ToolContext, ToolOutcome, read_arguments
from roamtui.conversation.commands import CostApproval
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    QuestionAnswered,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
    make_draft,
)
from roamtui.conversation.questions import Briefing
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Step, Stopped, ToolCall, ToolUse, Usage
from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import (
    CallMade,
    Model,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
    start_model,
)
from roamtui.models.choose import OFFLINE
from roamtui.models.recorded import RecordedModel
from roamtui.outline.render import limit_outline, render_outline
from roamtui.search.base import Searcher

_FOUND_WINDOW_SHARE = 0.15
"""Of the window, for what search brings with a question."""
_PREFACE_WINDOW_SHARE = 0.4
_PREFACE_TOKENS_MAX = 32_000
"""Of sections that a person opened, before a question."""
_HISTORY_WINDOW_SHARE = 0.2
"""Of the window, for earlier questions and answers after a rebuild."""


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

    def make_step(self, missing_result: str = CALL_NOT_RUN) -> Step:
        """Return calls and results as one value; of a call that was not run why."""
        missing = (ToolUse(call=call, result=missing_result) for call in self.calls[len(self.uses) :])
        return Step(text=self.text, uses=(*self.uses, *missing), thinking=self.thinking, usage=self.usage or Usage())


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

    def last_words(self) -> str:
        """Return what the model has said last that could be an answer."""
        return self.reply.text if self.reply.text.strip() else self.draft


class Agent:
    """Answers questions in one session with one model at a time."""

    def __init__(
        self,
        session: Session,
        model: Model,
        searcher: Searcher | None = None,
        options: AgentOptions | None = None,
    ) -> None:
        """Answer with `model`; without a searcher there is no `search_sections`."""
        self.session = session
        self.model = model
        self.searcher = searcher
        self.options = options or AgentOptions()
        self._consented_id = ""
        """The conversation that may pass the spending cap."""
        self._outline: tuple[Library, int, str] | None = None
        """The outline that was made last, with the library and the budget that it was made for."""
        self._calibration = TokenCalibration()
        self._tools: Mapping[str, Tool] = {}
        """Those of the question under way: a folder may have grown since the one before."""

    async def ask(self, question: str, *, within: str | None = None) -> AsyncIterator[ConversationEvent]:
        """Answer `question` and yield what happens; `QuestionAnswered` is the last event.

        Files that are not loaded yet are loaded first: the outline and search know whole texts alone. A failure of the
        model is an event too. Closing or cancelling this keeps what was answered so far.

        Args:
            question: A person's words.
            within: Id of the section that the question is about, None for the whole document.

        Raises:
            UnknownSectionError: `within` names no section; nothing has happened then.
        """
        async for change in self.session.load_all():
            yield change
        library = self.session.state.library
        if within is not None and within not in library:
            raise UnknownSectionError(within)
        if self.searcher is not None:
            self.searcher.refresh(library)
        self._tools = make_tools(library, has_search=self.searcher is not None)
        progress = Progress()
        await start_model(self.model)
        self.session.fit_window(self._calibration.find_window(self.model))
        number = self.session.state.question_number + 1
        is_saved = False
        try:
            for told in await self._begin(question, within):
                yield told
            try:
                async with aclosing(self._roam(progress)) as events:
                    async for event in events:
                        self.session.record(progress.note(event))
                        yield event
                words, reason = progress.last_words(), progress.reply.reason
                outcome = complete_answer(self.session.state, words, progress.stopped, self.searcher, reason=reason)
            except ModelError as error:
                outcome = QuestionAnswered(answer=progress.last_words(), stopped=Stopped.ERROR, error=str(error))
            changes = await self.session.finish_question(replace(outcome, usage=progress.usage, steps=progress.steps))
            is_saved = True
            for change in changes:
                yield change
        finally:
            if self.session.state.is_asking and self.session.state.question_number == number:
                partial = QuestionAnswered(
                    answer=progress.last_words(),
                    stopped=Stopped.CANCELLED,
                    usage=progress.usage,
                    steps=progress.steps,
                )
                step = progress.reply.make_step() if progress.is_running_calls else None
                self.session.abandon_question(partial, step=step)
            elif not is_saved:
                self.session.save_now()

    async def _begin(self, question: str, within: str | None) -> tuple[ConversationEvent, ...]:
        """Take up a question, with sections open where search is clear, and return what happened."""
        state, start = self.session.state, Start()
        room = self._take_share(_FOUND_WINDOW_SHARE)
        if self._brings_start():
            if whole := list_whole(state.library, room):
                start = Start(opened=tuple(i for i in whole if state.find_open(i) is None))
            elif self.searcher is not None:
                start = await find_start(self.searcher, state, question, within, room_tokens=room)
        briefing = replace(
            self._brief(start.opened),
            within=within,
            hits=start.listed.text,
            excerpts=start.listed.excerpts,
            searched=(tell_search(state.library, question, start.hits),) if start.hits else (),
        )
        changes = await self.session.begin_question(question, briefing)
        return tuple(change for change in changes if not isinstance(change, QuestionAnswered))

    def _brings_start(self) -> bool:
        """Return whether a question goes to the model with what search finds for it; to a recording as it did then."""
        if isinstance(self.model, RecordedModel):
            return self.model.has_start
        mode = self.options.confident_start
        return mode is ConfidentStart.ALWAYS or (mode is ConfidentStart.REMOTE and self.model.name != OFFLINE)

    def _take_share(self, share: float) -> int | None:
        """Return so much of the model's window in tokens, None where that is unknown."""
        window = self._calibration.find_window(self.model)
        return None if window is None else int(window * share)

    def _brief(self, opened: tuple[str, ...] = ()) -> Briefing:
        """Return what the model is told besides the conversation, where these sections are opened with it."""
        state = self.session.state
        room = self._take_share(_PREFACE_WINDOW_SHARE)
        whole = list_whole(state.library, self._take_share(_FOUND_WINDOW_SHARE)) if self._brings_start() else ()
        is_whole = bool(whole) and {*whole} <= {*state.open_ids, *opened}
        return Briefing(
            system=SYSTEM,
            outline=WHOLE_NOTE if is_whole else self._make_outline(),
            model=self.model.name,
            window_tokens=self.model.window_tokens,
            room_tokens=_PREFACE_TOKENS_MAX if room is None else min(_PREFACE_TOKENS_MAX, room),
            history_tokens=self._take_share(_HISTORY_WINDOW_SHARE),
            found=opened,
            preferences=self.options.read_preferences() if self.options.read_preferences is not None else "",
        )

    def _make_outline(self) -> str:
        """Return the outline, made anew for another library or budget alone: it can take longer than a step."""
        library = self.session.state.library
        window = self._calibration.find_window(self.model)
        budget = limit_outline(library, window, tokens=self.options.outline_tokens)
        if self._outline is None or self._outline[0] is not library or self._outline[1] != budget:
            self._outline = (library, budget, render_outline(library, budget_tokens=budget))
        return self._outline[2]

    def _make_request(self, *, allow_calls: bool) -> Request:
        return Request(
            messages=tuple(self.session.state.transcript.messages()),
            tools=tuple(tool.spec for tool in self._tools.values()),
            allow_calls=allow_calls,
        )

    async def _roam(self, progress: Progress) -> AsyncGenerator[ConversationEvent, None]:
        """Ask the model step by step, and run its calls, until it answers or the limit is reached."""
        steps_max = self.options.steps_max
        for number in range(1, steps_max + 1):
            progress.steps = number
            is_last = number == steps_max
            if not await self._may_spend(progress):
                progress.stopped = Stopped.COST
                return
            async with aclosing(self._ask_model(progress, allow_calls=not is_last)) as events:
                async for event in events:
                    yield event
            reply = progress.reply
            if reply.calls and is_last:
                progress.stopped = Stopped.STEP_LIMIT
                step = replace(reply.make_step(LIMIT_REACHED), text="")  # the text is the answer
            elif reply.calls:
                async with aclosing(self._run_calls(progress, is_next_last=number + 1 == steps_max)) as events:
                    async for event in events:
                        yield event
                progress.reply, step = Reply(), reply.make_step()
            else:
                may_remind = not (is_last or progress.has_reminded)
                reminder = find_reminder(self.session.state, reply.text, reply.reason) if may_remind else ""
                if not reminder:
                    return
                yield ReminderSent(text=reminder)
                progress.has_reminded, progress.draft = True, reply.text
                progress.reply, step = Reply(), replace(reply.make_step(), reminder=reminder)
            for failure in await self.session.record_step(step):
                yield failure

    async def _may_spend(self, progress: Progress) -> bool:
        """Return whether the next request may be sent: below the spending cap, or with the person's consent.

        What it will cost is guessed by what a step of the question has cost on average.
        """
        cap = self.options.cost_usd_max
        if cap is None or self._consented_id == self.session.state.id:
            return True
        cost = progress.usage.cost_usd or 0.0
        before = sum(exchange.usage.cost_usd or 0.0 for exchange in self.session.state.transcript.exchanges)
        if before + cost + cost / max(1, progress.steps - 1) <= cap:
            return True
        if not await self.session.approver(CostApproval(spent_usd=before + cost, cap_usd=cap)):
            return False
        self._consented_id = self.session.state.id
        return True

    async def _ask_model(self, progress: Progress, *, allow_calls: bool) -> AsyncGenerator[ConversationEvent, None]:
        """Send one request. Room is made before one that does not fit, and once more where the model still says so."""
        request = self._make_request(allow_calls=allow_calls)
        is_fitting = has_room(request, self._calibration.find_window(self.model))
        changes = () if is_fitting else await self.session.make_room(self._brief())
        for may_repair in (True, False):
            for change in changes:
                yield change
            request = self._make_request(allow_calls=allow_calls)
            progress.reply = Reply()
            asked = self.model.name
            yield StepStarted(number=progress.steps, input_tokens=estimate_request(request))
            try:
                async with aclosing(listen(self.model, request, progress)) as events:
                    async for event in events:
                        for change in await self.session.record_draft(progress.reply.text):
                            yield change
                        yield event
            except ModelError as error:
                if not (may_repair and error.overflow):
                    raise
                transcript = self.session.state.transcript
                changes = await self.session.make_room(replace(self._brief(), was_refused=True))
                if self.session.state.transcript is transcript:
                    raise  # there is no room to be made
            else:
                self._calibration.learn(asked, request, progress.reply.usage)
                return

    async def _run_calls(self, progress: Progress, *, is_next_last: bool) -> AsyncGenerator[ConversationEvent, None]:
        """Run the calls of a reply in order."""
        reply = progress.reply
        progress.is_running_calls = True
        self.session.record(progress.take_draft())
        room = find_room(self._make_request(allow_calls=True), self._calibration.find_window(self.model))
        for index, call in enumerate(reply.calls):
            if index >= self.options.calls_max:
                refusal = f"{LIMIT_REACHED}: at most {self.options.calls_max} calls a step"
                reply.uses.append(ToolUse(call=call, result=refusal))
                continue
            outcome = await self._run_call(call, room)
            room = max(0, room - estimate_tokens(outcome.text))
            reply.uses.append(ToolUse(call=call, result=outcome.text, excerpts=outcome.excerpts))
            for event in outcome.events:
                yield event
            yield outcome.finished
        if is_next_last:
            reply.uses[-1] = replace(reply.uses[-1], result=f"{reply.uses[-1].result}\n{LAST_STEP_NOTE}")
        progress.is_running_calls = False

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
                    number, call_id = 1, call.id
                    while not call_id or call_id in call_ids:  # some servers number those of each reply anew
                        number += 1
                        call_id = f"{call.id or 'call'}_{number}"
                    call_ids.add(call_id)
                    reply.calls.append(replace(call, id=call_id))
                case UsageReported(usage):
                    reply.usage = usage
                    progress.usage += usage
                case Retrying(reason, wait_seconds):
                    yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                case ModelStopped(reason, thinking):
                    reply.reason, reply.thinking = reason, thinking
                case _:
                    assert_never(event)
