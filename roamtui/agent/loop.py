"""The loop: a question goes to the model, its calls are run, until it answers."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.agent.answer import complete_answer, find_reminder
from roamtui.agent.options import AgentOptions
from roamtui.agent.progress import Progress, Reply, listen
from roamtui.agent.prompt import LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM, WHOLE_NOTE
from roamtui.agent.room import TokenCalibration, estimate_request, find_room, has_room
from roamtui.agent.starting import Start, find_start, is_start_wanted, list_whole
from roamtui.agent.tools import make_tools
from roamtui.agent.tools.base import ToolContext, ToolOutcome, read_arguments
from roamtui.agent.tools.search import tell_search
from roamtui.conversation.commands import CostApproval
from roamtui.conversation.events import ConversationEvent, QuestionAnswered, ReminderSent, StepStarted, ToolFinished
from roamtui.conversation.questions import Briefing
from roamtui.conversation.transcript import Stopped, ToolCall, ToolUse
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import Model, Request, start_model
from roamtui.outline.render import render_outline

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from roamtui.conversation.session import Session
    from roamtui.document.library import Library
    from roamtui.search.base import Searcher


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
        self._tools = make_tools(session.state.library, has_search=searcher is not None)

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
                outcome = complete_answer(self.session.state, progress, self.searcher)
            except ModelError as error:
                outcome = QuestionAnswered(
                    answer=progress.last_words(), stopped=Stopped.ERROR, usage=progress.usage, error=str(error)
                )
            changes = await self.session.finish_question(replace(outcome, steps=progress.steps))
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
                self.session.abandon_question(partial, step=progress.interrupted_step())
            elif not is_saved:
                self.session.save_now()

    async def _begin(self, question: str, within: str | None) -> tuple[ConversationEvent, ...]:
        """Take up a question, with sections open where search is clear, and return what happened."""
        state, start = self.session.state, Start()
        if is_start_wanted(self.options.confident_start, self.model):
            room = self.options.found_room(self._calibration.find_window(self.model))
            if whole := list_whole(state.library, room):
                start = Start(opened=tuple(i for i in whole if state.find_open(i) is None))
            elif self.searcher is not None:
                start = await find_start(self.searcher, state, question, within, room_tokens=room)
        searched = (tell_search(state.library, question, start.hits),) if start.hits else ()
        changes = await self.session.begin_question(question, replace(self._brief(within, start), searched=searched))
        return tuple(change for change in changes if not isinstance(change, QuestionAnswered))

    async def _roam(self, progress: Progress) -> AsyncGenerator[ConversationEvent, None]:
        """Ask the model step by step, and run its calls, until it answers or the limit is reached."""
        steps_max = self.options.steps_max
        for step in range(1, steps_max + 1):
            progress.steps = step
            if not await self._may_spend(progress):
                progress.stopped = Stopped.COST
                return
            async with aclosing(self._step(progress, allow_calls=step < steps_max)) as events:
                async for event in events:
                    yield event
            if not progress.reply.calls:
                reminder = "" if step == steps_max else find_reminder(self.session.state, progress)
                if not reminder:
                    return
                yield ReminderSent(text=reminder)
                for failure in await self.session.record_step(progress.make_reminded_step(reminder)):
                    yield failure
            elif step == steps_max:
                progress.stopped = Stopped.STEP_LIMIT
                for failure in await self.session.record_step(progress.reply.make_refused_step()):
                    yield failure
                return
            else:
                async with aclosing(self._run_calls(progress, is_next_last=step + 1 == steps_max)) as events:
                    async for event in events:
                        yield event

    async def _step(self, progress: Progress, *, allow_calls: bool) -> AsyncGenerator[ConversationEvent, None]:
        """Send one request. Room is made before one that does not fit, and once more where the model still says so."""
        request = self._make_request(allow_calls=allow_calls)
        if not has_room(request, self._calibration.find_window(self.model)):
            for change in await self.session.make_room(self._brief()):
                yield change
            request = self._make_request(allow_calls=allow_calls)
        for may_repair in (True, False):
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
                if not may_repair:
                    raise
                changes = await self._repair(error)
            else:
                self._calibration.learn(asked, request, progress.reply.usage)
                return
            for change in changes:
                yield change
            request = self._make_request(allow_calls=allow_calls)

    async def _repair(self, error: ModelError) -> tuple[ConversationEvent, ...]:
        """Make room after a request that was refused as too long; where that is not why, or there is none, raise."""
        transcript = self.session.state.transcript
        changes = await self.session.make_room(replace(self._brief(), was_refused=True)) if error.overflow else ()
        if self.session.state.transcript is transcript:
            raise error
        return changes

    async def _may_spend(self, progress: Progress) -> bool:
        """Return whether the next request may be sent: below the spending cap, or with the person's consent."""
        cap = self.options.cost_usd_max
        if cap is None or self._consented_id == self.session.state.id:
            return True
        spent = sum(exchange.usage.cost_usd or 0.0 for exchange in self.session.state.transcript.exchanges) + (
            progress.usage.cost_usd or 0.0
        )
        if spent + progress.last_cost_usd() <= cap:
            return True
        if not await self.session.approver.approve(CostApproval(spent_usd=spent, cap_usd=cap)):
            return False
        self._consented_id = self.session.state.id
        return True

    def _brief(self, within: str | None = None, start: Start | None = None) -> Briefing:
        window = self._calibration.find_window(self.model)
        start = start or Start()
        state = self.session.state
        room = self.options.found_room(window)
        whole = list_whole(state.library, room) if is_start_wanted(self.options.confident_start, self.model) else ()
        is_whole = bool(whole) and {*whole} <= {*state.open_ids, *start.opened}
        return Briefing(
            system=SYSTEM,
            outline=WHOLE_NOTE if is_whole else self._make_outline(self.options.outline_budget(state.library, window)),
            model=self.model.name,
            window_tokens=self.model.window_tokens,
            room_tokens=self.options.preface_room(window),
            history_tokens=self.options.history_room(window),
            within=within,
            found=start.opened,
            hits=start.listed.text,
            excerpts=start.listed.excerpts,
            preferences=self.options.read_preferences() if self.options.read_preferences is not None else "",
        )

    def _make_outline(self, budget_tokens: int) -> str:
        """Return the outline, made anew for another library or budget alone: it can take longer than a step."""
        library = self.session.state.library
        if self._outline is None or self._outline[0] is not library or self._outline[1] != budget_tokens:
            self._outline = (library, budget_tokens, render_outline(library, budget_tokens=budget_tokens))
        return self._outline[2]

    def _make_request(self, *, allow_calls: bool) -> Request:
        return Request(
            messages=tuple(self.session.state.transcript.messages()),
            tools=tuple(tool.spec for tool in self._tools.values()),
            allow_calls=allow_calls,
        )

    async def _run_calls(self, progress: Progress, *, is_next_last: bool) -> AsyncGenerator[ConversationEvent, None]:
        """Run the calls of a reply in order, then record them with their results as one step."""
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
        progress.reply = Reply()
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
