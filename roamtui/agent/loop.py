"""The agent loop: send the question to the model and run its tool calls until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from roamtui.agent.answer import build_outcome, choose_reminder
from roamtui.agent.options import AgentOptions, RetrievalStart
from roamtui.agent.prompt import CALL_NOT_RUN, LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM, WHOLE_NOTE
from roamtui.agent.retrieval_context import (
    RetrievedContext,
    list_whole_document,
    list_whole_section,
    make_search_event,
    retrieve_context,
)
from roamtui.agent.token_budget import (
    TokenCalibration,
    compute_step_tokens,
    estimate_request_tokens,
    estimate_request_usd,
    fits_window,
)
from roamtui.agent.tools import make_tools, search
from roamtui.agent.tools.base import Tool, ToolContext, ToolOutcome, parse_tool_arguments
from roamtui.conversation.commands import CostApprovalRequest
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
    make_draft_events,
)
from roamtui.conversation.question_flow import PromptContext
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Step, StopReason, ToolCall, ToolUse, Usage
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import (
    Model,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
    warm_up_model,
)
from roamtui.models.recorded import RecordedModel
from roamtui.models.registry import OFFLINE
from roamtui.outline.render import compute_outline_budget, render_outline
from roamtui.quotes.verdicts import verify_citations
from roamtui.search.base import Searcher

_HITS_WINDOW_SHARE = 0.15
"""Share of the context window for the search results that come with a question."""
_PREFACE_WINDOW_SHARE = 0.4
"""Share of the context window for the open sections that come with a question."""
_PREFACE_TOKENS_MAX = 32_000
"""Maximum tokens of these sections, however large the window is."""
_HISTORY_WINDOW_SHARE = 0.2
"""Share of the context window for earlier questions and answers after a rebuild."""
_CALLS_MAX = 8
"""Maximum number of tool calls to run in one reply."""


@dataclass(slots=True)
class StepReply:
    """The model's reply in one step, and the results of its tool calls so far."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    """The calls that have run, with their results."""
    thinking: str = ""
    reason: str = ""
    """Why the reply ended, from `ReplyFinished`."""
    usage: Usage | None = None
    """Usage of this reply, or None until it is reported."""

    def make_step(self, missing_result: str = CALL_NOT_RUN) -> Step:
        """Return the reply as a step. `missing_result` becomes the result of each call that has not run."""
        missing = (ToolUse(call=call, result=missing_result) for call in self.calls[len(self.uses) :])
        return Step(text=self.text, uses=(*self.uses, *missing), thinking=self.thinking, usage=self.usage or Usage())


@dataclass(slots=True)
class QuestionRun:
    """Progress of one question."""

    reply: StepReply = field(default_factory=StepReply)
    usage: Usage = field(default_factory=Usage)
    stopped: StopReason = StopReason.ANSWERED
    steps: int = 0
    is_running_calls: bool = False
    has_reminded: bool = False
    """Whether the model was reminded that its reply was not an answer yet. This happens at most once."""
    draft: str = ""
    """The reply before the reminder. It becomes the answer if the model writes nothing more."""
    last_text: str = ""
    """Text of the model since its last action."""

    def track(self, event: ConversationEvent) -> tuple[ConversationEvent, ...]:
        """Track an event. Return what to log: searches, reminders and retries, and the draft before an action."""
        match event:
            case AnswerStreamed(text=text):
                self.last_text += text
                return ()
            case StepStarted():
                return self.pop_draft()
            case SectionsSearched() | ReminderSent() | RetryScheduled():
                return (*self.pop_draft(), event)
            case _:
                return ()

    def pop_draft(self) -> tuple[ConversationEvent, ...]:
        """Return the model's text since its last action as a draft, and clear it."""
        draft, self.last_text = make_draft_events(self.last_text), ""
        return draft

    def get_final_text(self) -> str:
        """Return the last text of the model that could be an answer."""
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
        """Answer with `model`. Without a searcher, the model gets no `search_sections` tool."""
        self.session = session
        self.model = model
        self.searcher = searcher
        self.options = options or AgentOptions()
        self._consented_id = ""
        """Id of the conversation whose spending limit the person lifted."""
        self._outline: tuple[Library, int, str] | None = None
        """The last outline, with the library and budget that it was rendered for."""
        self._calibration = TokenCalibration()
        self._tools: Mapping[str, Tool] = {}
        """Tools of the current question. They may differ from those of the previous one if the library has grown."""

    async def ask(self, question: str, *, within: str | None = None) -> AsyncIterator[ConversationEvent]:
        """Answer `question` and yield events. The last one is `QuestionAnswered`.

        All files are loaded first because outline and search need whole texts. If the model fails, `QuestionAnswered`
        says so. If the iterator is closed or cancelled, the answer so far is kept.

        Args:
            question: The person's question.
            within: Id of the section that the question is about, or None for the whole document.

        Raises:
            UnknownSectionError: `within` is not a section. The question was not asked.
        """
        async for change in self.session.load_all():
            yield change
        library = self.session.state.unmuted_library
        if within is not None and within not in library:
            raise UnknownSectionError(within)
        if self.searcher is not None:
            self.searcher.refresh(library)
        self._tools = make_tools(library, has_search=self.searcher is not None)
        progress = QuestionRun()
        await warm_up_model(self.model)
        self.session.set_context_window(self._calibration.get_window(self.model))
        number = self.session.state.question_number + 1
        is_saved = False
        try:
            for change in await self._begin(question, within):
                yield change
            try:
                async with aclosing(self._run_steps(progress)) as events:
                    async for event in events:
                        self.session.record(progress.track(event))
                        yield event
                text, reason = progress.get_final_text(), progress.reply.reason
                outcome = build_outcome(self.session.state, text, progress.stopped, self.searcher, reason=reason)
            except ModelError as error:
                outcome = replace(self._make_partial(progress, StopReason.ERROR), error=str(error))
            changes = await self.session.finish_question(replace(outcome, usage=progress.usage, steps=progress.steps))
            is_saved = True
            for change in changes:
                yield change
        finally:
            if self.session.state.is_asking and self.session.state.question_number == number:
                partial = self._make_partial(progress, StopReason.CANCELLED)
                step = progress.reply.make_step() if progress.is_running_calls else None
                self.session.abandon_question(partial, step=step)
            elif not is_saved:
                self.session.flush()

    def _make_partial(self, progress: QuestionRun, stopped: StopReason) -> QuestionAnswered:
        """Return the answer so far with its verdicts."""
        answer = progress.get_final_text()
        citations = verify_citations(answer, self.session.state)
        return QuestionAnswered(
            answer=answer, stopped=stopped, citations=citations, usage=progress.usage, steps=progress.steps
        )

    async def _begin(self, question: str, within: str | None) -> tuple[ConversationEvent, ...]:
        """Start the question together with the sections and hits that search finds for it."""
        state, retrieved = self.session.state, RetrievedContext()
        library, room = state.unmuted_library, self._compute_window_share(_HITS_WINDOW_SHARE)
        if self._uses_retrieval():
            if whole := list_whole_document(library, room) or list_whole_section(library, within, room):
                unopened = tuple(section_id for section_id in whole if state.get_open(section_id) is None)
                retrieved = RetrievedContext(auto_opened=unopened)
            elif self.searcher is not None:
                retrieved = await retrieve_context(self.searcher, state, question, within, room_tokens=room)
        context = replace(
            self._build_prompt_context(retrieved.auto_opened),
            within=within,
            note=self.options.question_note,
            hits_text=retrieved.hit_list.text,
            excerpts=retrieved.hit_list.excerpts,
            search_events=(make_search_event(library, question, retrieved.hits),) if retrieved.hits else (),
        )
        changes = await self.session.begin_question(question, context)
        # leave out the end of an abandoned earlier question, which would look like the end of this one
        return tuple(change for change in changes if not isinstance(change, QuestionAnswered))

    def _uses_retrieval(self) -> bool:
        """Check whether search results are sent with questions. A recorded model uses the setting of its recording."""
        if isinstance(self.model, RecordedModel):
            return self.model.had_retrieval
        mode = self.options.confident_start
        return mode is RetrievalStart.ALWAYS or (mode is RetrievalStart.REMOTE and self.model.name != OFFLINE)

    def _compute_window_share(self, share: float) -> int | None:
        """Return a share of the model's context window in tokens, or None if its size is unknown."""
        window = self._calibration.get_window(self.model)
        return None if window is None else int(window * share)

    def _build_prompt_context(self, opened: tuple[str, ...] = ()) -> PromptContext:
        """Build the prompt context. `opened` are the sections to open together with the question."""
        state = self.session.state
        library = state.unmuted_library
        room = self._compute_window_share(_PREFACE_WINDOW_SHARE)
        whole = (
            list_whole_document(library, self._compute_window_share(_HITS_WINDOW_SHARE))
            if self._uses_retrieval()
            else ()
        )
        outline = WHOLE_NOTE
        if not whole or not {*whole} <= {*state.open_ids, *opened}:
            window = self._calibration.get_window(self.model)
            budget = compute_outline_budget(library, window)
            # rendering can take longer than a step, so the last outline is kept
            if self._outline is None or self._outline[0] is not library or self._outline[1] != budget:
                self._outline = (library, budget, render_outline(library, budget_tokens=budget))
            outline = self._outline[2]
        return PromptContext(
            system=SYSTEM,
            outline=outline,
            model=self.model.name,
            window_tokens=self.model.window_tokens,
            delivery_tokens_max=_PREFACE_TOKENS_MAX if room is None else min(_PREFACE_TOKENS_MAX, room),
            history_tokens_max=self._compute_window_share(_HISTORY_WINDOW_SHARE),
            auto_opened=opened,
            instructions=self.options.instructions,
        )

    def _make_request(self, *, allow_calls: bool) -> ModelRequest:
        return ModelRequest(
            messages=tuple(self.session.state.transcript.iter_messages()),
            tools=tuple(tool.spec for tool in self._tools.values()),
            allow_calls=allow_calls,
        )

    async def _run_steps(self, progress: QuestionRun) -> AsyncGenerator[ConversationEvent, None]:
        """Ask the model and run its calls, step by step, until it answers or a limit is reached."""
        steps_max = self.options.steps_max
        for number in range(1, steps_max + 1):
            progress.steps = number
            is_last = number == steps_max
            if not await self._confirm_spending(progress):
                progress.stopped = StopReason.COST
                return
            async with aclosing(self._ask_model(progress, allow_calls=not is_last)) as events:
                async for event in events:
                    yield event
            reply = progress.reply
            if reply.calls and is_last:
                progress.stopped = StopReason.STEP_LIMIT
                step = replace(reply.make_step(LIMIT_REACHED), text="")  # the text is the answer
            elif reply.calls:
                async with aclosing(self._run_calls(progress, is_before_last_step=number + 1 == steps_max)) as events:
                    async for event in events:
                        yield event
                progress.reply, step = StepReply(), reply.make_step()
            else:
                may_remind = not (is_last or progress.has_reminded)
                reminder = choose_reminder(self.session.state, reply.text, reply.reason) if may_remind else ""
                if not reminder:
                    return
                yield ReminderSent(text=reminder)
                progress.has_reminded, progress.draft = True, reply.text
                progress.reply, step = StepReply(), replace(reply.make_step(), reminder=reminder)
            for failure in await self.session.record_step(step):
                yield failure

    async def _confirm_spending(self, progress: QuestionRun) -> bool:
        """Check whether the next request stays below the spending limit, or else whether the person approves it."""
        limit = self.options.cost_usd_max
        if limit is None or self._consented_id == self.session.state.id:
            return True
        earlier_cost = sum(exchange.usage.cost_usd or 0.0 for exchange in self.session.state.transcript.exchanges)
        spent = earlier_cost + (progress.usage.cost_usd or 0.0)
        if spent + estimate_request_usd(self.model, self._make_request(allow_calls=True)) <= limit:
            return True
        if not await self.session.approver(CostApprovalRequest(spent_usd=spent, cap_usd=limit)):
            return False
        self._consented_id = self.session.state.id
        return True

    async def _ask_model(self, progress: QuestionRun, *, allow_calls: bool) -> AsyncGenerator[ConversationEvent, None]:
        """Send one request.

        Shrink the transcript first if the request does not fit, and once more if the model rejects it as too long.
        """
        request = self._make_request(allow_calls=allow_calls)
        fits = fits_window(request, self._calibration.get_window(self.model))
        changes = () if fits else await self.session.shrink_transcript(self._build_prompt_context())
        for may_retry in (True, False):
            for change in changes:
                yield change
            request = self._make_request(allow_calls=allow_calls)
            progress.reply = StepReply()
            # The person may switch models meanwhile, and the new model must not learn from this.
            model_name = self.model.name
            yield StepStarted(number=progress.steps, input_tokens=estimate_request_tokens(request))
            try:
                async with aclosing(stream_reply(self.model, request, progress)) as events:
                    async for event in events:
                        for change in await self.session.record_draft(progress.reply.text):
                            yield change
                        yield event
            except ModelError as error:
                if not (may_retry and error.overflow):
                    raise
                transcript = self.session.state.transcript
                changes = await self.session.shrink_transcript(replace(self._build_prompt_context(), was_refused=True))
                if self.session.state.transcript is transcript:
                    raise  # nothing is left to drop
            else:
                self._calibration.learn(model_name, request, progress.reply.usage)
                return

    async def _run_calls(
        self, progress: QuestionRun, *, is_before_last_step: bool
    ) -> AsyncGenerator[ConversationEvent, None]:
        """Run the calls of a reply, searches last. If `is_before_last_step`, tell the model that they were its last."""
        reply = progress.reply
        reply.calls.sort(key=lambda call: call.name == search.NAME)  # so that the hits do not repeat opened sections
        progress.is_running_calls = True
        self.session.record(progress.pop_draft())
        room = compute_step_tokens(self._make_request(allow_calls=True), self._calibration.get_window(self.model))
        for index, call in enumerate(reply.calls):
            if index >= _CALLS_MAX:
                reply.uses.append(ToolUse(call=call, result=f"{LIMIT_REACHED}: at most {_CALLS_MAX} calls a step"))
                continue
            excerpts = tuple(span for use in reply.uses for span in use.excerpts)
            outcome = await self._run_call(call, room, excerpts)
            room = max(0, room - estimate_tokens(outcome.text))
            reply.uses.append(
                ToolUse(call=call, result=outcome.text, excerpts=outcome.excerpts, deliveries=outcome.deliveries)
            )
            for event in outcome.events:
                yield event
            yield outcome.finished
        if is_before_last_step:
            reply.uses[-1] = replace(reply.uses[-1], result=f"{reply.uses[-1].result}\n{LAST_STEP_NOTE}")
        progress.is_running_calls = False

    async def _run_call(self, call: ToolCall, room_tokens: int, excerpts: tuple[Span, ...]) -> ToolOutcome:
        tool = self._tools.get(call.name)
        if tool is None:
            text = f'There is no tool "{call.name[:60]}". The tools are {", ".join(self._tools)}.'
            return ToolOutcome(text=text, finished=ToolFinished(tool=call.name[:60]))
        context = ToolContext(session=self.session, searcher=self.searcher, room_tokens=room_tokens, excerpts=excerpts)
        try:
            return await tool.run(parse_tool_arguments(call.arguments), context)
        except RoamtuiError as error:
            return ToolOutcome(text=f"{call.name} failed: {error}", finished=ToolFinished(tool=call.name))


async def stream_reply(
    model: Model, request: ModelRequest, progress: QuestionRun
) -> AsyncGenerator[ConversationEvent, None]:
    """Send a request, fill `progress.reply` from the stream, and yield events for front ends.

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
                case ToolCallReceived(call):
                    number, call_id = 1, call.id
                    while not call_id or call_id in call_ids:  # some servers restart the numbers in each reply
                        number += 1
                        call_id = f"{call.id or 'call'}_{number}"
                    call_ids.add(call_id)
                    reply.calls.append(replace(call, id=call_id))
                case UsageReported(usage):
                    reply.usage = usage
                    progress.usage += usage
                case RetryPending(reason, wait_seconds):
                    yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                case ReplyFinished(reason, thinking):
                    reply.reason, reply.thinking = reason, thinking
                case _:
                    assert_never(event)
