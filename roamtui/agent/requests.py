"""Decides what the model gets for one question, within its context window."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from roamtui.agent.first_request import (
    QuestionContext,
    choose_question_context,
    list_history_texts,
    make_search_event,
    make_view,
    render_first_outline,
)
from roamtui.agent.options import AgentOptions
from roamtui.agent.prompt import SYSTEM, WHOLE_NOTE
from roamtui.agent.tools import Tool
from roamtui.conversation.budget import RequestBudget, share_window
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import QuestionAsked, SectionsSearched, WarningRaised
from roamtui.conversation.log import get_time
from roamtui.conversation.question_flow import estimate_hits_room, make_room, prepare_question, start_question
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.conversation.transcript import PromptContext, shrink_transcript
from roamtui.conversation.update import AskOptions
from roamtui.document.library import Library
from roamtui.models.base import Model, ModelRequest
from roamtui.models.worker_protocol import ModelFailure
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.ids import list_ids
from roamtui.retrieval.question_search import list_whole_document
from roamtui.search.searcher import Searcher


class RequestBuilder(Struct, kw_only=True):
    """Builds the requests of one question, and records the question. There are two kinds of requests."""

    conversation: Conversation
    model: Model
    """The model with which the question began. The person may have chosen another one since."""
    searcher: Searcher | None
    options: AgentOptions
    tools: Mapping[str, Tool] = {}
    """Tools that the model may call, by name."""

    async def begin(self, question: str, options: AskOptions) -> None:
        """Record the question with the text that is sent with it."""
        raise NotImplementedError

    async def build(self, limit: int, *, allows_calls: bool) -> ModelRequest:
        """Build the next request. Shorten it if its messages have more than `limit` estimated tokens."""
        raise NotImplementedError

    @property
    def budget(self) -> RequestBudget:
        """How the context window of the model is shared."""
        model = self.model
        return share_window(
            model.window_tokens,
            tools_tokens=model.estimate_tool_tokens(len(self.tools)),
            has_tools=not model.refuses_tools,
            token_ratio=model.token_ratio,
        )

    def make_events(
        self, library: Library, question: str, options: AskOptions, found: QuestionContext
    ) -> tuple[QuestionAsked, tuple[SectionsSearched, ...]]:
        """Make the events of a question and of the search for it."""
        asked = QuestionAsked(
            question=question,
            within=options.within,
            model=self.model.name,
            server=self.model.facts.server,
            asked_at=get_time(),
            excerpts=found.listed.excerpts,
            named_words=found.listed.named_words,
            is_one_shot=options.is_one_shot,
        )
        searched = make_search_event(library, question, found.hits, found.listed.section_ids)
        return asked, (searched,) if found.hits else ()

    def warn(self, message: str) -> None:
        """Tell the person what a search could not do."""
        self.conversation.publish(WarningRaised(message=message))

    def learn_from_refusal(self, failure: ModelFailure, tokens: int, sent_tokens: int) -> int:
        """Learn from a request that was too long. Return how many tokens the next messages may have.

        The messages of the request had `tokens`, and the request with its tools had `sent_tokens`.
        """
        if failure.window_tokens is not None:
            self.model.limit_window(failure.window_tokens)
        if failure.request_tokens is not None:
            self.model.update_token_ratio(sent_tokens, failure.request_tokens)
        budget = self.budget
        self.conversation.set_budget(budget)
        known = budget.messages_max
        return tokens // 2 if known >= tokens else known  # half, if the provider named no lower limit


class StepRequestBuilder(RequestBuilder, kw_only=True):
    """Builds the requests of a question that is answered in steps, and records changes of the transcript."""

    hits_text: str = ""
    """What search found for the question."""

    @override
    async def begin(self, question: str, options: AskOptions) -> None:
        """Record the question with the text that is sent with it: search results, or a whole document."""
        self.conversation.set_budget(self.budget)
        state = self.conversation.state
        state = fold_events(state, *prepare_question(state, options))
        found = QuestionContext()
        if self.options.sends_hits:
            context = await self._build_prompt_context(state)
            room = estimate_hits_room(state, question, context)
            # What will be left out of the transcript to make room is not there to be named.
            kept = fold_events(state, *make_room(state, context, room))
            view = make_view(kept, room_tokens=room)
            view = replace(view, outlined_ids=frozenset(list_ids(kept.rebuilt.prologue)))
            earlier = list_history_texts(state.exchanges)
            found = await choose_question_context(
                self.searcher, view, question, options.within, earlier, warn=self.warn
            )
            self.hits_text = found.text
        asked, search_events = self.make_events(state.library, question, options, found)
        # A clear hit is named even if it is open. All sections of a short document are open from the start.
        opened = tuple(each for each in found.auto_opened if found.hits or each not in state.open_sections)
        context = await self._build_prompt_context(state, opened, has_clear_hit=found.has_clear_hit)
        context = replace(context, search_events=search_events)
        # The person may have opened or closed sections during the search.
        await self.conversation.apply(*start_question(self.conversation.state, options, asked, context))
        if self._is_whole_open(self.conversation.state):
            self.tools = {}

    async def _build_prompt_context(
        self, state: ConversationState, opened: tuple[str, ...] = (), *, has_clear_hit: bool = False
    ) -> PromptContext:
        """Build the prompt context. `opened` has the sections that the question will open."""
        budget = self.budget
        if self._is_whole_open(state, opened):
            outline = f"{WHOLE_NOTE} {measure_coverage(state.library).gaps}".rstrip()
        else:
            outline = await asyncio.to_thread(
                render_first_outline, state.library, budget.outline_max, has_clear_hit=has_clear_hit
            )
        return PromptContext(
            system=SYSTEM,
            outline=outline,
            model=self.model.name,
            budget=budget,
            auto_opened=opened,
            hits_text=self.hits_text,
            note=self.options.question_note,
            instructions=self.options.instructions,
        )

    def _is_whole_open(self, state: ConversationState, opened: tuple[str, ...] = ()) -> bool:
        """Return whether all top sections of a short document are open or about to open."""
        whole = list_whole_document(state.library, self.budget.hits_max) if self.options.sends_hits else ()
        return bool(whole) and {*whole} <= {*state.open_sections, *opened}

    @override
    async def build(self, limit: int, *, allows_calls: bool) -> ModelRequest:
        """Build the next request. Shorten the transcript if it is too long."""
        conversation = self.conversation
        context = await self._build_prompt_context(conversation.state)
        context = replace(context, budget=replace(context.budget, messages_max=limit))
        await conversation.apply(*shrink_transcript(conversation.state, context))
        return ModelRequest(
            messages=tuple(conversation.state.iter_messages()),
            tools=tuple(tool.spec for tool in self.tools.values()),
            allows_calls=allows_calls,
        )
