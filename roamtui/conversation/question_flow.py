"""Start, finish and rewind the questions of a conversation, and rebuild its transcript.

Like `update`, these functions have no side effects.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import (
    FOUND_LEAD,
    HITS_LEAD,
    CloseReason,
    ExpandStatus,
    NodesFolded,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SectionsClosed,
    SectionsSearched,
    TranscriptRebuilt,
)
from roamtui.conversation.state import ConversationState, KeepOpenMode, apply
from roamtui.conversation.update import (
    Events,
    ExpandSections,
    estimate_delivery_tokens,
    expand_for_agent,
    make_close_events,
    open_without_text,
)
from roamtui.document.plain import sanitise_text
from roamtui.document.text import Bounds, Span, estimate_tokens, merge_bounds, subtract_delivered
from roamtui.outline.expansion import render_open_section
from roamtui.outline.labels import format_path

_INSTRUCTIONS_LEAD = (
    "My preferences for all your answers, such as language, style and terms. How you roam, quote and cite stays as you "
    "were told:"
)
# Open text costs little while it is in the provider's cache, but each closing rebuilds the transcript. So sections are
# closed rarely, but then many at once.
_CLOSING_START_SHARE = 0.6
"""Share of the budget that open sections may fill before any is closed."""
_PREFACE_SHARE = 0.4
"""Share of the context window for the section text in the message before the question."""
_PREFACE_TOKENS_MAX = 32_000
_HISTORY_SHARE = 0.2
"""Share of the context window for the earlier questions and answers that a rebuild keeps."""
_QUOTED_TOKENS_MAX = 1_000
"""Maximum tokens of a section that is opened only because an answer quotes it."""
_CLOSING_TARGET_SHARE = 0.35
"""Share of the budget that stays open after closing."""


class PromptContext(Struct, frozen=True, kw_only=True):
    """The parts of a question's prompt that are not in the conversation."""

    system: str
    outline: str
    """The current outline. The transcript keeps it unchanged until the next rebuild."""
    model: str
    """Name of the model that will answer. If it changes, the transcript is rebuilt."""
    window_tokens: int | None = None
    """Size of the model's context window, or None if unknown."""
    auto_opened: tuple[str, ...] = ()
    """Sections to open with the question: a clear search hit, or all text that the question is about if it is short."""
    hits_text: str = ""
    """Search results for the question as text."""
    search_events: tuple[SectionsSearched, ...] = ()
    """Events with which front ends show the search."""
    note: str = ""
    """Text that the program adds before the question; empty if a person asks it."""
    instructions: str = ""
    """The person's wishes for all answers. The transcript keeps them unchanged until the next rebuild."""


def begin_question(state: ConversationState, asked: QuestionAsked, context: PromptContext) -> Events:
    """Start a question, and build its preface, which is everything in its message before the question itself.

    First, fold what the last answer unfolded, and in mode `FRESH`, close the sections of earlier questions. If a
    section was closed, or if the document or the model changed, rebuild the transcript. Then deliver the text of
    sections that the person opened, and open those in `context.auto_opened`. The preface consists of these texts, the
    search results, and the sections that the person asks about and reads.
    """
    events = _fold_after_answer(state)
    if state.options.mode is KeepOpenMode.FRESH:
        old_ids = [one.section_id for one in state.open_sections.values() if one.deliveries and not one.is_pinned]
        events = (*events, *make_close_events(state, old_ids, Origin.AGENT, CloseReason.FRESH))
    state = apply(state, *events)
    if state.needs_rebuild or (state.model and state.model != context.model):
        rebuilt = make_rebuild_event(state, context)
        state, events = apply(state, rebuilt), (*events, rebuilt)
    asked = replace(asked, number=len(state.exchanges) + 1, model=context.model)
    # Sections are delivered to a question, so it is applied first. Its preface is known only after the deliveries.
    pending_ids = tuple(
        one.section_id
        for one in state.open_sections.values()
        if one.tokens and not (one.deliveries or one.is_closing) and one.section_id in state.library
    )
    # A section without room stays open, and is tried again with the next question.
    window = context.window_tokens
    room = _PREFACE_TOKENS_MAX if window is None else min(_PREFACE_TOKENS_MAX, int(window * _PREFACE_SHARE))
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
        parts += [HITS_LEAD, context.hits_text]
    within = asked.within
    if within is not None and within in state.library:
        path = format_path(state.library, within)
        parts.append(f"(The question is about [{within}] {path} and what lies below it: look there alone.)")
    if state.reading_id is not None and state.reading_id in state.library:
        parts.append(f"(The person is reading [{state.reading_id}] {format_path(state.library, state.reading_id)}.)")
    if context.note:
        parts.append(f"({context.note})")
    return (*events, replace(asked, preface="\n\n".join(parts)), *context.search_events, *expanded)


def _fold_after_answer(state: ConversationState) -> Events:
    """Fold what the last answer unfolded, but not the paths to what it cites and to what the person reads."""
    exchanges, library = state.exchanges, state.library
    shown = [citation.section_id for citation in (exchanges[-1].citations if exchanges else ())]
    shown += [state.reading_id] if state.reading_id else []
    paths = {node_id for one in shown if one in library for node_id in (one, *library.node(one).ancestors)}
    folding = tuple(sorted((state.unfolded_by_answer & state.unfolded) - paths))
    return (NodesFolded(section_ids=folding, is_folded=True),) if folding else ()


def finish_question(state: ConversationState, outcome: QuestionAnswered) -> Events:
    """End the current question: open sections that were quoted from search results, then close the marked sections.

    Close others too if the open text exceeds the budget. The last event is `QuestionAnswered`.
    """
    delivered = state.collect_delivered()
    quoted = [
        one.section_id
        for one in outcome.citations
        if one.is_verified and one.span is not None and subtract_delivered(one.span, delivered)
        if one.section_id not in state.open_sections
        if estimate_delivery_tokens(state.library, one.section_id) <= _QUOTED_TOKENS_MAX
    ]
    opening = (open_without_text(state, quoted, Origin.AGENT),) if quoted else ()
    opened = apply(state, *opening)
    cited = {citation.section_id for citation in outcome.citations}
    for section_id in [*cited]:
        cited.update(state.library.node(section_id).ancestors if section_id in state.library else ())
    cited_ids = tuple(section_id for section_id in opened.open_sections if section_id in cited)
    answered = replace(outcome, number=len(state.exchanges), cited_ids=cited_ids)
    ended = apply(opened, answered)
    marked = [one for one, section in ended.open_sections.items() if section.is_closing]
    closed = make_close_events(ended, marked, Origin.AGENT, CloseReason.ASKED)
    ended = apply(ended, *closed)
    over_budget = make_close_events(ended, select_sections_to_close(ended), Origin.AGENT, CloseReason.BUDGET)
    return (*opening, *closed, *over_budget, answered)


def select_sections_to_close(state: ConversationState) -> tuple[str, ...]:
    """Select the sections to close after a question, least useful first.

    The sections cited most recently are closed last. A pinned section is closed only if the open text would exceed the
    whole budget even without any other section.
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


def rewind(state: ConversationState, number: int) -> Events:
    """Remove question `number` (1 for the first) and everything after it.

    Sections that were open before it are open again, unless the document no longer has them. The document and the
    folding of the tree stay as they are.
    """
    rewound = QuestionsRewound(first=number)
    rewound_state = apply(state, rewound)
    missing_ids = tuple(section_id for section_id in rewound_state.open_sections if section_id not in state.library)
    return (rewound, *make_close_events(rewound_state, missing_ids, Origin.PERSON, CloseReason.GONE))


def make_rebuild_event(state: ConversationState, context: PromptContext) -> TranscriptRebuilt:
    """Build a new transcript: the outline, the open sections, and earlier questions and answers without section text.

    During a question, the question and its steps stay as they are. The prologue then contains only the open text that
    is not in these.
    """
    exchanges = state.exchanges
    before = exchanges[-1].open_before if state.is_asking else state.open_sections.values()
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
            blocks.append(
                render_open_section(state.library, section.section_id, spans, delivered=rendered, nonce=state.nonce)
            )
            rendered.setdefault(doc, []).extend(merged)
    parts = []
    # Instructions go into the user's message as a quotation, so that none of their lines can be mistaken for an outline
    # or a section.
    if instructions := sanitise_text(context.instructions).strip():
        parts.append("\n".join([_INSTRUCTIONS_LEAD, *(f"> {line}".rstrip() for line in instructions.splitlines())]))
    parts.append(context.outline.rstrip())
    if blocks:
        parts += ["Sections that are open already:", *blocks]
    first_sent = 0
    if context.window_tokens is not None:  # keep the newest exchanges that fit
        history_room = int(context.window_tokens * _HISTORY_SHARE)
        for index in range(first_with_steps - 1, -1, -1):
            history_room -= estimate_tokens(exchanges[index].question) + estimate_tokens(exchanges[index].reply)
            if history_room < 0:
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
    )


def shrink_transcript(state: ConversationState, context: PromptContext) -> Events:
    """Make room in the transcript of the current question.

    Drop the unpinned sections and the steps that are older than the question. If there are none, nothing can be done.
    """
    number = len(state.exchanges)
    closing = tuple(
        one for one, section in state.open_sections.items() if section.last_used < number and not section.is_pinned
    )
    first_with_steps = state.rebuilt.first_with_steps
    sent_with_steps = state.exchanges[first_with_steps:-1]
    has_earlier_steps = any(exchange.steps or exchange.preface for exchange in sent_with_steps)
    if not closing and not has_earlier_steps and first_with_steps >= number - 1:
        return ()
    closed: Events = ()
    if closing:
        closed = (SectionsClosed(section_ids=closing, origin=Origin.AGENT, reason=CloseReason.OVERFLOW),)
    return (*closed, make_rebuild_event(apply(state, *closed), context))
