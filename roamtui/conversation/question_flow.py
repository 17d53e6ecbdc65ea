"""Start, finish and rewind the questions of a conversation, and rebuild its transcript.

Like `update`, these functions have no side effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.budget import RequestBudget, estimate_message_tokens
from roamtui.conversation.events import (
    FOUND_LEAD,
    CloseReason,
    ExpandStatus,
    NodesFolded,
    OpenSection,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
    TranscriptRebuilt,
)
from roamtui.conversation.state import ConversationState, Exchange, KeepOpenMode, apply
from roamtui.conversation.update import (
    Events,
    ExpandSections,
    add_file_titles,
    expand_for_agent,
    make_close_events,
    open_without_text,
)
from roamtui.outline.expansion import estimate_delivery_tokens, render_open_section
from roamtui.outline.labels import format_path
from roamtui.plain import sanitise_text
from roamtui.text import Bounds, Span, estimate_tokens, merge_bounds, subtract_delivered

_INSTRUCTIONS_LEAD = (
    "My preferences for all your answers, such as language, style and terms. How you roam, quote and cite "
    "stays as you were told:"
)
# Open text costs little while it is in the provider's cache, but each closing rebuilds the transcript. So
# sections are closed rarely, but then many at once.
_CLOSING_START_SHARE = 0.6
"""Share of the budget that open sections may fill before any is closed."""
_QUESTION_TOKENS = 100
"""What stands around a question: names of sections, and words that introduce texts."""
_QUOTED_TOKENS_MAX = 1_000
"""Maximum tokens of a section that is opened only because an answer quotes it."""
_CLOSING_TARGET_SHARE = 0.35
"""Share of the budget that stays open after closing."""


class PromptContext(Struct, frozen=True, kw_only=True):
    """The parts of a question's prompt that are not in the conversation."""

    system: str
    outline: str
    """The current outline, which stays until the next rebuild; empty if it comes with each question."""
    model: str
    """Name of the model that will answer. If it changes, the transcript is rebuilt."""
    budget: RequestBudget = RequestBudget()
    auto_opened: tuple[str, ...] = ()
    """Sections to open with the question: a clear hit, or all that the question is about if it is short."""
    hits_text: str = ""
    """Search results for the question as text, with the outline near them."""
    search_events: tuple[SectionsSearched, ...] = ()
    """Events with which front ends show the search."""
    note: str = ""
    """Text that the program adds before the question; empty if a person asks it."""
    instructions: str = ""
    """The person's wishes for all answers. The transcript keeps them unchanged until the next rebuild."""


def begin_question(state: ConversationState, asked: QuestionAsked, context: PromptContext) -> Events:
    """Start a question, and build its preface, which is everything in its message before the question itself.

    First, in mode `FRESH`, close the sections of earlier questions. If a section was closed, or if the
    document or the model changed, rebuild the transcript. If it is too long for the question and its search
    results, shrink it, and leave the results out if that is not enough. Then deliver the text of sections
    that the person opened, and open those in `context.auto_opened`. The preface consists of these texts, the
    search results, and the sections that the person asks about and reads.
    """
    events: Events = ()
    if state.options.mode is KeepOpenMode.FRESH:
        old_ids = [
            section.section_id
            for section in state.open_sections.values()
            if section.deliveries and not section.is_pinned
        ]
        events = make_close_events(state, old_ids, Origin.AGENT, CloseReason.FRESH)
    state = apply(state, *events)
    if state.needs_rebuild or (state.model and state.model != context.model):
        rebuilt = make_rebuild_event(state, context, history_max=context.budget.history_max)
        state = apply(state, rebuilt)
        events = (*events, rebuilt)
    asked = replace(asked, number=len(state.exchanges) + 1, model=context.model)
    budget = context.budget
    hits_tokens = estimate_tokens(context.hits_text)
    question_tokens = _estimate_question(asked, context)
    shrunk = shrink_transcript(state, context, question_tokens + hits_tokens)
    state = apply(state, *shrunk)
    events = (*events, *shrunk)
    room = budget.open_max
    if budget.messages_max is not None:
        left = budget.messages_max - estimate_message_tokens(state.iter_messages()) - question_tokens
        if hits_tokens > left:
            context = replace(context, hits_text="")
            asked = replace(asked, excerpts=())
            hits_tokens = 0
        room = max(0, min(room, left - hits_tokens))
    # Sections are delivered to a question, so it is applied first. Its preface is known only after the
    # deliveries.
    pending_ids = tuple(
        section.section_id
        for section in state.open_sections.values()
        if section.tokens
        and not (section.deliveries or section.is_closing)
        and section.section_id in state.library
    )
    # A section without room stays open, and is tried again with the next question.
    deliver = ExpandSections(section_ids=pending_ids, origin=Origin.AGENT, room_tokens=room)
    pending = expand_for_agent(apply(state, asked), deliver)
    pending_blocks = [result.text for result in pending.results]
    asked = replace(asked, sections=pending.sections)
    started = apply(state, asked)
    # Sections that are opened with the question get what the pending blocks leave.
    room = max(0, room - sum(map(estimate_tokens, pending_blocks)))
    command = ExpandSections(section_ids=context.auto_opened, origin=Origin.AGENT, room_tokens=room)
    expansion = expand_for_agent(started, command)
    found_blocks = [result.text for result in expansion.results if result.status is ExpandStatus.OPENED]
    expanded = (expansion,) if found_blocks else ()
    parts = []
    if pending_blocks:
        parts += ["Opened since your last answer:", *pending_blocks]
    if found_blocks:
        parts += [FOUND_LEAD, *found_blocks]
    if context.hits_text:
        parts.append(context.hits_text)
    parts += _list_remarks(state, asked.within, context)
    return (*events, replace(asked, preface="\n\n".join(parts)), *context.search_events, *expanded)


def estimate_hits_room(state: ConversationState, question: str, context: PromptContext) -> int | None:
    """Estimate the tokens for search results, without earlier questions; None if nothing limits them."""
    budget = context.budget
    if budget.messages_max is None or budget.hits_max is None:
        return None
    pending = sum(section.tokens for section in state.open_sections.values() if not section.deliveries)
    rest = (context.system, context.outline, context.instructions)
    taken = sum(map(estimate_tokens, rest)) + min(pending, budget.open_max)
    taken += _estimate_question(QuestionAsked(question=question), context)
    return max(0, min(budget.hits_max, budget.messages_max - taken))


def _estimate_question(asked: QuestionAsked, context: PromptContext) -> int:
    return _QUESTION_TOKENS + estimate_tokens(asked.question) + estimate_tokens(context.note)


def _list_remarks(state: ConversationState, within: str | None, context: PromptContext) -> list[str]:
    """List what a preface says of the person and the question."""
    parts: list[str] = []
    if within is not None and within in state.library:
        path = format_path(state.library, within)
        parts.append(f"(The question is about [{within}] {path} and what lies below it: look only there.)")
    if state.reading_id is not None and state.reading_id in state.library:
        parts.append(
            f"(The person is reading [{state.reading_id}] {format_path(state.library, state.reading_id)}.)"
        )
    if context.note:
        parts.append(f"({context.note})")
    return parts


def _fold_after_answer(state: ConversationState, cited: Iterable[str]) -> Events:
    """Fold what answers unfolded, but not the paths to what the last one cites and the person reads."""
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

    Close others too if the open text exceeds the budget, and fold what no longer shows a quote. The last
    event is `QuestionAnswered`.
    """
    delivered = state.collect_delivered()
    quoted = [
        citation.section_id
        for citation in outcome.citations
        if citation.is_verified and citation.span is not None and subtract_delivered(citation.span, delivered)
        if citation.section_id not in state.open_sections
        if estimate_delivery_tokens(state.library, citation.section_id, state.options.page_tokens)
        <= _QUOTED_TOKENS_MAX
    ]
    opening = (open_without_text(state, quoted, Origin.AGENT),) if quoted else ()
    opened = apply(state, *opening)
    cited = {citation.section_id for citation in outcome.citations}
    folding = _fold_after_answer(opened, cited)
    for section_id in [*cited]:
        cited.update(state.library.node(section_id).ancestors if section_id in state.library else ())
    cited_ids = tuple(section_id for section_id in opened.open_sections if section_id in cited)
    answered = replace(outcome, number=len(state.exchanges), cited_ids=cited_ids)
    ended = apply(opened, answered)
    marked = [marked_id for marked_id, section in ended.open_sections.items() if section.is_closing]
    closed = make_close_events(ended, marked, Origin.AGENT, CloseReason.ASKED)
    ended = apply(ended, *closed)
    over_budget = make_close_events(ended, select_sections_to_close(ended), Origin.AGENT, CloseReason.BUDGET)
    return (*opening, *closed, *over_budget, *folding, answered)


def select_sections_to_close(state: ConversationState) -> tuple[str, ...]:
    """Select the sections to close after a question, least useful first.

    The sections cited most recently are closed last. A pinned section is closed only if the open text would
    exceed the whole budget even without any other section.
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
    """Check whether the conversation still has an exchange, which a rewind or a switch may have removed."""
    # Does not compare the events, because the exchange may have more of them by now.
    kept = state.exchanges[exchange.number - 1 : exchange.number]
    return [(other.question, other.answer) for other in kept] == [(exchange.question, exchange.answer)]


def rewind(state: ConversationState, number: int) -> Events:
    """Remove question `number` (1 for the first) and everything after it.

    Sections that were open before it are open again, unless the document no longer has them. The document and
    the folding of the tree stay as they are.
    """
    rewound = QuestionsRewound(first=number)
    rewound_state = apply(state, rewound)
    missing_ids = tuple(
        section_id for section_id in rewound_state.open_sections if section_id not in state.library
    )
    return (rewound, *make_close_events(rewound_state, missing_ids, Origin.PERSON, CloseReason.GONE))


def make_rebuild_event(
    state: ConversationState,
    context: PromptContext,
    *,
    history_max: int | None = None,
    preface: str | None = None,
) -> TranscriptRebuilt:
    """Build a new transcript: outline, open sections, and earlier questions with answers.

    During a question, the question and its steps stay as they are. The prologue then contains only the open
    text that is not in these. With `preface`, this takes the place of all that the model got for the question
    so far, and the prologue contains all open text.
    """
    exchanges = state.exchanges
    is_kept = state.is_asking and preface is None
    before = exchanges[-1].open_before if is_kept else state.open_sections.values()
    earlier = {span for section in before for span in section.deliveries}
    first_with_steps = len(exchanges) - 1 if state.is_asking else len(exchanges)
    blocks: list[str] = []
    rendered: dict[str, list[Bounds]] = {}
    for section in state.open_sections.values():
        # The rest is in the current question and its steps.
        merged = merge_bounds((span.start, span.end) for span in section.deliveries if span in earlier)
        if merged:
            doc = section.deliveries[0].doc
            spans = tuple(Span(doc=doc, start=start, end=end) for start, end in merged)
            block = render_open_section(
                state.library,
                section.section_id,
                spans,
                delivered=rendered,
                nonce=state.nonce,
                page_tokens=state.options.page_tokens,
            )
            blocks.append(block)
            rendered.setdefault(doc, []).extend(merged)
    parts = []
    # Instructions go into the user's message as a quotation, so that none of their lines can be mistaken for
    # an outline or a section.
    if instructions := sanitise_text(context.instructions).strip():
        parts.append(
            "\n".join([_INSTRUCTIONS_LEAD, *(f"> {line}".rstrip() for line in instructions.splitlines())])
        )
    if context.outline:
        parts.append(context.outline.rstrip())
    if blocks:
        parts += ["Sections that are open already:", *blocks]
    first_sent = 0
    if history_max is not None:  # keep the newest exchanges that fit
        for index in range(first_with_steps - 1, -1, -1):
            history_max -= estimate_tokens(exchanges[index].question) + estimate_tokens(
                exchanges[index].reply
            )
            if history_max < 0:
                first_sent = index + 1
                break
    if first_sent:
        parts.append(f"({first_sent} earlier questions of this conversation are left out here to save room.)")
    return TranscriptRebuilt(
        system=context.system,
        prologue="\n\n".join(parts),
        model=context.model,
        first_with_steps=first_with_steps,
        first_sent=first_sent,
        preface=preface,
        first_step=len(exchanges[-1].steps) if preface is not None else 0,
    )


def shrink_transcript(state: ConversationState, context: PromptContext, needed_tokens: int = 0) -> Events:
    """Make room for `needed_tokens` more in the transcript if it does not fit the budget.

    First, older sections and steps go, and most earlier questions; then pinned sections and all earlier
    questions. During a question, search results and steps go last, and then the oldest of the text that was
    opened for it.
    """
    limit = context.budget.messages_max

    def fits(events: Events) -> bool:
        tokens = estimate_message_tokens(apply(state, *events).iter_messages())
        return limit is None or tokens + needed_tokens <= limit

    events: Events = ()
    if fits(events):
        return events
    number = len(state.exchanges) + (not state.is_asking)
    older = [
        section
        for section in state.open_sections.values()
        if section.last_used < number and section.deliveries
    ]
    unpinned = [section.section_id for section in older if not section.is_pinned]
    for closing, history_max in (
        (unpinned, context.budget.history_max),
        ([section.section_id for section in older], 0),
    ):
        closed = _close_for_room(closing)
        events = (*closed, make_rebuild_event(apply(state, *closed), context, history_max=history_max))
        if fits(events):
            return events
    if not state.is_asking:
        return events
    texts = _list_newest_texts(state)
    tokens = [estimate_tokens(state.library.text_at(span)) for _, span in texts]
    while limit is not None and sum(tokens[: len(texts)]) + needed_tokens > limit:
        texts = texts[:-1]
    remarks = _list_remarks(state, state.exchanges[-1].within, context)
    with_hits = [context.hits_text, *remarks]
    while True:
        trimmed = _keep_texts(state, texts)
        for preface in (with_hits, remarks) if context.hits_text else (remarks,):
            words = "\n\n".join(preface)
            rebuilt = make_rebuild_event(apply(state, *trimmed), context, history_max=0, preface=words)
            events = (*trimmed, rebuilt)
            if fits(events):
                return events
        if not texts:
            return events
        texts = texts[:-1]


def _list_newest_texts(state: ConversationState) -> list[tuple[str, Span]]:
    """List the text of open sections that the model has, the newest first, each with its section."""
    opened: dict[str, int] = {}
    for number, event in enumerate(state.exchanges[-1].events):
        if isinstance(event, SectionsExpanded):
            opened |= dict.fromkeys((section.section_id for section in event.sections), number)
    sections = sorted(
        state.open_sections.values(),
        key=lambda section: (section.last_used, opened.get(section.section_id, -1)),
        reverse=True,
    )
    return [(section.section_id, span) for section in sections for span in reversed(section.deliveries)]


def _keep_texts(state: ConversationState, texts: Sequence[tuple[str, Span]]) -> Events:
    """Close all open sections but those with these texts, and forget the other texts of these."""
    kept: dict[str, OpenSection] = {}
    closing: list[str] = []
    for section in state.open_sections.values():
        deliveries = tuple(span for span in section.deliveries if (section.section_id, span) in texts)
        if section.deliveries and not deliveries:
            closing.append(section.section_id)
        elif deliveries != section.deliveries:
            tokens = sum(estimate_tokens(state.library.text_at(span)) for span in deliveries)
            kept[section.section_id] = replace(section, deliveries=deliveries, tokens=tokens)
    shortened = SectionsExpanded(results=(), origin=Origin.AGENT, sections=tuple(kept.values()))
    return (*_close_for_room(closing), *((shortened,) if kept else ()))


def _close_for_room(section_ids: Sequence[str]) -> Events:
    if not section_ids:
        return ()
    return (SectionsClosed(section_ids=tuple(section_ids), origin=Origin.AGENT, reason=CloseReason.OVERFLOW),)
