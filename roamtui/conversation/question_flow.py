"""Questions of a conversation: taken up over what the model is told then, ended, gone back to. Pure, like `update`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import (
    CloseReason,
    Delivery,
    ExpandStatus,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ResultsDropped,
    SectionsClosed,
    SectionsDelivered,
    SectionsExpanded,
    SectionsSearched,
    TranscriptRebuilt,
)
from roamtui.conversation.state import ConversationState, Exchange, KeepOpenMode, apply, apply_all
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, OpenSection, StopReason
from roamtui.conversation.update import (
    Events,
    ExpandEvents,
    Update,
    close,
    deliver_pending,
    expand_for_agent,
    open_quoted_sections,
)
from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.expansion import annotate_with_ids, render_open_section
from roamtui.outline.labels import format_path
from roamtui.outline.spans import Bounds, merge_bounds

_PREFERENCES_LEAD = (
    "My preferences for all your answers, such as language, style and terms. How you roam, quote and cite stays as you "
    "were told:"
)
_BUDGET_TOKENS_MAX = 32_000
_WINDOW_SHARE = 0.4
_CLOSING_STARTS = 0.6
"""Share of the budget up to which nothing is closed: open text costs little where a cache is warm, a rebuild does."""
_CLOSING_ENDS = 0.35
"""Share of the budget that is left open once closing has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """What a model is told besides the conversation itself."""

    system: str
    """Our fixed text."""
    outline: str
    """The outline as it stands now; frozen in the transcript until the next rebuild."""
    model: str
    """Name of the model that will answer; another one than before means a rebuild."""
    window_tokens: int | None = None
    """Size of its context window, None where unknown."""
    delivery_tokens_max: int | None = None
    """Tokens of section text that may be delivered before the question."""
    history_tokens_max: int | None = None
    """Tokens that earlier questions and answers may have after a rebuild; None for all of them."""
    within: str | None = None
    """The section that the question is about, None for the whole document."""
    auto_opened: tuple[str, ...] = ()
    """Sections that search found so clearly that they are opened with the question."""
    hits_text: str = ""
    """What search found for the question, in words."""
    excerpts: tuple[Span, ...] = ()
    """What of the library these words show."""
    search_events: tuple[SectionsSearched, ...] = ()
    """What tells a person of it."""
    is_overflow_retry: bool = False
    """Whether room is made because the model found a request too long."""
    preferences: str = ""
    """What the person wrote down of how they want to be answered; frozen in the transcript like the outline."""


def begin_question(state: ConversationState, question: str, briefing: PromptContext) -> Update:
    """Take up a question; the transcript is rebuilt before it where something was closed or changed.

    A question that is still under way, because nobody waited for its end, is ended as cancelled.
    """
    events: Events = ()
    if state.is_asking:
        state, events = finish_question(state, QuestionAnswered(answer="", stopped=StopReason.CANCELLED, is_cut=True))
    if state.options.mode is KeepOpenMode.FRESH:
        new = {s.section_id for s in state.open_sections if not s.deliveries and s.opened_by is Origin.PERSON}
        ids = [s.section_id for s in state.open_sections if not s.is_pinned and s.section_id not in new]
        closed = close(state, ids, Origin.AGENT, CloseReason.FRESH)
        state, events = apply_all(state, closed), (*events, *closed)
    if state.needs_rebuild or (state.model and state.model != briefing.model):
        rebuilt = rebuild(state, briefing)
        state, events = apply(state, rebuilt), (*events, rebuilt)
    asked = QuestionAsked(
        number=state.question_number + 1,
        question=question,
        within=briefing.within,
        model=briefing.model,
        window_tokens=briefing.window_tokens,
        excerpts=briefing.excerpts,
    )
    begun = apply(state, asked)
    deliveries, texts = deliver_pending(begun, briefing.delivery_tokens_max)
    delivered = (SectionsDelivered(deliveries=deliveries),) if deliveries else ()
    found, opening = _open_search_hits(apply_all(begun, delivered), briefing, texts)
    preface = _write_preface(begun, briefing, texts, found)
    told = (replace(asked, preface=preface), *briefing.search_events, *delivered, *opening)
    return apply_all(state, told), (*events, *told)


def _open_search_hits(
    state: ConversationState, briefing: PromptContext, texts: tuple[str, ...]
) -> tuple[tuple[str, ...], ExpandEvents]:
    """Open what search found for a question, as far as there is room beside `texts`; return the blocks first."""
    if not briefing.auto_opened:
        return (), ()
    room = briefing.delivery_tokens_max
    if room is not None:
        room = max(0, room - sum(map(estimate_tokens, texts)))
    events = expand_for_agent(
        state, ExpandSections(section_ids=briefing.auto_opened, origin=Origin.AGENT, room_tokens=room)
    )
    results = next(event.results for event in events if isinstance(event, SectionsExpanded))
    found = tuple(result.text for result in results if result.status is ExpandStatus.OPENED)
    return (found, events) if found else ((), ())


def _write_preface(
    state: ConversationState, briefing: PromptContext, texts: tuple[str, ...], found: tuple[str, ...]
) -> str:
    parts = []
    if texts:
        parts += ["Opened since your last answer:", *texts]
    if found:
        parts += [FOUND_LEAD, *found]
    if briefing.hits_text:
        parts += [HITS_LEAD, briefing.hits_text]
    within = briefing.within
    if within is not None and within in state.library:
        name = format_path(state.library, within)
        parts.append(f"(The question is about [{within}] {name} and what lies below it: look there alone.)")
    if state.reading_id is not None and state.reading_id in state.library:
        parts.append(f"(The person is reading [{state.reading_id}] {format_path(state.library, state.reading_id)}.)")
    return "\n\n".join(parts)


def finish_question(state: ConversationState, outcome: QuestionAnswered) -> Update:
    """End the exchange under way, and close what was marked and what the budget asks for. Its end is the last event."""
    opening = open_quoted_sections(state, outcome.citations)
    opened = apply_all(state, opening)
    holding = {citation.section_id for citation in outcome.citations}
    for section_id in [*holding]:
        holding.update(state.library.ancestors(section_id) if section_id in state.library else ())
    cited_ids = tuple(section_id for section_id in opened.open_ids if section_id in holding)
    ending = replace(outcome, number=state.question_number, cited_ids=cited_ids)
    ended = apply(opened, ending)
    closed: Events = ()
    for origin in Origin:
        ids = [s.section_id for s in ended.open_sections if s.is_closing and (s.closing_by or Origin.PERSON) is origin]
        closed = (*closed, *close(ended, ids, origin, CloseReason.ASKED))
    ended = apply_all(ended, closed)
    more = close(ended, select_sections_to_close(ended), Origin.AGENT, CloseReason.BUDGET)
    events = (*opening, *closed, *more, ending)
    return apply_all(state, events), events


def select_sections_to_close(state: ConversationState) -> tuple[str, ...]:
    """Return the sections to close after a question, least useful first.

    Pinned ones are among them only where all others were not enough to come under the budget itself. What was cited
    within the last two questions goes after the rest, since it was cited last.
    """
    budget = state.options.budget_tokens
    left = state.open_tokens
    if state.options.mode is not KeepOpenMode.KEEP or left <= _CLOSING_STARTS * budget:
        return ()
    closing: list[str] = []
    for section in sorted(
        state.open_sections, key=lambda s: (s.is_pinned, s.opened_by is Origin.PERSON, s.last_cited, s.last_used)
    ):
        target = budget if section.is_pinned else _CLOSING_ENDS * budget
        if left <= target:
            break
        if section.tokens:
            closing.append(section.section_id)
            left -= section.tokens
    return tuple(closing)


def compute_open_budget(window_tokens: int | None) -> int:
    """Return how many tokens of section text may stay open, for a model's context window (None: unknown)."""
    return _BUDGET_TOKENS_MAX if window_tokens is None else min(_BUDGET_TOKENS_MAX, int(window_tokens * _WINDOW_SHARE))


def rewind(state: ConversationState, number: int) -> Update:
    """Go back to before question `number` (1 for the first), with today's document and folding."""
    taken_back = QuestionsRewound(first=number)
    before = apply(state, taken_back)
    gone = tuple(section_id for section_id in before.open_ids if section_id not in state.library)
    events = (taken_back, *close(before, gone, Origin.PERSON, CloseReason.GONE))
    return apply_all(state, events), events


def rebuild(state: ConversationState, briefing: PromptContext) -> TranscriptRebuilt:
    """Build a new transcript: outline, sections still open, earlier questions and answers without section texts.

    During a question it goes on with that and its steps: what these delivered stands in them, all other text that is
    open in the prologue.
    """
    exchanges = state.transcript.exchanges
    held = collect_delivered_text(exchanges[-1]) if state.is_asking else ""
    rebuilt_at = len(exchanges) - 1 if state.is_asking else len(exchanges)
    blocks: list[str] = []
    given: dict[str, list[Bounds]] = {}
    for section in state.open_sections:
        merged = merge_bounds(
            (d.start, d.end) for d in section.deliveries if not is_delivered_in(state, section, d, held)
        )
        if merged:
            doc = section.deliveries[0].doc
            spans = tuple(Span(doc=doc, start=start, end=end) for start, end in merged)
            blocks.append(
                render_open_section(state.library, section.section_id, spans, delivered=given, nonce=state.nonce)
            )
            given.setdefault(doc, []).extend(merged)
    parts = []
    # What a person prefers is told in their own role, and no line of it can be taken for an outline or a section.
    if preferences := briefing.preferences.strip():
        parts.append("\n".join([_PREFERENCES_LEAD, *(f"> {line}".rstrip() for line in preferences.splitlines())]))
    parts.append(briefing.outline.rstrip())
    if blocks:
        parts += ["Sections that are open already:", *blocks]
    history_from = _compute_history_start(exchanges[:rebuilt_at], briefing.history_tokens_max)
    if history_from:
        parts.append(f"({history_from} earlier questions of this conversation are left out here to save room.)")
    return TranscriptRebuilt(
        system=briefing.system,
        prologue="\n\n".join(parts),
        model=briefing.model,
        rebuilt_at=rebuilt_at,
        history_from=history_from,
        was_refused=briefing.is_overflow_retry,
    )


def collect_delivered_text(exchange: Exchange) -> str:
    """Return all section text that an exchange delivered, among what else it says."""
    return "\n".join((exchange.preface, *(use.result for step in exchange.steps for use in step.uses)))


def is_delivered_in(state: ConversationState, section: OpenSection, span: Span, text: str) -> bool:
    """Return whether a text holds what was delivered of an open section."""
    return bool(text) and annotate_with_ids(state.library, span, section_id=section.section_id) in text


def _compute_history_start(exchanges: tuple[Exchange, ...], tokens_max: int | None) -> int:
    """Return the index from which earlier questions and answers fit, newest first."""
    if tokens_max is None:
        return 0
    left = tokens_max
    for index in range(len(exchanges) - 1, -1, -1):
        left -= estimate_tokens(exchanges[index].question) + estimate_tokens(exchanges[index].reply)
        if left < 0:
            return index + 1
    return 0


def shrink_transcript(state: ConversationState, briefing: PromptContext) -> Update:
    """Make the transcript of the question under way shorter; what was closed for it is told.

    First everything from before this question goes that is not pinned; if nothing was left of that, the results of
    this question's earlier steps become stubs and their sections are closed.
    """
    number, transcript = state.question_number, state.transcript
    closing = [s.section_id for s in state.open_sections if s.last_used < number and not s.is_pinned]
    has_earlier_steps = any(e.steps or e.preface for e in transcript.exchanges[transcript.rebuilt_at : -1])
    stubbed: Events = ()
    if not closing and not has_earlier_steps and transcript.rebuilt_at >= number - 1:
        last = transcript.exchanges[-1]
        dropped = last.steps[:-1] or last.steps
        if not dropped:
            return state, ()
        left, closing = _list_surviving_deliveries(
            state, collect_delivered_text(replace(last, preface="", steps=dropped))
        )
        stubbed = (ResultsDropped(steps=len(dropped), left=left),)
    events: Events = stubbed
    if closing:
        closed = SectionsClosed(section_ids=tuple(closing), origin=Origin.AGENT, reason=CloseReason.OVERFLOW)
        events = (*stubbed, closed)
    rebuilt = rebuild(apply_all(state, events), briefing)
    return apply_all(state, (*events, rebuilt)), (*events, rebuilt)


def _list_surviving_deliveries(state: ConversationState, lost: str) -> tuple[tuple[Delivery, ...], list[str]]:
    """Return the sections of which some text is left where a text is dropped, and those of which none is."""
    left: list[Delivery] = []
    closing: list[str] = []
    for section in state.open_sections:
        spans = tuple(span for span in section.deliveries if not is_delivered_in(state, section, span, lost))
        if section.is_pinned or len(spans) == len(section.deliveries):
            continue
        if spans:
            tokens = sum(estimate_tokens(state.library.text_at(span)) for span in spans)
            left.append(Delivery(section_id=section.section_id, tokens=tokens, spans=spans))
        else:
            closing.append(section.section_id)
    return tuple(left), closing
