"""Rebuild what the model reads of a conversation, and shrink it when it is too long, without side effects."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.budget import RequestBudget, estimate_message_tokens
from roamtui.conversation.events import (
    CloseReason,
    OpenedSection,
    Origin,
    SectionsOpened,
    SectionsSearched,
    TranscriptRebuilt,
)
from roamtui.conversation.state import ConversationState, Exchange, fold_events
from roamtui.conversation.update import Events, make_close_events
from roamtui.outline.delivered import SpanSet
from roamtui.outline.expansion import render_open_section
from roamtui.outline.labels import format_path
from roamtui.outline.missing_text import count_span_tokens
from roamtui.sanitiser import sanitise_text
from roamtui.text import Span, estimate_tokens, format_count

_INSTRUCTIONS_LEAD = (
    "My preferences for all your answers, such as language, style and terms. How you roam, quote and cite "
    "stays as you were told:"
)


class PromptContext(Struct, frozen=True, kw_only=True):
    """The parts of a question's prompt that are not in the conversation."""

    system: str
    outline: str
    """The current outline, which stays until the next rebuild. Empty without a model."""
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


def list_remarks(state: ConversationState, within: str | None, context: PromptContext) -> list[str]:
    """List what a preface says about the person and the question."""
    parts: list[str] = []
    if within is not None and within in state.library:
        path = format_path(state.library, within)
        parts.append(f"(The question is about [{within}] {path} and what lies below it: look only there.)")
    if state.reading_id is not None and state.reading_id in state.library:
        path = format_path(state.library, state.reading_id)
        parts.append(f"(The person is reading [{state.reading_id}] {path}.)")
    if context.note:
        parts.append(f"({context.note})")
    return parts


def make_rebuild_event(
    state: ConversationState,
    context: PromptContext,
    *,
    history_max: int,
    preface: str | None = None,
) -> TranscriptRebuilt:
    """Build a new transcript: outline, open sections, and earlier questions with answers.

    During a question, its messages stay as they are, and the prologue has only the open text that is not in
    them. A `preface` replaces these messages, and then the prologue has all open text.
    """
    exchanges = state.exchanges
    is_kept = state.is_asking and preface is None
    before = exchanges[-1].open_before if is_kept else state.open_sections.values()
    earlier = {span for section in before for span in section.deliveries}
    if is_kept:
        earlier |= _list_in_earlier_excerpts(state)
    first_with_steps = len(exchanges) - 1 if state.is_asking else len(exchanges)
    parts = []
    # Instructions go into the user's message as a quotation, so that none of their lines can be mistaken for
    # an outline or a section.
    if instructions := sanitise_text(context.instructions).strip():
        quotation = (f"> {line}".rstrip() for line in instructions.splitlines())
        parts.append("\n".join([_INSTRUCTIONS_LEAD, *quotation]))
    if context.outline:
        parts.append(context.outline.rstrip())
    if blocks := _render_open_sections(state, earlier):
        parts += ["Sections that are open already:", *blocks]
    first_sent = _find_first_fitting(exchanges[:first_with_steps], history_max)
    if first_sent:
        parts.append(f"(Left out here to save room: {format_count(first_sent, 'earlier question')}.)")
    return TranscriptRebuilt(
        system=context.system,
        prologue="\n\n".join(parts),
        model=context.model,
        first_with_steps=first_with_steps,
        first_sent=first_sent,
        preface=preface,
        first_step=len(exchanges[-1].steps) if preface is not None else 0,
    )


def _list_in_earlier_excerpts(state: ConversationState) -> set[Span]:
    """List the texts of open sections that are in excerpts of earlier questions."""
    current = (exchange for exchange in state.exchanges[:-1] if not exchange.is_stale)
    excerpts = SpanSet.from_spans(span for exchange in current for span in exchange.iter_excerpts())
    texts = (span for section in state.open_sections.values() for span in section.deliveries)
    return {span for span in texts if excerpts.subtract_from(span) != [span]}


def _render_open_sections(state: ConversationState, earlier: set[Span]) -> list[str]:
    """Render the `earlier` texts of open sections. The messages of the current question have the others."""
    blocks: list[str] = []
    rendered = SpanSet()
    for section in state.open_sections.values():
        texts = SpanSet.from_spans(span for span in section.deliveries if span in earlier)
        if texts:
            block = render_open_section(
                state.library,
                section.section_id,
                tuple(texts),
                delivered=rendered,
                nonce=state.nonce,
                part_tokens=state.options.part_tokens,
            )
            blocks.append(block)
            rendered |= texts
    return blocks


def _find_first_fitting(exchanges: Sequence[Exchange], tokens_max: int) -> int:
    """Return the index of the first exchange that, with all newer ones, has at most `tokens_max`."""
    tokens = 0
    for index in reversed(range(len(exchanges))):
        tokens += estimate_tokens(exchanges[index].question) + estimate_tokens(exchanges[index].reply)
        if tokens > tokens_max:
            return index + 1
    return 0


def shrink_transcript(state: ConversationState, context: PromptContext, needed_tokens: int = 0) -> Events:
    """Shrink the transcript if it and `needed_tokens` more do not fit the budget.

    Older sections and steps, and most earlier questions, are removed first. Pinned sections and all earlier
    questions follow. During a question, its search results and steps are removed last, and then the oldest
    text that was opened for it.
    """
    room = context.budget.messages_max - needed_tokens
    events: Events = ()
    for events in _iter_shrinking(state, context, room):
        if estimate_message_tokens(fold_events(state, *events).iter_messages()) <= room:
            break
    return events


def _iter_shrinking(state: ConversationState, context: PromptContext, room: int) -> Iterator[Events]:
    """Yield ways to shrink the transcript to `room` tokens, the mildest first."""
    yield ()
    number = len(state.exchanges) if state.is_asking else len(state.exchanges) + 1
    sections = state.open_sections.values()
    older = {each.section_id: each for each in sections if each.deliveries and each.last_used < number}
    unpinned = [section_id for section_id, section in older.items() if not section.is_pinned]
    for closing, history_max in ((unpinned, context.budget.history_max), ([*older], 0)):
        closed = make_close_events(closing, CloseReason.OVERFLOW)
        rebuilt = make_rebuild_event(fold_events(state, *closed), context, history_max=history_max)
        yield (*closed, rebuilt)
    if not state.is_asking:
        return
    texts = _list_newest_texts(state)
    tokens = [estimate_tokens(state.library.text_at(span)) for _, span in texts]
    fitting = sum(total <= room for total in accumulate(tokens))
    remarks = list_remarks(state, state.exchanges[-1].within, context)
    prefaces = ([context.hits_text, *remarks], remarks) if context.hits_text else (remarks,)
    for count in range(fitting, -1, -1):
        trimmed = _keep_texts(state, texts[:count])
        for preface in prefaces:
            words = "\n\n".join(preface)
            rebuilt = make_rebuild_event(fold_events(state, *trimmed), context, history_max=0, preface=words)
            yield (*trimmed, rebuilt)


def _list_newest_texts(state: ConversationState) -> list[tuple[str, Span]]:
    """List the texts of open sections that the model has, newest first, each with the id of its section."""
    opened: dict[str, int] = {}
    for number, event in enumerate(state.exchanges[-1].events):
        if isinstance(event, SectionsOpened):
            opened |= dict.fromkeys(event.opened_ids, number)
    sections = sorted(
        state.open_sections.values(),
        key=lambda section: (section.last_used, opened.get(section.section_id, -1)),
        reverse=True,
    )
    return [(section.section_id, span) for section in sections for span in reversed(section.deliveries)]


def _keep_texts(state: ConversationState, texts: Sequence[tuple[str, Span]]) -> Events:
    """Keep only these texts of open sections, and close the delivered sections that have none of them."""
    kept: dict[str, OpenedSection] = {}
    closing: list[str] = []
    for section in state.open_sections.values():
        deliveries = tuple(span for span in section.deliveries if (section.section_id, span) in texts)
        if section.deliveries and not deliveries:
            closing.append(section.section_id)
        elif deliveries != section.deliveries:
            tokens = count_span_tokens(state.library, deliveries)
            kept[section.section_id] = replace(section, deliveries=deliveries, tokens=tokens)
    shortened = SectionsOpened(results=(), origin=Origin.AGENT, sections=tuple(kept.values()))
    return (*make_close_events(closing, CloseReason.OVERFLOW), *((shortened,) if kept else ()))
