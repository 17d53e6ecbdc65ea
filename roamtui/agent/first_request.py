"""Choose what a model reads first: the outline of the document, and the text sent with each question."""

import asyncio
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import SearchHit, SectionsSearched, ToolUse
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.outline.coverage import Coverage, format_absence, measure_coverage
from roamtui.outline.delivered import SpanSet
from roamtui.outline.expansion import estimate_delivery_tokens, get_opened_span
from roamtui.outline.labels import make_path
from roamtui.outline.neighbourhood import render_neighbourhood
from roamtui.outline.references import suggest_unread_pages
from roamtui.outline.render import compute_outline_budget, render_outline
from roamtui.outline.structure import get_canonical_id
from roamtui.parallel import call_in_thread
from roamtui.retrieval import policy
from roamtui.retrieval.hit_list import HitList, render_hits
from roamtui.retrieval.question_search import (
    ModelView,
    choose_clear_hit,
    complete_follow_up,
    list_whole_document,
)
from roamtui.search.base import Hit
from roamtui.search.searcher import Searcher
from roamtui.search.terms import extract_query_terms

HITS_LEAD = "What search finds for it, with excerpts to quote:"
_PAGES_MAX = 8
"""Maximum number of pages to load for a question: as many as are fetched at the same time."""
_NEAR_SHARE = 0.1
"""Maximum share of the room that the outline near the hits takes in a small context window."""


class QuestionContext(Struct, frozen=True, kw_only=True):
    """What is sent with a question."""

    text: str = ""
    """Hits and the outline near them; empty for a small document. A small model gets only excerpts."""
    listed: HitList = HitList()
    """The hits in `text`, with their excerpts."""
    hits: tuple[Hit, ...] = ()
    """All hits, best first, also those that `text` has no room for."""
    auto_opened: tuple[str, ...] = ()
    """Sections to open together with the question. `text` leaves them out."""

    @property
    def has_clear_hit(self) -> bool:
        """Whether the question surely asks for one of these sections, so that a short outline is enough."""
        return bool(self.auto_opened) or any(hit.is_asked_for for hit in self.hits)


def make_view(state: ConversationState, *, earlier: Iterable[ToolUse] = (), room_tokens: int) -> ModelView:
    """Collect what the model has of the library. `earlier` has the earlier calls of the same step."""
    earlier = (*earlier,)
    delivered = state.collect_delivered() | state.collect_excerpts(earlier)
    part_tokens = state.options.part_tokens
    if not state.is_asking:  # the next question delivers what the person has opened
        pending = (each.section_id for each in state.open_sections.values() if not each.deliveries)
        known = (section_id for section_id in pending if section_id in state.library)
        delivered |= (get_opened_span(state.library, each, part_tokens) for each in known)
    shown: list[Exchange | ToolUse] = [*earlier]
    if state.is_asking and state.rebuilt.preface is None:  # else the search results may have been left out
        asked = state.exchanges[-1]
        shown += (asked, *chain.from_iterable(step.uses for step in asked.steps))
    return ModelView(
        library=state.library,
        delivered=delivered,
        named_words=SpanSet.from_spans(span for each in shown for span in each.named_words),
        part_tokens=part_tokens,
        room_tokens=room_tokens,
    )


async def search_or_warn(
    searcher: Searcher, search: Callable[[], Sequence[Hit]], warn: Callable[[str], None]
) -> Sequence[Hit] | None:
    """Search in a thread. If that fails, warn and return None, or raise if the searcher needs all vectors."""
    try:
        return await call_in_thread(search)
    except RoamtuiError as error:
        if searcher.needs_all_vectors:
            raise
        warn(f"The document was not searched: {error}")
        return None


async def choose_question_context(
    searcher: Searcher | None,
    view: ModelView,
    question: str,
    within: str | None,
    earlier: Sequence[str] = (),
    *,
    warn: Callable[[str], None],
) -> QuestionContext:
    """Choose what comes with a question: all of a small document, or what search finds.

    The question is about the section `within`, or the whole document. `earlier` has the questions and answers
    before it, oldest first. `warn` receives a sentence for the person if the search fails.
    """
    if whole := list_whole_document(view.library, view.room_tokens):
        return QuestionContext(auto_opened=whole)
    if searcher is None:
        return QuestionContext()
    # A follow-up is not completed: the model knows what came before, and can search in its own words.
    search = partial(
        searcher.search, view.library, question, limit=policy.HITS_MAX, within=within, earlier=earlier
    )
    hits = await search_or_warn(searcher, search, warn)
    coverage = await asyncio.to_thread(measure_coverage, view.library, within)
    return await asyncio.to_thread(_choose_context, view, hits, question, coverage)


def choose_pages(
    state: ConversationState, searcher: Searcher, question: str, within: str | None
) -> tuple[str, ...]:
    """Choose links to unread pages whose titles or descriptions fit a question. Call this in a thread."""
    library = state.library
    questions = (*state.questions, question)
    hits: Sequence[Hit] = ()
    with suppress(RoamtuiError):  # the search for the question itself reports the failure
        hits = searcher.search(
            library,
            complete_follow_up(questions),
            earlier=list_history_texts(state.exchanges),
            within=within,
            limit=policy.HITS_MAX,
        )
    if not hits and extract_query_terms(question):
        return suggest_unread_pages(library, question)
    nodes = map(library.node, (hit.section_id for hit in hits))
    return tuple(node.id for node in nodes if not node.is_loaded and not node.problem)[:_PAGES_MAX]


def _choose_context(
    view: ModelView, found: Sequence[Hit] | None, question: str, coverage: Coverage
) -> QuestionContext:
    """Choose sections to open, hits and the outline near both. `found` is None if the search failed."""
    hits = found or ()
    library = view.library
    opened = choose_clear_hit(view, hits, question)
    near_tokens = min(policy.NEIGHBOURHOOD_TOKENS, int(_NEAR_SHARE * view.room_tokens))
    taken = sum(estimate_delivery_tokens(library, section_id, view.part_tokens) for section_id in opened)
    view = replace(view, room_tokens=max(0, view.room_tokens - taken - near_tokens))
    listed = render_hits(view, [hit for hit in hits if hit.section_id not in opened], question, opened=opened)
    absence = f"({format_absence(coverage, listed.absent)})" if listed.absent else ""
    is_clear = bool(opened) or any(hit.is_asked_for for hit in hits)  # then the outline may be shorter
    known = {*listed.also_found, *(() if is_clear else view.outlined_ids)}
    near = render_neighbourhood(library, (*opened, *listed.section_ids), near_tokens, known=known)
    if listed.text or opened:
        parts = [HITS_LEAD if listed.section_ids else "", listed.text, absence, near]
    elif hits or found is None:  # there is no room for the hits, or the search failed
        parts = [absence]
    else:
        parts = [format_absence(coverage, "Search finds nothing for it", listed.absent)]
    return QuestionContext(
        text="\n\n".join(filter(None, parts)),
        listed=listed,
        hits=tuple(hits),
        auto_opened=opened,
    )


def render_first_outline(library: Library, outline_max: int, *, has_clear_hit: bool = False) -> str:
    """Render the outline at the start of a conversation in at most `outline_max` tokens."""
    tokens = compute_outline_budget(library, outline_max)
    if has_clear_hit:
        tokens = min(tokens, policy.OUTLINE_TOKENS_WITH_CLEAR_HIT)
    return render_outline(library, budget_tokens=tokens)


def list_history_texts(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """List earlier questions and answers, oldest first.

    Passages are left out: they are about many topics, and the person may have meant none of them.
    """
    texts = ((exchange.question, "" if exchange.has_passages else exchange.answer) for exchange in exchanges)
    return tuple(filter(None, chain.from_iterable(texts)))


def make_search_event(
    library: Library, query: str, hits: Iterable[Hit], read_ids: Container[str] = ()
) -> SectionsSearched:
    """Make the event of a search. The model gets more than a line of each section in `read_ids`."""
    search_hits = (
        SearchHit(
            section_id=hit.section_id,
            path=make_path(library.node(hit.section_id)),
            score=hit.score,
            why=hit.why,
            is_read=get_canonical_id(library, hit.section_id) in read_ids,
        )
        for hit in hits
    )
    return SectionsSearched(query=query, hits=tuple(search_hits))
