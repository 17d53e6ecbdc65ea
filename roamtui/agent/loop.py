"""The agent loop: send the question to the model and run its tool calls until it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.agent.answer import build_outcome, build_partial, choose_reminder
from roamtui.agent.limits import (
    AgentOptions,
    compute_room,
    estimate_request_tokens,
    estimate_request_usd,
    share_window,
)
from roamtui.agent.offline import FoundPassage, find_passages, list_openable, list_unread_pages, write_answer
from roamtui.agent.prompt import CALL_NOT_RUN, LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM, WHOLE_NOTE
from roamtui.agent.retrieval_context import (
    HitList,
    list_whole_document,
    make_search_event,
    retrieve_context,
)
from roamtui.agent.tools import expand, make_tools, search
from roamtui.agent.tools.base import Tool, ToolContext, ToolResponse, parse_tool_arguments
from roamtui.conversation.conversation import ApprovalRequest, Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    DraftRecorded,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    ReminderSent,
    RetryScheduled,
    Step,
    StepRecorded,
    StepStarted,
    StopReason,
    ThinkingStreamed,
    ToolCall,
    ToolFinished,
    ToolUse,
    Usage,
    make_draft_events,
)
from roamtui.conversation.question_flow import PromptContext, begin_question, finish_question, shrink_transcript
from roamtui.conversation.state import AskOptions, Exchange
from roamtui.conversation.update import ExpandSections
from roamtui.document.parallel import run_in_thread
from roamtui.document.text import estimate_tokens
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import (
    OFFLINE,
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
from roamtui.outline.render import compute_outline_budget, render_outline
from roamtui.search.base import Hit, Progress, Searcher

_CALLS_MAX = 8
"""Maximum number of tool calls to run in one reply."""
_STEP_SHARE = 0.5
"""Share of the remaining window that one step may add."""
_DRAFT_CHARACTERS = 500
"""Number of new characters after which an answer is saved again: the most that is lost if the program is killed."""
_INDEXED_AHEAD_MIN = 5_000
"""Minimum number of sections for indexing ahead. Indexing fewer takes no noticeable time."""


class StepReply(Struct):
    """The model's reply in one step, and the results of its tool calls so far."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    """The calls that have run, with their results."""
    reason: str = ""
    """Why the reply ended, from `ReplyFinished`."""
    usage: Usage = field(default_factory=Usage)

    def make_step(self, missing_result: str = CALL_NOT_RUN) -> Step:
        """Return the reply as a step. `missing_result` becomes the result of each call that has not run."""
        missing = (ToolUse(call=call, result=missing_result) for call in self.calls[len(self.uses) :])
        return Step(text=self.text, uses=(*self.uses, *missing), usage=self.usage)


class QuestionRun(Struct):
    """Progress of one question."""

    reply: StepReply = field(default_factory=StepReply)
    """The reply that is not recorded as a step yet."""
    usage: Usage = field(default_factory=Usage)
    stopped: StopReason = StopReason.ANSWERED
    steps: int = 0
    draft: str | None = None
    """The reply after which the model was reminded to answer properly, which happens at most once. It becomes the
    answer if the model writes nothing more."""

    @property
    def final_text(self) -> str:
        """The last text of the model that could be an answer."""
        return self.reply.text if self.reply.text.strip() else self.draft or ""


class Agent:
    """Answers questions in one conversation with one model at a time."""

    def __init__(
        self,
        conversation: Conversation,
        model: Model,
        searcher: Searcher | None = None,
        options: AgentOptions | None = None,
    ) -> None:
        """Answer with `model`. Without a searcher, the model gets no `search_sections` tool."""
        self.conversation = conversation
        self.model = model
        self.searcher = searcher
        self.options = options or AgentOptions()
        self._has_answered = True
        """Whether the last question got its whole answer."""
        self._consented_id = ""
        """Id of the conversation whose spending limit the person lifted."""
        self._tools: Mapping[str, Tool] = {}
        """Tools of the current question. They may differ from those of the previous one if the library has grown."""

    async def ask(self, question: str, options: AskOptions = AskOptions()) -> Exchange | None:
        """Answer a question once all earlier requests are done. To stop it, cancel the task: the answer so far is kept.

        All files are loaded first because outline and search need whole texts. If the model fails, the answer says so.

        Returns:
            The exchange, or None if `options` did not allow the question any more.

        Raises:
            UnknownSectionError: There is no section `options.within`. The question was not asked.
        """
        conversation, asked_in = self.conversation, self.conversation.state.id
        async with conversation.lock:
            if options.needs_previous_answer and not (self._has_answered and conversation.state.id == asked_in):
                return None
            self._has_answered = False
            if options.replaces is not None:
                if not conversation.has_exchange(options.replaces):
                    return None
                await conversation.rewind(options.replaces)
            if options.open_first:
                await conversation.execute(ExpandSections(section_ids=options.open_first, origin=Origin.PERSON))
            await self._answer(question, options.within)
            exchange = conversation.state.transcript.exchanges[-1]
            self._has_answered = exchange.stopped in (StopReason.ANSWERED, StopReason.NOT_FOUND)
            return exchange

    async def search(self, query: str, limit: int) -> tuple[Hit, ...]:
        """Search the whole document with the configured search mode.

        Raises:
            RoamtuiError: The search failed. The message is for the person.
        """
        searcher = self.searcher
        if searcher is None or not query.strip():
            return ()
        searcher.refresh(await self.conversation.load_all())
        hits = await asyncio.to_thread(searcher.search, query, limit=limit)
        return tuple(hit for hit in hits if hit.section_id in self.conversation.state.library)

    async def index_ahead(self, report: Progress) -> None:
        """Update the search index of a large source, before a question needs it. `report` is called in a thread."""
        searcher, library = self.searcher, self.conversation.state.library
        if searcher is not None and len(library) >= _INDEXED_AHEAD_MIN and not library.unloaded_files:
            await asyncio.wrap_future(run_in_thread(partial(searcher.prepare, report)))

    async def _answer(self, question: str, within: str | None) -> None:
        conversation = self.conversation
        library = await conversation.load_all()
        if within is not None and within not in library:
            raise UnknownSectionError(within)
        if self.searcher is not None:
            self.searcher.refresh(library)
        self._tools = make_tools(library, has_search=self.searcher is not None)
        await warm_up_model(self.model)
        conversation.set_context_window(self.model.window_tokens)
        number = conversation.state.question_number + 1
        run = QuestionRun()
        outcome: QuestionAnswered | None = None
        try:
            await self._begin(question, within)
            await (self._read_offline if self.model.name == OFFLINE else self._run_steps)(run)
            reason = run.reply.reason
            outcome = build_outcome(conversation.state, run.final_text, run.stopped, self.searcher, reason=reason)
        except ModelError as error:
            outcome = build_partial(conversation.state, run.final_text, StopReason.ERROR, str(error))
        finally:
            if conversation.state.is_asking and conversation.state.question_number == number:
                if outcome is None:
                    outcome = build_partial(conversation.state, run.final_text, StopReason.CANCELLED)
                    if run.reply.calls:
                        conversation.fold((StepRecorded(step=run.reply.make_step()),))
                outcome = replace(outcome, usage=run.usage, steps=run.steps)
                await conversation.apply(finish_question(conversation.state, outcome))

    async def _begin(self, question: str, within: str | None) -> None:
        """Start the question together with the sections and hits that search finds for it."""
        state, retrieved = self.conversation.state, HitList()
        library, (room, *_) = state.library, share_window(self.model.window_tokens)
        if self.options.sends_hits and self.model.name != OFFLINE:
            if whole := list_whole_document(library, room):
                retrieved = HitList(auto_opened=tuple(one for one in whole if state.get_open(one) is None))
            elif self.searcher is not None:
                retrieved = await retrieve_context(self.searcher, state, question, within, room_tokens=room)
        context = replace(
            self._build_prompt_context(retrieved.auto_opened, has_hits=bool(retrieved.hits)),
            note=self.options.question_note,
            hits_text=retrieved.text,
            search_events=(make_search_event(library, question, retrieved.hits),) if retrieved.hits else (),
        )
        is_one_shot, excerpts = self.conversation.is_one_shot, retrieved.excerpts
        asked = QuestionAsked(question=question, within=within, excerpts=excerpts, is_one_shot=is_one_shot)
        await self.conversation.apply(begin_question(state, asked, context))

    def _build_prompt_context(self, opened: tuple[str, ...] = (), *, has_hits: bool = False) -> PromptContext:
        """Build the prompt context. `opened` are the sections to open together with the question."""
        state, window, outline = self.conversation.state, self.model.window_tokens, WHOLE_NOTE
        room, preface_tokens, history_tokens = share_window(window)
        whole = list_whole_document(state.library, room) if self.options.sends_hits else ()
        if not whole or not {*whole} <= {*state.open_ids, *opened}:
            budget = compute_outline_budget(state.library, window, has_hits=has_hits)
            outline = render_outline(state.library, budget_tokens=budget)
        return PromptContext(
            system=SYSTEM,
            outline=outline,
            model=self.model.name,
            delivery_tokens_max=preface_tokens,
            history_tokens_max=history_tokens,
            auto_opened=opened,
            instructions=self.options.instructions,
        )

    async def _run_steps(self, run: QuestionRun) -> None:
        """Ask the model and run its calls, step by step, until it answers or a limit is reached."""
        conversation, steps_max = self.conversation, self.options.steps_max
        for number in range(1, steps_max + 1):
            run.steps = number
            is_last = number == steps_max
            if not await self._ask_model(run, allow_calls=not is_last):
                run.stopped = StopReason.COST
                return
            reply = run.reply
            if reply.calls and is_last:
                run.stopped = StopReason.STEP_LIMIT
                step = replace(reply.make_step(LIMIT_REACHED), text="")  # the text is the answer
                reply.calls.clear()
            elif reply.calls:
                await self._run_calls(reply, is_before_last_step=number + 1 == steps_max)
                run.reply, step = StepReply(), reply.make_step()
            else:
                may_remind = not is_last and run.draft is None
                reminder = choose_reminder(conversation.state, reply.text, reply.reason) if may_remind else ""
                if not reminder:
                    return
                conversation.fold(make_draft_events(reply.text))
                conversation.apply_unsaved(ReminderSent(text=reminder))
                run.reply, run.draft, step = StepReply(), reply.text, replace(reply.make_step(), reminder=reminder)
            await conversation.apply((StepRecorded(step=step),))

    async def _ask_model(self, run: QuestionRun, *, allow_calls: bool) -> bool:
        """Send one request, unless it may exceed the spending limit. Return whether it was sent.

        Shrink the transcript first if the request does not fit, and once more if the model rejects it as too long.
        """
        conversation = self.conversation
        request = self._make_request(allow_calls=allow_calls)
        if self.model.window_tokens is not None and compute_room(request, self.model.window_tokens) < 0:
            await conversation.apply(shrink_transcript(conversation.state, self._build_prompt_context()))
        for may_retry in (True, False):
            request = self._make_request(allow_calls=allow_calls)
            if not await self._confirm_spending(run, request):
                return False
            run.reply = StepReply()
            conversation.publish(StepStarted(number=run.steps, input_tokens=estimate_request_tokens(request)))
            try:
                await self._stream_reply(request, run)
            except ModelError as error:
                can_shrink = may_retry and error.overflow
                events = shrink_transcript(conversation.state, self._build_prompt_context()) if can_shrink else ()
                if not events:
                    raise
                await conversation.apply(events)
            else:
                break
        return True

    def _make_request(self, *, allow_calls: bool = True) -> ModelRequest:
        return ModelRequest(
            messages=tuple(self.conversation.state.transcript.iter_messages()),
            tools=tuple(tool.spec for tool in self._tools.values()),
            allow_calls=allow_calls,
        )

    async def _confirm_spending(self, run: QuestionRun, request: ModelRequest) -> bool:
        """Check whether a request stays below the spending limit, or else whether the person approves it."""
        limit, state = self.options.cost_usd_max, self.conversation.state
        if limit is None or self._consented_id == state.id:
            return True
        spent = sum(usage.cost_usd or 0.0 for usage in (run.usage, *(one.usage for one in state.transcript.exchanges)))
        committed = self.options.committed_usd if self.options.committed_usd is not None else {}
        committed[state.id] = spent + estimate_request_usd(self.model, request)
        if sum(committed.values()) <= limit:
            return True
        committed[state.id] = spent
        question, detail = "The next request may exceed your spending limit.", f"${spent:.2f} of ${limit:.2f} spent."
        if await self.conversation.approver(ApprovalRequest(question=question, detail=detail, yes="Continue")):
            self._consented_id = state.id
        return self._consented_id == state.id

    async def _stream_reply(self, request: ModelRequest, run: QuestionRun) -> None:
        """Send a request, fill `run.reply` from the stream, and publish what arrives.

        Raises:
            ModelError: The model could not answer.
        """
        conversation, reply = self.conversation, run.reply
        call_ids = {call.id for message in request.messages for call in message.tool_calls}
        async with aclosing(self.model.stream(request)) as stream:  # type: ignore[type-var]
            async for event in stream:
                match event:
                    case TextDelta(text):
                        reply.text += text
                        start = len(conversation.state.transcript.exchanges[-1].answer)
                        if len(reply.text) - start >= _DRAFT_CHARACTERS:
                            await conversation.apply((DraftRecorded(start=start, text=reply.text[start:]),))
                        conversation.publish(AnswerStreamed(text=text))
                    case ThinkingDelta(text):
                        conversation.publish(ThinkingStreamed(text=text))
                    case ToolCallReceived(call):
                        number, call_id = 1, call.id
                        while not call_id or call_id in call_ids:  # some servers restart the numbers in each reply
                            number += 1
                            call_id = f"{call.id or 'call'}_{number}"
                        call_ids.add(call_id)
                        reply.calls.append(replace(call, id=call_id))
                    case UsageReported(usage):
                        reply.usage = usage
                        run.usage += usage
                    case RetryPending(reason, wait_seconds):
                        conversation.apply_unsaved(RetryScheduled(reason=reason, wait_seconds=wait_seconds))
                    case ReplyFinished(reason):
                        reply.reason = reason
                    case _:
                        assert_never(event)

    async def _run_calls(self, reply: StepReply, *, is_before_last_step: bool = False) -> None:
        """Run the calls of a reply, searches last. If `is_before_last_step`, tell the model that they were its last."""
        reply.calls.sort(key=lambda call: call.name == search.NAME)  # so that the hits do not repeat opened sections
        self.conversation.fold(make_draft_events(reply.text))
        room = max(0, int(_STEP_SHARE * compute_room(self._make_request(), self.model.window_tokens)))
        for index, call in enumerate(reply.calls):
            if index >= _CALLS_MAX:
                reply.uses.append(ToolUse(call=call, result=f"{LIMIT_REACHED}: at most {_CALLS_MAX} calls a step"))
                continue
            name, tool = call.name[:60], self._tools.get(call.name)
            context = ToolContext(
                conversation=self.conversation,
                searcher=self.searcher,
                room_tokens=room,
                excerpts=tuple(span for use in reply.uses for span in use.excerpts),
            )
            text = f'There is no tool "{name}". The tools are {", ".join(self._tools)}.'
            result = ToolResponse(text=text)
            try:
                if tool is not None:
                    result = await tool.run(parse_tool_arguments(call.arguments), context)
            except RoamtuiError as error:
                result = ToolResponse(text=f"{name} failed: {error}")
            room = max(0, room - estimate_tokens(result.text))
            reply.uses.append(
                ToolUse(call=call, result=result.text, excerpts=result.excerpts, deliveries=result.deliveries)
            )
            ids, results = result.section_ids, result.results
            self.conversation.publish(ToolFinished(tool=name, section_ids=ids, query=result.query, results=results))
        if is_before_last_step:
            reply.uses[-1] = replace(reply.uses[-1], result=f"{reply.uses[-1].result}\n{LAST_STEP_NOTE}")

    async def _read_offline(self, run: QuestionRun) -> None:
        """Answer without a model: open the sections of the best passages, by the calls of a model, and quote these."""
        conversation, run.usage = self.conversation, Usage(cost_usd=0.0)
        question = conversation.state.transcript.exchanges[-1].question
        passages: Sequence[FoundPassage] = ()
        for may_load in (True, False):
            state = conversation.state
            if self.searcher is not None:
                self.searcher.refresh(state.library)
            needs_certainty = self.options.needs_certainty
            hits, passages = await asyncio.to_thread(
                find_passages, state, self.searcher, needs_certainty=needs_certainty
            )
            if hits:
                conversation.apply_unsaved(make_search_event(state.library, question, hits))
            pages = list_unread_pages(state.library, question, hits, passages) if may_load else ()
            if opened := pages or list_openable(state.library, passages):
                run.steps += 1
                arguments = json.dumps({"section_ids": opened})
                call = ToolCall(id=f"offline_{run.steps}", name=expand.NAME, arguments=arguments)
                reply = run.reply = StepReply(calls=[call])
                await self._run_calls(reply)
                run.reply = StepReply()
                await conversation.apply((StepRecorded(step=reply.make_step()),))
            if not pages:
                break
        run.reply = StepReply(text=write_answer(question, passages, conversation.state.library))
        conversation.publish(AnswerStreamed(text=run.reply.text))
