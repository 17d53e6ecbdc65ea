"""Start and finish the questions of a conversation, without side effects."""

from collections.abc import Iterable

from msgspec.structs import replace

from roamtui.conversation.budget import KeepOpenMode, estimate_message_tokens
from roamtui.conversation.events import (
    CloseReason,
    NodesFolded,
    OpenStatus,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SectionsOpened,
)
from roamtui.conversation.state import ConversationState, Exchange, fold_events
from roamtui.conversation.transcript import PromptContext, list_remarks, make_rebuild_event, shrink_transcript
from roamtui.conversation.update import (
    AskOptions,
    Events,
    OpenSections,
    add_file_titles,
    make_close_events,
    open_for_agent,
    open_without_text,
)
from roamtui.outline.expansion import estimate_delivery_tokens
from roamtui.text import estimate_tokens

OPENED_LEAD = "Open already for the question below:"
"""Introduces the sections that are opened with a question."""
# Open text costs little while it is in the provider's cache, but each closing rebuilds the transcript. So
# sections are closed rarely, but then many at once.
_CLOSING_START_SHARE = 0.6
"""Share of the budget that open sections may fill before any is closed."""
_CLOSING_TARGET_SHARE = 0.35
"""Share of the budget that stays open after closing."""
_QUESTION_TOKENS = 100
"""Tokens of the words around a question: names of sections, and introductions of texts."""
_QUOTED_TOKENS_MAX = 1_000
"""Maximum tokens of a section that is opened only because an answer quotes it."""


def prepare_question(state: ConversationState, options: AskOptions) -> Events:
    """Remove the exchange that a question replaces, and open `open_first`. These sections must be loaded."""
    removed = () if options.replaces is None else (QuestionsRewound(first=options.replaces.number),)
    if not options.open_first:
        return removed
    return (*removed, open_without_text(fold_events(state, *removed), options.open_first))


def start_question(
    state: ConversationState, options: AskOptions, asked: QuestionAsked, context: PromptContext
) -> Events:
    """Start a question, and build its preface, which is everything in its message before the question itself.

    First, make room for the question and its search results. Then deliver the text of sections that the
    person opened, and open those in `context.auto_opened`. The preface has these texts, the search results,
    and remarks on what the person asks about and reads. An event names the sections that had no room.
    """
    preparation = prepare_question(state, options)
    state = fold_events(state, *preparation)
    asked = replace(asked, number=len(state.exchanges) + 1)
    budget = context.budget
    question_tokens = _estimate_question(asked, context)
    hits_tokens = estimate_tokens(context.hits_text)
    events = make_room(state, context, question_tokens + hits_tokens)
    cleared = fold_events(state, *events)
    taken = estimate_message_tokens(cleared.iter_messages()) + question_tokens + hits_tokens
    room = max(0, min(budget.open_max, budget.messages_max - taken))
    # Sections are delivered to a question, so it is applied first. Its preface is known only after the
    # deliveries.
    # Opened sections come before the search results, so they cannot refer to the excerpts.
    opening = replace(asked, excerpts=(), named_words=())
    pending = _deliver_pending(fold_events(cleared, opening), room)
    opening = replace(opening, sections=pending.sections)
    # Sections that are opened with the question get what the pending ones leave.
    left_room = max(0, room - sum(estimate_tokens(result.text) for result in pending.results))
    command = OpenSections(section_ids=context.auto_opened, origin=Origin.AGENT, room_tokens=left_room)
    found = open_for_agent(fold_events(cleared, opening), command)
    found_texts = [result.text for result in found.results if result.status.is_open]
    parts = []
    # a section whose text the model has already needs no line
    if texts := [result.text for result in pending.results if result.tokens or not result.status.is_open]:
        parts += ["Opened since your last answer:", *texts]
    if found_texts:
        parts += [OPENED_LEAD, *found_texts]
    if context.hits_text:
        parts.append(context.hits_text)
    parts += list_remarks(cleared, asked.within, context)
    asked = replace(asked, sections=pending.sections, preface="\n\n".join(parts))
    without_room = tuple(result for result in pending.results if result.status is OpenStatus.NO_ROOM)
    refused = (replace(pending, results=without_room, sections=()),) if without_room else ()
    opened = (found,) if found.opened_ids else ()
    return (*preparation, *events, asked, *refused, *context.search_events, *opened)


def make_room(state: ConversationState, context: PromptContext, needed_tokens: int) -> Events:
    """Make room for a question that needs `needed_tokens`: shrink the transcript if it is too long.

    In mode `FRESH`, close the sections of earlier questions first. Rebuild the transcript if a section was
    closed, or if the document or the model changed.
    """
    events: Events = ()
    if state.options.mode is KeepOpenMode.FRESH:
        sections = state.open_sections.values()
        old_ids = [each.section_id for each in sections if each.deliveries and not each.is_pinned]
        events = make_close_events(old_ids, CloseReason.FRESH)
    closed = fold_events(state, *events)
    if closed.needs_rebuild or (closed.model and closed.model != context.model):
        events = (*events, make_rebuild_event(closed, context, history_max=context.budget.history_max))
    return (*events, *shrink_transcript(fold_events(state, *events), context, needed_tokens))


def _deliver_pending(state: ConversationState, room_tokens: int) -> SectionsOpened:
    """Deliver the text of open sections that the model lacks. Those without room wait for the next question.

    A section has 0 `tokens` if another open section had its text. The model lacks this text only if that
    section has been closed since.
    """
    library = state.library
    delivered = state.collect_delivered()
    pending_ids: list[str] = []
    for section_id, section in state.open_sections.items():
        if section_id not in library or section.deliveries or section.is_closing:
            continue
        if section.tokens or delivered.subtract_from(library.node(section_id).own_content_span):
            pending_ids.append(section_id)
    command = OpenSections(section_ids=tuple(pending_ids), origin=Origin.AGENT, room_tokens=room_tokens)
    return open_for_agent(state, command)


def estimate_hits_room(state: ConversationState, question: str, context: PromptContext) -> int:
    """Estimate how many tokens the search results may have if earlier questions are left out."""
    budget = context.budget
    pending = sum(section.tokens for section in state.open_sections.values() if not section.deliveries)
    rest = (context.system, context.outline, context.instructions)
    taken = sum(map(estimate_tokens, rest)) + min(pending, budget.open_max)
    taken += _estimate_question(QuestionAsked(question=question), context)
    return max(0, min(budget.hits_max, budget.messages_max - taken))


def _estimate_question(asked: QuestionAsked, context: PromptContext) -> int:
    return _QUESTION_TOKENS + estimate_tokens(asked.question) + estimate_tokens(context.note)


def _fold_after_answer(state: ConversationState, cited: Iterable[str]) -> Events:
    """Fold nodes that answers unfolded, except those that show a `cited` section or the one being read."""
    library = state.library
    shown = [*cited, *([state.reading_id] if state.reading_id else [])]
    paths = [
        node_id
        for section_id in shown
        if section_id in library
        for node_id in (section_id, *library.node(section_id).ancestors)
    ]
    kept = add_file_titles(library, paths)
    folding = tuple(sorted((state.unfolded_by_answer & state.unfolded).difference(kept)))
    return (NodesFolded(section_ids=folding, is_folded=True),) if folding else ()


def finish_question(state: ConversationState, outcome: QuestionAnswered) -> Events:
    """End the current question: open sections that were quoted from hits, then close the marked ones.

    Close others too if the open text nears the budget, and fold nodes that no longer show a cited section.
    The last event is `QuestionAnswered`.
    """
    delivered = state.collect_delivered()
    quoted = [
        citation.section_id
        for citation in outcome.citations
        if citation.is_verified and citation.span is not None and delivered.subtract_from(citation.span)
        if citation.section_id not in state.open_sections
        if estimate_delivery_tokens(state.library, citation.section_id, state.options.part_tokens)
        <= _QUOTED_TOKENS_MAX
    ]
    opening = (open_without_text(state, quoted, Origin.AGENT),) if quoted else ()
    opened = fold_events(state, *opening)
    cited = {citation.section_id for citation in outcome.citations}
    folding = _fold_after_answer(opened, cited)
    for section_id in [*cited]:
        cited.update(state.library.node(section_id).ancestors if section_id in state.library else ())
    cited_ids = tuple(section_id for section_id in opened.open_sections if section_id in cited)
    usage = state.exchanges[-1].usage + state.in_flight
    answered = replace(outcome, number=len(state.exchanges), cited_ids=cited_ids, usage=usage)
    ended = fold_events(opened, answered)
    marked = [marked_id for marked_id, section in ended.open_sections.items() if section.is_closing]
    closed = make_close_events(marked, CloseReason.ASKED)
    ended = fold_events(ended, *closed)
    over_budget = make_close_events(choose_sections_to_close(ended), CloseReason.BUDGET)
    return (*opening, *closed, *over_budget, *folding, answered)


def choose_sections_to_close(state: ConversationState) -> tuple[str, ...]:
    """Select the sections to close after a question, least useful first.

    Those that the agent opened come before those that the person opened, and recently cited ones come last.
    Pinned sections are closed only if they exceed the whole budget without any other section.
    """
    budget = state.options.budget_tokens
    open_tokens = state.open_tokens
    if state.options.mode is not KeepOpenMode.KEEP or open_tokens <= _CLOSING_START_SHARE * budget:
        return ()
    closing: list[str] = []
    for section in sorted(
        state.open_sections.values(),
        key=lambda s: (s.is_pinned, s.opened_by is Origin.PERSON, s.last_cited, s.last_used),
    ):
        target = budget if section.is_pinned else _CLOSING_TARGET_SHARE * budget
        if open_tokens <= target:
            break
        if section.tokens:
            closing.append(section.section_id)
            open_tokens -= section.tokens
    return tuple(closing)


def has_exchange(state: ConversationState, exchange: Exchange) -> bool:
    """Return whether the conversation still has an exchange."""
    # The same exchange may have got more events, or another chosen answer.
    kept = state.exchanges[exchange.number - 1 : exchange.number]
    answers = [(other.question, answer.answer) for other in kept for answer in other.answers]
    return (exchange.question, exchange.answer) in answers
