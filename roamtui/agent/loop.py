"""The agent loop: send the question to the model and run its tool calls until it answers."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.brief import BriefContext, choose_brief_context
from roamtui.agent.consent import Consent, SpendingLimit
from roamtui.agent.document_search import DocumentSearch
from roamtui.agent.first_request import (
    QuestionContext,
    find_pages_about,
    list_history_texts,
    make_search_event,
    make_view,
    render_map,
    retrieve_context,
)
from roamtui.agent.offline import add_passages, read_offline
from roamtui.agent.outcome import (
    NO_STEP,
    QuestionRun,
    build_outcome,
    choose_reminder,
    has_no_source,
    has_reply,
)
from roamtui.agent.prompt import (
    BRIEF_INSTRUCTION,
    LAST_STEP_NOTE,
    LIMIT_REACHED,
    SYSTEM,
    WHOLE_NOTE,
)
from roamtui.agent.receiving import receive_reply
from roamtui.agent.specs import SEARCH
from roamtui.agent.tool_calls import TOOL_NAME_LENGTH_MAX, make_tools, run_call
from roamtui.agent.tools import ToolContext
from roamtui.conversation.budget import (
    RequestBudget,
    estimate_message_tokens,
    get_answer_tokens,
    share_window,
)
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    DraftRejected,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    QuestionDropped,
    QuestionReceived,
    ReminderSent,
    Step,
    StepRecorded,
    StepStarted,
    StopReason,
    UsageRecorded,
)
from roamtui.conversation.log import get_time
from roamtui.conversation.question_flow import (
    begin_question,
    estimate_hits_room,
    finish_question,
    has_exchange,
)
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.conversation.transcript import PromptContext, shrink_transcript
from roamtui.conversation.update import AskOptions, ExpandSections
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import (
    Model,
    ModelRequest,
)
from roamtui.models.usage import UsageMeter, estimate_request
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.references import has_unread_pages
from roamtui.plain import shorten
from roamtui.retrieval.choose import list_whole_document
from roamtui.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from roamtui.search.base import Searcher
from roamtui.text import estimate_tokens

_WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed context window of a model whose window is unknown, for what tools return."""
_NO_ROOM = (
    "The question does not fit in the context window of {window:,} tokens. Ask a shorter one, give the "
    "server a larger window (llama.cpp: --ctx-size, Ollama: OLLAMA_CONTEXT_LENGTH), or set window_tokens in "
    "config.toml if it has one."
)
_CALLS_MAX = 8
"""Maximum number of tool calls to run in one reply."""
_STEP_SHARE = 0.5
"""Share of the remaining window that one step may add."""
_PAGE_ROOM = 1.5
"""Room for a page of a section, the ids in it and the list below it, as a multiple of the page."""
_UNUSABLE_NOTICE = "The model gave no answer that can be used, and was asked again in one short request"
_BROKEN_CALL_NOTICE = "The model made an invalid request, and was asked to correct it"
_REJECTED_LENGTH_MAX = 300
"""Maximum number of characters of a rejected answer in its event. Its step holds the whole text."""


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Limits of one question."""

    steps_max: int = 12
    """Maximum number of requests to the model."""
    cost_usd_max: float | None = None
    """Spending limit of a conversation, above which the person is asked; None for no limit."""
    sends_hits: bool = False
    """Whether search results are sent with a question."""
    instructions: str = ""
    """How the person wants to be answered. A change takes effect only when the transcript is rebuilt."""
    question_note: str = ""
    """Text to send before each question. It is no part of it, so its words are not searched for."""
    policy: RetrievalPolicy = DEFAULT_POLICY
    """How hits become context."""


class Agent:
    """Answers questions in one conversation with one model at a time."""

    def __init__(
        self,
        conversation: Conversation,
        model: Model,
        searcher: Searcher | None = None,
        options: AgentOptions | None = None,
        spending: SpendingLimit | None = None,
        search_meter: UsageMeter | None = None,
    ) -> None:
        """Answer with `model`. Without a searcher, the model gets no `search_sections` tool.

        `spending` is a limit to share with other agents. Without it, that of `options` holds for each
        conversation. `search_meter` counts the requests of the searcher.
        """
        self.conversation = conversation
        self.model = model
        self.options = options or AgentOptions()
        spending = spending or SpendingLimit(self.options.cost_usd_max)
        self._consent = Consent(conversation, spending)
        search_meter = search_meter or UsageMeter()
        if spending.usd_max is not None:
            search_meter.may_spend = self._consent.may_spend
        self.search = DocumentSearch(conversation, searcher, search_meter)
        self._has_failed = False
        """Whether the last question failed, or reached a limit. One that was stopped has not failed."""

    def use_model(self, model: Model) -> None:
        """Answer with a model that the person chose for this conversation."""
        self.model = model
        self._consent.accept_model(model)

    async def ask(self, question: str, options: AskOptions = AskOptions()) -> Exchange | None:
        """Answer a question once all earlier requests are done. Cancelling the task keeps the answer so far.

        All files are loaded first because outline and search need whole texts. If the model fails, the answer
        says so.

        Returns:
            The exchange, or None if `options` did not allow the question any more.

        Raises:
            UnknownSectionError: There is no section that `options` names. Nothing has changed.
            UsageError: The model or its server is another than before, and the person does not agree.
        """
        conversation = self.conversation
        asked_in = conversation.switch_count
        async with conversation.lock:
            if options.needs_success and (self._has_failed or conversation.switch_count != asked_in):
                return None
            self._has_failed = False
            replaced = options.replaces
            if replaced is not None and not has_exchange(conversation.state, replaced):
                return None
            conversation.publish(QuestionReceived(question=question, starts_model=not self.model.is_started))
            earlier: int | None = None
            try:
                await self._prepare(question, options)  # which may remove exchanges
                earlier = len(conversation.state.exchanges)
                await self._answer(question, options.within)
            except BaseException as error:
                self._has_failed = isinstance(error, RoamtuiError)
                has_begun = earlier is not None and len(conversation.state.exchanges) > earlier
                if not has_begun:
                    await conversation.restore()
                    conversation.publish(QuestionDropped())
                raise
            exchange = conversation.state.exchanges[-1]
            self._has_failed = exchange.stopped not in (
                StopReason.ANSWERED,
                StopReason.NEAREST,
                StopReason.NOT_FOUND,
            )
            return exchange

    async def _prepare(self, question: str, options: AskOptions) -> None:
        """Load the library and the model, and do what the options ask for before the question.

        Raises:
            RoamtuiError: See `ask`.
        """
        library = await self.conversation.library_loader.load_all()
        for section_id in (options.within, *options.open_first):
            if section_id is not None and section_id not in library:
                raise UnknownSectionError(section_id)
        await self.model.start()
        await self._consent.confirm_model(self.model)
        if options.replaces is not None:
            await self.conversation.rewind(options.replaces)
        if options.open_first:
            await self.conversation.execute(
                ExpandSections(section_ids=options.open_first, origin=Origin.PERSON)
            )
        await self._load_pages(question, options.within)

    async def _load_pages(self, question: str, within: str | None) -> None:
        """Load the pages whose titles or descriptions bear on a question, if not all pages are loaded."""
        state = self.conversation.state
        if self.search.searcher is not None and has_unread_pages(state.library):
            self.search.searcher.refresh(state.library)
            pages = await asyncio.to_thread(find_pages_about, state, self.search.searcher, question, within)
            if pages:
                await self.conversation.library_loader.load(pages, Origin.AGENT)

    async def _answer(self, question: str, within: str | None) -> None:
        from roamtui.quotes.current_text import add_nearest  # noqa: PLC0415 - the first screen does not need it

        conversation = self.conversation
        has_room = (self.model.window_tokens or _WINDOW_TOKENS_DEFAULT) >= _WINDOW_TOKENS_DEFAULT
        has_search = self.search.searcher is not None
        run = QuestionRun(make_tools(conversation.state.library, has_search=has_search, has_room=has_room))
        conversation.set_budget(self._make_budget(run))
        number = len(conversation.state.exchanges) + 1
        outcome: QuestionAnswered | None = None
        try:
            run.is_brief = bool(self.model.small_reason)
            await self._begin(run, question, within)
            if self.model.name == OFFLINE:
                answer, run.citations, run.stopped = await read_offline(
                    conversation, self.search.searcher, self.options.policy
                )
                run.step = Step(text=answer, uses=())
                run.steps = len(conversation.state.exchanges[-1].steps)
            else:
                run.stopped = await self._run_steps(run)
                is_refused = run.stopped is StopReason.COST
                if run.brief is None and not is_refused and not has_reply(conversation.state, run):
                    run.stopped = await self._ask_again_briefly(run, question, within)
            outcome = await asyncio.to_thread(build_outcome, conversation.state, run, self.search.searcher)
            if run.brief is not None and has_no_source(outcome):
                searcher = self.search.searcher
                outcome = await add_passages(outcome, conversation.state, searcher, self.options.policy)
            citations = await asyncio.to_thread(add_nearest, outcome.citations, conversation.state)
            outcome = replace(outcome, citations=citations)
        except ModelError as error:
            run.stopped = StopReason.ERROR
            run.error = str(error)
        finally:
            if conversation.state.is_asking and len(conversation.state.exchanges) == number:
                if run.step.uses and run.stopped is StopReason.CANCELLED:
                    conversation.fold((StepRecorded(step=run.step),))
                outcome = outcome or build_outcome(conversation.state, run)
                conversation.fold(self.search.take_usage())
                await conversation.apply(finish_question(conversation.state, outcome))

    async def _begin(self, run: QuestionRun, question: str, within: str | None) -> None:
        """Start the question together with the text that search finds for it."""
        state = self.conversation.state
        retrieved = QuestionContext()
        asked = QuestionAsked(
            question=question,
            within=within,
            server=self.model.server,
            asked_at=get_time(),
            is_one_shot=self.conversation.is_one_shot,
        )
        if run.is_brief:
            run.brief = await self._choose_brief(run, question, within)
            asked = replace(asked, number=len(state.exchanges) + 1, model=self.model.name)
            await self.conversation.apply(run.brief.make_events(state.library, asked))
            return
        if self._sends_hits:
            prompt = self._build_prompt_context(run)
            room = estimate_hits_room(state, question, prompt)
            view = make_view(state, room_tokens=room, policy=self.options.policy)
            earlier = list_history_texts(state.exchanges)
            retrieved = await retrieve_context(self.search.searcher, view, question, within, earlier)
            run.hits_text = retrieved.text
        opened = tuple(
            section_id for section_id in retrieved.auto_opened if section_id not in state.open_sections
        )
        searched = make_search_event(state.library, question, retrieved.hits, retrieved.read_ids)
        context = replace(
            self._build_prompt_context(run, opened), search_events=(searched,) if searched.hits else ()
        )
        asked = replace(asked, excerpts=retrieved.excerpts)
        # The person may have opened or closed sections during the search.
        await self.conversation.apply(begin_question(self.conversation.state, asked, context))
        if self._list_whole_open(run):
            run.tools = {}

    async def _choose_brief(
        self, run: QuestionRun, question: str, within: str | None, excess_tokens: int = 0
    ) -> BriefContext:
        """Choose the text for one short request. The last one had `excess_tokens` too many."""
        state = self.conversation.state
        room = self._make_budget(run).messages_max
        if run.brief is not None and excess_tokens:
            room = max(0, estimate_tokens(run.brief.text) - excess_tokens)
        earlier = replace(state, exchanges=state.exchanges[:-1]) if state.is_asking else state
        policy = self.options.policy
        return await choose_brief_context(
            earlier, question, within, self.search.searcher, room_tokens=room, policy=policy
        )

    async def _ask_again_briefly(self, run: QuestionRun, question: str, within: str | None) -> StopReason:
        """Ask once more, in one short request, after a reply that could not be used."""
        conversation = self.conversation
        step = replace(run.step, uses=(), reminder=BRIEF_INSTRUCTION)
        conversation.apply_unsaved(ReminderSent(text=BRIEF_INSTRUCTION, notice=_UNUSABLE_NOTICE))
        run.step = NO_STEP
        await conversation.apply((StepRecorded(step=step),))
        run.is_brief = True
        run.brief = await self._choose_brief(run, question, within)
        run.draft = None
        return await self._run_steps(run)

    @property
    def _sends_hits(self) -> bool:
        """Whether a model gets each question with what search finds for it, if there is a searcher."""
        return self.options.sends_hits and self.model.name != OFFLINE

    def _build_prompt_context(self, run: QuestionRun, opened: tuple[str, ...] = ()) -> PromptContext:
        """Build the prompt context. `opened` are the sections to open together with the question."""
        state = self.conversation.state
        outline = ""
        budget = self._make_budget(run)
        if self._list_whole_open(run, opened):
            outline = f"{WHOLE_NOTE} {measure_coverage(state.library).gaps}".rstrip()
        else:
            has_clear_hit = self._sends_hits and bool(opened)
            outline = render_map(state.library, budget.outline_max, beside_clear_hit=has_clear_hit)
        return PromptContext(
            system=SYSTEM,
            outline=outline,
            model=self.model.name,
            budget=budget,
            auto_opened=opened,
            hits_text=run.hits_text,
            note=self.options.question_note,
            instructions=self.options.instructions,
        )

    def _list_whole_open(self, run: QuestionRun, opened: tuple[str, ...] = ()) -> tuple[str, ...]:
        """List the top sections of a short document if all are open, with those that are about to open."""
        state = self.conversation.state
        hits_max = self._make_budget(run).hits_max
        whole = list_whole_document(state.library, hits_max) if self._sends_hits else ()
        return whole if {*whole} <= {*state.open_sections, *opened} else ()

    def _make_budget(self, run: QuestionRun) -> RequestBudget:
        """Share the context window of the model, as far as it is known by now."""
        model = self.model
        return share_window(
            model.window_tokens,
            tools_tokens=0 if run.is_brief else model.estimate_tool_tokens(len(run.tools)),
            has_tools=not model.refuses_tools,
            token_ratio=model.token_ratio,
        )

    async def _run_steps(self, run: QuestionRun) -> StopReason:
        """Ask the model and run its calls, step by step, until it answers or a limit is reached."""
        conversation = self.conversation
        steps_max = self.options.steps_max
        if run.brief is not None:
            run.steps += 1
            return StopReason.ANSWERED if await self._ask_model(run, allow_calls=False) else StopReason.COST
        for number in range(1, steps_max + 1):
            run.steps = number
            is_last = number == steps_max or not run.may_call
            if not await self._ask_model(run, allow_calls=not is_last):
                return StopReason.COST
            step = run.step
            if step.uses and is_last:
                uses = tuple(replace(use, result=LIMIT_REACHED) for use in step.uses)
                run.step = replace(step, uses=())  # its text is the answer
                await conversation.apply((StepRecorded(step=replace(step, text="", uses=uses)),))
                return StopReason.STEP_LIMIT
            reminder = "" if step.uses or is_last else choose_reminder(conversation.state, run)
            if not step.uses and not reminder:
                run.step = replace(step, text="") if run.broken_call else step
                break
            if draft := step.text.strip():
                # It is on the screen already. Exports show it too.
                conversation.fold((DraftRejected(text=shorten(draft, _REJECTED_LENGTH_MAX)),))
            if step.uses:
                await self._run_calls(run, is_before_last_step=number + 1 == steps_max)
            elif run.broken_call:
                conversation.apply_unsaved(ReminderSent(text=reminder, notice=_BROKEN_CALL_NOTICE))
                run.draft = ""
                run.step = replace(step, text=f"{step.text}\n{run.broken_call}".strip())
            else:
                conversation.apply_unsaved(ReminderSent(text=reminder))
                run.draft = step.text
            recorded = replace(run.step, reminder=reminder)
            run.step = NO_STEP
            await conversation.apply((StepRecorded(step=recorded),))
        return StopReason.ANSWERED

    async def _ask_model(self, run: QuestionRun, *, allow_calls: bool) -> bool:
        """Send one request, unless it may exceed the spending limit. Return whether it was sent.

        Shrink the transcript first if the request does not fit, and once more if the model rejects it as too
        long.

        Raises:
            ModelError: The model could not answer, or not even the question fits.
        """
        conversation = self.conversation
        limit = self._make_budget(run).messages_max
        refusal: ModelError | None = None
        while True:
            request = await self._build_request(run, limit, allow_calls=allow_calls)
            tokens = estimate_message_tokens(request.messages)
            room = _WINDOW_TOKENS_DEFAULT - tokens if limit is None else limit - tokens
            if room < 0 and limit is not None:
                raise refusal or ModelError(_NO_ROOM.format(window=self.model.window_tokens or limit))
            sent = estimate_request(self.model, request)
            conversation.fold(self.search.take_usage())
            reply_tokens = get_answer_tokens(self.model.window_tokens or _WINDOW_TOKENS_DEFAULT)
            if not await self._consent.confirm_spending(self.model, sent, reply_tokens):
                return False
            run.step = NO_STEP
            run.reason = None
            run.room_tokens = room
            meter = UsageMeter()
            started = StepStarted(number=run.steps, input_tokens=sent.input_tokens, cost_usd=sent.cost_usd)
            try:
                await conversation.apply((started,))
                await receive_reply(conversation, self.model, request, run, meter)
            except ModelError as error:
                if refusal is not None or not error.overflow:
                    raise
                refusal = error
                limit = self._learn_from_refusal(run, error, tokens, sent.input_tokens)
            else:
                return True
            finally:
                conversation.fold((UsageRecorded(usage=meter.take(), ends_step=True),))

    async def _build_request(self, run: QuestionRun, limit: int | None, *, allow_calls: bool) -> ModelRequest:
        """Build the next request. Make it shorter if its messages have more than `limit` tokens."""
        conversation = self.conversation
        if run.brief is not None:
            asked = conversation.state.exchanges[-1]
            while True:
                request = run.brief.make_request(self.options.question_note)
                excess = 0 if limit is None else estimate_message_tokens(request.messages) - limit
                if excess <= 0 or not run.brief.text:
                    return request
                run.brief = await self._choose_brief(run, asked.question, asked.within, excess)
        context = self._build_prompt_context(run)
        context = replace(context, budget=replace(context.budget, messages_max=limit))
        if shrunk := shrink_transcript(conversation.state, context):
            await conversation.apply(shrunk)
        return ModelRequest(
            messages=tuple(conversation.state.iter_messages()),
            tools=tuple(tool.spec for tool in run.tools.values()),
            allow_calls=allow_calls,
        )

    def _learn_from_refusal(self, run: QuestionRun, error: ModelError, tokens: int, sent_tokens: int) -> int:
        """Learn from a request that was too long. Return the maximum tokens of the next one's messages."""
        if error.window_tokens is not None:
            self.model.limit_window(error.window_tokens)
        if error.request_tokens is not None:
            self.model.learn_size(sent_tokens, error.request_tokens)
        budget = self._make_budget(run)
        self.conversation.set_budget(budget)
        smaller = tokens // 2  # the server has named nothing that explains its refusal
        return (
            smaller if budget.messages_max is None or budget.messages_max >= tokens else budget.messages_max
        )

    async def _run_calls(self, run: QuestionRun, *, is_before_last_step: bool) -> None:
        """Run the calls of a reply, searches last. Before the last step, tell the model to answer next."""
        # So that hits do not repeat opened sections.
        uses = sorted(run.step.uses, key=lambda use: use.call.name == SEARCH.name)
        room = max(0, int(_STEP_SHARE * run.room_tokens))
        if self.model.window_tokens is not None:  # one page always fits, because older text makes room for it
            room = max(room, int(_PAGE_ROOM * self.conversation.state.options.page_tokens))
        search_room = self.options.policy.later_tokens_max
        searches_left = sum(use.call.name == SEARCH.name for use in uses[:_CALLS_MAX])
        for index, use in enumerate(uses):
            if index >= _CALLS_MAX:
                uses[index] = replace(use, result=f"{LIMIT_REACHED}: at most {_CALLS_MAX} calls a step")
                continue
            context = ToolContext(
                conversation=self.conversation,
                searcher=self.search.searcher,
                room_tokens=room,
                excerpts=tuple(span for earlier in uses for span in earlier.excerpts),
                search_tokens=search_room // max(1, searches_left),
            )
            result = await run_call(run, use.call, context)
            tokens = estimate_tokens(result.text)
            room = max(0, room - tokens)
            if use.call.name == SEARCH.name:
                search_room = max(0, search_room - tokens)
                searches_left -= 1
            uses[index] = replace(use, result=result.text, excerpts=result.excerpts)
            run.step = replace(run.step, uses=tuple(uses))
            self.conversation.apply_unsaved(result.make_event(use.call.name[:TOOL_NAME_LENGTH_MAX]))
        if is_before_last_step or not run.may_call:
            uses[-1] = replace(uses[-1], result=f"{uses[-1].result}\n{LAST_STEP_NOTE}")
        run.step = replace(run.step, uses=tuple(uses))
