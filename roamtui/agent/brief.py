"""One short request for a small model: the best text, one sentence of instruction, and the question.

It has no tools, no ids, no outline and no example, because a small model repeats all of these as its answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from typing_extensions import override

from roamtui.agent.first_request import QuestionContext, list_history_texts, search_or_warn
from roamtui.agent.prompt import BRIEF_INSTRUCTION
from roamtui.agent.requests import RequestBuilder
from roamtui.agent.specs import list_specs
from roamtui.conversation.budget import estimate_message_tokens
from roamtui.conversation.events import Origin
from roamtui.conversation.messages import Message, Role
from roamtui.conversation.question_flow import prepare_question
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.conversation.update import AskOptions
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.models.base import ModelRequest, TextDelta
from roamtui.models.reply_reader import ReplyReader
from roamtui.outline.labels import format_path
from roamtui.retrieval import policy
from roamtui.retrieval.excerpt import choose_excerpts
from roamtui.retrieval.hit_list import HitList
from roamtui.retrieval.question_search import (
    ModelView,
    complete_follow_up,
    is_sent_whole,
    list_whole_document,
)
from roamtui.search.base import Hit
from roamtui.search.terms import TermMatcher
from roamtui.text import Span, estimate_tokens

_FRAME_TOKENS = 60
"""Tokens of the words around the text and the question."""


class BriefRequestBuilder(RequestBuilder, kw_only=True):
    """Builds the one request of a question, and shortens its text until it fits."""

    text: str = ""
    """What the question is asked about."""

    @override
    async def begin(self, question: str, options: AskOptions) -> None:
        """Record the question with the text that is sent with it."""
        self.conversation.set_budget(self.budget)
        state = self.conversation.state
        state = fold_events(state, *prepare_question(state, options))
        found = await self._choose_context(state, question, options.within, self.budget.messages_max)
        self.text = found.text
        asked, search_events = self.make_events(state.library, question, options, found)
        asked = replace(asked, number=len(state.exchanges) + 1, preface=found.text)
        # The person may have opened or closed sections during the search.
        preparation = prepare_question(self.conversation.state, options)
        await self.conversation.apply(*preparation, asked, *search_events)

    @override
    async def build(self, limit: int, *, allows_calls: bool) -> ModelRequest:
        """Build the request. Choose a shorter text if it has more than `limit` estimated tokens."""
        state = self.conversation.state
        asked = state.exchanges[-1]
        earlier = replace(state, exchanges=state.exchanges[:-1])
        question = f"Question: {complete_follow_up(state.questions)}"
        while True:
            parts = filter(None, [self.text, BRIEF_INSTRUCTION, self.options.question_note, question])
            message = Message(role=Role.USER, text="\n\n".join(parts))
            excess = estimate_message_tokens([message]) - limit
            if excess <= 0 or not self.text:
                return ModelRequest(messages=(message,))
            room = max(0, estimate_tokens(self.text) - excess)
            context = await self._choose_context(earlier, asked.question, asked.within, room)
            self.text = context.text

    async def _choose_context(
        self, state: ConversationState, question: str, within: str | None, room_tokens: int
    ) -> QuestionContext:
        """Choose the text for a question: all that it is about if there is room, or else excerpts of hits.

        Sections that the person opened or pinned come before hits.
        """
        library = state.library
        questions = (*state.questions, question)
        asked = complete_follow_up(questions)
        room_tokens = max(0, room_tokens - estimate_tokens(asked) - _FRAME_TOKENS)
        if whole := _list_whole(library, within, room_tokens):
            return _make_context(library, whole)
        hits: Sequence[Hit] = ()
        if (searcher := self.searcher) is not None:
            search = partial(
                searcher.search,
                library,
                asked,
                earlier=list_history_texts(state.exchanges),
                within=within,
                limit=policy.HITS_MAX,
            )
            hits = await search_or_warn(searcher, search, self.warn) or ()
        opened = [
            section.section_id
            for section in state.open_sections.values()
            if section.section_id in library and (section.opened_by is Origin.PERSON or section.is_pinned)
        ]
        wanted = {hit.section_id: hit for hit in hits}
        for section_id in opened:
            wanted[section_id] = Hit(section_id=section_id, score=1.0, why="opened", is_asked_for=True)
        view = ModelView(library=library, room_tokens=room_tokens)
        matcher = TermMatcher.for_question(asked)
        chosen = await asyncio.to_thread(choose_excerpts, view, wanted, matcher, policy.BRIEF_TOKENS_MAX)
        return _make_context(library, chosen, hits)


def remove_calls(text: str) -> str:
    """Remove the calls that a small model writes although it was offered no tools."""
    reader = ReplyReader([spec.name for spec in list_specs(has_search=True, has_room=False)])
    events = [*reader.feed(text), *reader.finish()]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _list_whole(library: Library, within: str | None, room_tokens: int) -> dict[str, tuple[Span, ...]]:
    """Return the whole text that a question is about, by section; empty if it is too long."""
    if within is None:
        whole = list_whole_document(library, room_tokens)
    else:
        tokens = estimate_tokens(library.text_at(library.node(within).content_span))
        has_others = any(node_id in library.grafts for node_id in library.walk(within) if node_id != within)
        whole = (within,) if is_sent_whole(tokens, room_tokens) and not has_others else ()
    return {section_id: (library.node(section_id).content_span,) for section_id in whole}


def _make_context(
    library: Library, chosen: Mapping[str, Sequence[Span]], hits: Sequence[Hit] = ()
) -> QuestionContext:
    """Join the text of the chosen parts of sections, each below its titles."""
    parts: list[str] = []
    spans: list[Span] = []
    for section_id, cut in chosen.items():
        node = library.node(section_id)
        starts = [span.start for span in cut]
        has_heading = node.kind is not NodeKind.LINK and min(starts, default=0) <= node.content_span.start
        titles = "" if has_heading else format_path(library, section_id)
        pieces = zip(library.list_headers(cut), cut, strict=True)
        texts = [f"{header}{library.clean_text(span).strip()}" for header, span in pieces]
        parts.append("\n".join(filter(None, [titles, *texts])))
        spans += cut
    listed = HitList(excerpts=tuple(spans), section_ids=tuple(chosen))
    return QuestionContext(text="\n\n".join(parts), listed=listed, hits=tuple(hits))
