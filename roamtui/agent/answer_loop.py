"""The agent loop: send a question to the model and run its tool calls until it answers."""

import asyncio
from contextlib import aclosing
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.agent.approvals import ApprovalGuard
from roamtui.agent.brief import BriefRequestBuilder, remove_calls
from roamtui.agent.document_search import DocumentSearch
from roamtui.agent.first_request import choose_pages
from roamtui.agent.offline import add_passages, answer_offline
from roamtui.agent.options import AgentOptions
from roamtui.agent.outcome import Reply, choose_reminder, make_outcome, make_unchecked_outcome
from roamtui.agent.prompt import CALL_NOT_RUN, LIMIT_REACHED
from roamtui.agent.requests import RequestBuilder, StepRequestBuilder
from roamtui.agent.tool_calls import CallRunner, make_tools
from roamtui.agent.tools import ToolContext
from roamtui.conversation.budget import WINDOW_TOKENS_DEFAULT, estimate_message_tokens, get_answer_tokens
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    Origin,
    PartialReplyRecorded,
    QuestionAnswered,
    QuestionDropped,
    ReminderSent,
    ReplyRejected,
    RetryScheduled,
    Step,
    StepRecorded,
    StepStarted,
    StopReason,
    ThinkingStreamed,
    ThoughtsRecorded,
    UsageRecorded,
)
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.question_flow import finish_question, prepare_question
from roamtui.conversation.state import fold_events
from roamtui.conversation.update import AskOptions, OpenSections, list_nodes_to_load
from roamtui.errors import ModelError, RoamtuiError, UnknownSectionError
from roamtui.models.base import (
    CallUnreadable,
    Model,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.local_servers import LARGER_WINDOW
from roamtui.models.repetition import cut_repetition
from roamtui.models.reply import read_reply
from roamtui.models.usage import UsageMeter, estimate_request
from roamtui.models.worker_protocol import ProviderError
from roamtui.outline.references import has_unread_pages
from roamtui.parallel import call_in_thread
from roamtui.quotes.current_text import add_nearest
from roamtui.text import estimate_tokens, shorten

_STEP_SHARE = 0.5
"""Share of the remaining window that the calls of one step may add."""
_PART_ROOM = 1.5
"""Room for one part of a section with its ids and the list below it, as a multiple of the part's size."""
_BROKEN_CALL_NOTICE = "The model made an invalid request, and was asked to correct it"
_REJECTED_LENGTH_MAX = 300
"""Maximum number of characters of a rejected answer in its event. The step has the whole text."""
_BROKEN_CALL_LENGTH_MAX = 2_000
"""Maximum number of characters of an unreadable call that are sent back to the model."""
_THOUGHTS_LENGTH = 2_000
"""Maximum number of characters to keep of the model's thoughts. The beginning is cut off."""
_SAVE_SECONDS = 1.0
"""A reply is saved this often while it arrives. If the program is killed, only newer text is lost."""


class AnswerLoop(Struct, kw_only=True):
    """Answers one question of a conversation."""

    conversation: Conversation
    model: Model
    """The model with which the question began. The person may have chosen another one since."""
    search: DocumentSearch
    approvals: ApprovalGuard
    options: AgentOptions
    reply: Reply = field(default_factory=Reply)
    """What the model has said so far."""
    calls: CallRunner = field(default_factory=CallRunner)
    room_tokens: int = 0
    """Tokens of the context window that the last request and its answer leave free."""
    stopped: StopReason = StopReason.CANCELLED
    """Why the steps ended, once they have."""
    outcome: QuestionAnswered | None = None
    """The answer and its proof, once they are known."""

    async def answer(self, question: str, options: AskOptions) -> None:
        """Begin a question, and end it even if it fails or is cancelled."""
        try:
            await self._run(question, options)
        except RoamtuiError as error:
            if not self.conversation.state.is_asking:
                raise
            self.outcome = self.outcome or self._make_outcome(StopReason.ERROR, str(error))
        except Exception as defect:
            self.outcome = self.outcome or make_unchecked_outcome(self.reply, defect)
            raise
        finally:
            await self._finish()

    async def _run(self, question: str, options: AskOptions) -> None:
        """Begin the question, take its steps, and judge its answer."""
        conversation = self.conversation
        options = await self._prepare(question, options)
        if self.model.name == OFFLINE:
            self.outcome = await answer_offline(conversation, self.search.searcher, question, options)
            return
        answer = self._answer_briefly if self.model.small_reason else self._answer_in_steps
        self.outcome = await answer(question, options)

    async def _finish(self) -> None:
        """End the question with the answer so far, or publish that it was dropped if it has not begun."""
        conversation = self.conversation
        if not conversation.state.is_asking:
            conversation.publish(QuestionDropped())
            return
        uses = self.calls.take_uses()
        if any(use.result != CALL_NOT_RUN for use in uses):
            conversation.apply_unsaved(StepRecorded(step=Step(text=self.reply.text, uses=uses)))
        outcome = self.outcome or self._make_outcome(self.stopped)
        try:
            citations = await call_in_thread(add_nearest, outcome.citations, conversation.state)
            outcome = replace(outcome, citations=citations)
        finally:  # a second cancellation keeps the answer
            conversation.apply_unsaved(*self.search.take_usage())
            await conversation.apply(*finish_question(conversation.state, outcome))

    def _make_outcome(self, stopped: StopReason, failure: str = "") -> QuestionAnswered:
        try:
            return make_outcome(self.conversation.state, self.reply, stopped, failure)
        except Exception as defect:  # noqa: BLE001 - keep the reply, which is paid for
            return make_unchecked_outcome(self.reply, defect)

    async def _prepare(self, question: str, options: AskOptions) -> AskOptions:
        """Start the model. Load all files, for outline and search, and the pages that the question may need.

        If several links lead to the page of `within`, the returned options name the link that has the page.
        """
        conversation = self.conversation
        library = await conversation.load_all()
        for section_id in (options.within, *options.open_first):
            if section_id is not None and section_id not in library:
                raise UnknownSectionError(section_id)
        await self.model.start()
        await self.approvals.require_approved_model(self.model)
        opening = OpenSections(section_ids=options.open_first, origin=Origin.PERSON)
        if needed := list_nodes_to_load(library, opening):
            await conversation.load(needed, Origin.PERSON)
        state = conversation.state
        if options.within is not None:
            options = replace(options, within=state.library.resolve_alias(options.within))
        searcher = self.search.searcher
        if searcher is not None and has_unread_pages(state.library):
            state = fold_events(state, *prepare_question(state, options))
            pages = await call_in_thread(choose_pages, state, searcher, question, options.within)
            if pages:
                await conversation.load(pages, Origin.AGENT)
        return options

    async def _answer_briefly(self, question: str, options: AskOptions) -> QuestionAnswered:
        """Ask a small model once, and add passages to an answer without a source."""
        conversation = self.conversation
        searcher = self.search.searcher
        requests = BriefRequestBuilder(
            conversation=conversation, model=self.model, searcher=searcher, options=self.options
        )
        await requests.begin(question, options)
        self.reply.step_count = 1
        is_sent = await self._ask_model(requests, allows_calls=False)
        self.stopped = StopReason.ANSWERED if is_sent else StopReason.COST
        self.reply.text = remove_calls(self.reply.text)
        outcome = await asyncio.to_thread(make_outcome, conversation.state, self.reply, self.stopped)
        self.outcome = replace(outcome, unsourced=(), unnamed=())  # it was not asked for ids
        return await add_passages(self.outcome, conversation.state, searcher)

    async def _answer_in_steps(self, question: str, options: AskOptions) -> QuestionAnswered:
        searcher = self.search.searcher
        has_room = self.model.window_tokens >= WINDOW_TOKENS_DEFAULT
        library = self.conversation.state.library
        requests = StepRequestBuilder(
            conversation=self.conversation,
            model=self.model,
            searcher=searcher,
            options=self.options,
            tools=make_tools(library, has_search=searcher is not None, has_room=has_room),
        )
        await requests.begin(question, options)
        self.stopped = await self._run_steps(requests)
        return await asyncio.to_thread(make_outcome, self.conversation.state, self.reply, self.stopped)

    async def _run_steps(self, requests: RequestBuilder) -> StopReason:
        """Ask the model and run its calls, step by step, until it answers or a limit is reached."""
        conversation = self.conversation
        calls = self.calls
        steps_max = self.options.steps_max
        for number in range(1, steps_max + 1):
            self.reply.step_count = number
            is_last = number == steps_max or not calls.may_call
            if not await self._ask_model(requests, allows_calls=not is_last):
                return StopReason.COST
            text = self.reply.text
            if calls.uses and is_last:
                uses = tuple(replace(use, result=LIMIT_REACHED) for use in calls.take_uses())
                await conversation.apply(StepRecorded(step=Step(text="", uses=uses)))
                return StopReason.STEP_LIMIT
            reminder = ""
            if not (calls.uses or is_last):
                reminder = choose_reminder(conversation.state, self.reply, self.room_tokens)
            if not (calls.uses or reminder):
                if self.reply.broken_call:
                    self.reply.text = ""
                break
            if rejected := text.strip():
                # The screen has shown this text, so exports show it too.
                conversation.apply_unsaved(ReplyRejected(text=shorten(rejected, _REJECTED_LENGTH_MAX)))
            if calls.uses:
                part = int(_PART_ROOM * conversation.state.options.part_tokens)
                # one part always fits, because older text makes room for it
                room = max(int(_STEP_SHARE * self.room_tokens), part)
                searcher = self.search.searcher
                context = ToolContext(conversation=conversation, searcher=searcher, room_tokens=room)
                await calls.run(context, is_before_last_step=number + 1 == steps_max)
            elif self.reply.broken_call:
                conversation.apply_unsaved(ReminderSent(text=reminder, notice=_BROKEN_CALL_NOTICE))
                text = f"{text}\n{self.reply.broken_call}".strip()
                self.reply.rejected_text = ""
            else:
                conversation.apply_unsaved(ReminderSent(text=reminder))
                self.reply.rejected_text = text
                self.reply.rejected_reason = self.reply.reason
            step = Step(text=text, uses=calls.take_uses(), reminder=reminder)
            self.reply.text = ""
            await conversation.apply(StepRecorded(step=step))
        return StopReason.ANSWERED

    async def _ask_model(self, requests: RequestBuilder, *, allows_calls: bool) -> bool:
        """Send one request, unless it may exceed the spending limit. Return whether it was sent.

        Shrink the transcript if the request does not fit, and once more if the model rejects it as
        too long. Raise `ModelError` if the model could not answer, or if not even the question fits.
        """
        model = self.model
        conversation = self.conversation
        limit = requests.budget.messages_max
        refusal: ProviderError | None = None
        while True:
            request = await requests.build(limit, allows_calls=allows_calls)
            tokens = estimate_message_tokens(request.messages)
            room = limit - tokens
            if room < 0:
                raise refusal or ModelError(
                    f"The question does not fit in the context window of {model.window_tokens:,} tokens. "
                    f"Ask a shorter one, give {LARGER_WINDOW}, or set window_tokens in config.toml if its "
                    "window is larger."
                )
            sent = estimate_request(model, request)
            conversation.apply_unsaved(*self.search.take_usage())
            reply_tokens = get_answer_tokens(model.window_tokens)
            release = await self.approvals.reserve_or_ask(model, sent, reply_tokens)
            if release is None:
                return False
            self.reply.start()
            self.calls.start_reply(request)
            self.room_tokens = room
            meter = UsageMeter()
            started = StepStarted(
                number=self.reply.step_count, input_tokens=sent.input_tokens, cost_usd=sent.cost_usd
            )
            try:
                await conversation.apply(started)
                await self._receive_reply(request, meter)
            except ProviderError as error:
                if refusal is not None or not error.failure.is_overflow:
                    raise
                refusal = error
                limit = requests.learn_from_refusal(error.failure, tokens, sent.input_tokens)
            else:
                return True
            finally:
                conversation.apply_unsaved(UsageRecorded(usage=meter.take(), ends_step=True))
                release(Usage())

    async def _receive_reply(  # noqa: PLR0912 - one case an event
        self, request: ModelRequest, meter: UsageMeter
    ) -> None:
        """Send a request, and publish the reply while it arrives.

        Raises:
            ModelError: The model could not answer.
        """
        conversation = self.conversation
        thoughts = ""
        saving = asyncio.create_task(self._save_partial_reply())
        try:
            async with aclosing(read_reply(self.model, request, meter)) as events:
                async for event in events:
                    match event:
                        case TextDelta(text):
                            self.reply.text += text
                            conversation.publish(AnswerStreamed(text=text))
                        case ThinkingDelta(text, replaces_text):
                            thoughts += text
                            if replaces_text:
                                self.reply.text = ""
                                await conversation.apply(PartialReplyRecorded(start=0, text=""))
                            conversation.publish(ThinkingStreamed(text=text, replaces_answer=replaces_text))
                        case CallUnreadable(text):
                            self.reply.broken_call = text[:_BROKEN_CALL_LENGTH_MAX]
                        case ToolCallReceived(call):
                            self.calls.add(call)
                        case UsageReported():
                            pass  # `meter` counts it
                        case RetryPending(reason, wait):
                            conversation.apply_unsaved(RetryScheduled(reason=reason, wait_seconds=wait))
                        case ReplyFinished(reason):
                            self.reply.reason = reason
                        case _:
                            assert_never(event)
        finally:
            saving.cancel()
            await asyncio.wait((saving,))
        if self.reply.reason == "repeated":
            self.reply.text = cut_repetition(self.reply.text)
        if thoughts.strip():
            kept = thoughts.strip()[-_THOUGHTS_LENGTH:]
            conversation.apply_unsaved(ThoughtsRecorded(text=kept, tokens=estimate_tokens(thoughts)))

    async def _save_partial_reply(self) -> None:
        """Save the text that has arrived, again and again until this task is cancelled."""
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            start = len(self.conversation.state.exchanges[-1].answer)
            if len(self.reply.text) > start:
                await self.conversation.apply(PartialReplyRecorded(start=start, text=self.reply.text[start:]))
