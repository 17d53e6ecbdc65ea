"""Questions of a conversation: taken up, answered step by step, ended, gone back to. Pure, like `update`."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import (
    CloseReason,
    ConversationForked,
    ExpandStatus,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    SectionsDelivered,
    SectionsExpanded,
)
from roamtui.conversation.fold import apply, apply_all
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.rebuilding import Briefing, rebuild
from roamtui.conversation.state import ConversationState, KeepOpen
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, Stopped
from roamtui.conversation.update import (
    Events,
    ExpandEvents,
    Update,
    close,
    deliver_pending,
    expand_for_agent,
    open_quoted,
)
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import name_path

_ELSEWHERE = "(continued elsewhere)"
BUDGET_TOKENS_MAX = 32_000
_WINDOW_SHARE = 0.4
_CLOSING_STARTS = 0.6
"""Share of the budget up to which nothing is closed: open text costs little where a cache is warm, a rebuild does."""
_CLOSING_ENDS = 0.35
"""Share of the budget that is left open once closing has begun."""


def begin_question(state: ConversationState, question: str, briefing: Briefing) -> Update:
    """Take up a question; the transcript is rebuilt before it where something was closed or changed.

    A question that is still under way, because nobody waited for its end, is ended as cancelled.
    """
    events: Events = ()
    if state.is_asking:
        state, events = finish_question(state, QuestionAnswered(answer="", stopped=Stopped.CANCELLED, is_cut=True))
    if state.options.mode is KeepOpen.FRESH:
        ids = [section.section_id for section in state.open if _is_of_earlier_questions(section)]
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
    deliveries, texts = deliver_pending(begun, briefing.room_tokens)
    delivered = (SectionsDelivered(deliveries=deliveries),) if deliveries else ()
    found, opening = _open_found(apply_all(begun, delivered), briefing, texts)
    preface = _write_preface(begun, briefing, texts, found)
    told = (replace(asked, preface=preface), *briefing.searched, *delivered, *opening)
    return apply_all(state, told), (*events, *told)


def finish_question(state: ConversationState, outcome: QuestionAnswered) -> Update:
    """End the exchange under way, and close what was marked and what the budget asks for. Its end is the last event."""
    opening = open_quoted(state, outcome.citations)
    opened = apply_all(state, opening)
    cited = {citation.section_id for citation in outcome.citations}
    cited_ids = tuple(section_id for section_id in opened.open_ids if _is_cited(opened, section_id, cited))
    ending = replace(outcome, number=state.question_number, cited_ids=cited_ids)
    ended = apply(opened, ending)
    closed = close_marked(ended)
    more = close(ended := apply_all(ended, closed), choose_closing(ended), Origin.AGENT, CloseReason.BUDGET)
    events = (*opening, *closed, *more, ending)
    return apply_all(state, events), events


def close_marked(state: ConversationState) -> Events:
    """Close what was marked during a question that has ended, with an event for each who asked."""
    events: Events = ()
    for origin in Origin:
        ids = [s.section_id for s in state.open if s.is_closing and (s.closing_by or Origin.PERSON) is origin]
        events = (*events, *close(state, ids, origin, CloseReason.ASKED))
    return events


def _is_of_earlier_questions(section: OpenSection) -> bool:
    """Return whether mode `fresh` closes a section: not what is pinned, nor what was opened for the next question."""
    is_new = not section.deliveries and section.opened_by is Origin.PERSON
    return not section.is_pinned and not is_new


def _open_found(
    state: ConversationState, briefing: Briefing, texts: tuple[str, ...]
) -> tuple[tuple[str, ...], ExpandEvents]:
    """Open what search found for a question, as far as there is room beside `texts`; return the blocks first."""
    if not briefing.found:
        return (), ()
    room = briefing.room_tokens
    if room is not None:
        room = max(0, room - sum(map(estimate_tokens, texts)))
    events = expand_for_agent(state, ExpandSections(section_ids=briefing.found, origin=Origin.AGENT, room_tokens=room))
    results = next(event.results for event in events if isinstance(event, SectionsExpanded))
    found = tuple(result.text for result in results if result.status is ExpandStatus.OPENED)
    return (found, events) if found else ((), ())


def _write_preface(state: ConversationState, briefing: Briefing, texts: tuple[str, ...], found: tuple[str, ...]) -> str:
    parts = []
    if texts:
        parts += ["Opened since your last answer:", *texts]
    if found:
        parts += [FOUND_LEAD, *found]
    if briefing.hits:
        parts += [HITS_LEAD, briefing.hits]
    within = briefing.within
    if within is not None and within in state.library:
        name = name_path(state.library, within)
        parts.append(f"(The question is about [{within}] {name} and what lies below it: look there alone.)")
    if state.reading is not None and state.reading in state.library:
        parts.append(f"(The person is reading [{state.reading}] {name_path(state.library, state.reading)}.)")
    return "\n\n".join(parts)


def _is_cited(state: ConversationState, section_id: str, cited: set[str]) -> bool:
    """Return whether a section or one inside it is cited."""
    return any(
        cited_id == section_id or (cited_id in state.library and section_id in state.library.ancestors(cited_id))
        for cited_id in cited
    )


def rewind(state: ConversationState, number: int) -> Update:
    """Go back to before question `number` (1 for the first), with today's document and folding."""
    taken_back = QuestionsTakenBack(first=number)
    before = apply(state, taken_back)
    gone = tuple(section_id for section_id in before.open_ids if section_id not in state.library)
    closed = close(before, gone, Origin.PERSON, CloseReason.GONE)
    return apply_all(before, closed), (taken_back, *closed)


def fork(state: ConversationState, conversation_id: str) -> ConversationForked:
    """Go on as a new conversation, perhaps in the middle of a question: another program went on with this one too.

    Its texts are marked with a nonce of its own, so that its transcript is built anew.
    """
    title = state.title if state.title.endswith(_ELSEWHERE) else f"{state.title} {_ELSEWHERE}".lstrip()
    return ConversationForked(conversation_id=conversation_id, title=title)


def open_budget(window_tokens: int | None) -> int:
    """Return how many tokens of section text may stay open, for a model's context window (None: unknown)."""
    if window_tokens is None:
        return BUDGET_TOKENS_MAX
    return min(BUDGET_TOKENS_MAX, int(window_tokens * _WINDOW_SHARE))


def choose_closing(state: ConversationState) -> tuple[str, ...]:
    """Return the sections to close after a question, least useful first.

    Pinned ones are among them only where all others were not enough to come under the budget itself.
    """
    budget = state.options.budget_tokens
    left = state.open_tokens
    if state.options.mode is not KeepOpen.KEEP or left <= _CLOSING_STARTS * budget:
        return ()
    closing: list[str] = []
    for section in sorted(state.open, key=_rank):
        target = budget if section.is_pinned else _CLOSING_ENDS * budget
        if left <= target:
            break
        if section.tokens:
            closing.append(section.section_id)
            left -= section.tokens
    return tuple(closing)


def _rank(section: OpenSection) -> tuple[bool, bool, int, int]:
    """Return what decides the order of closing: lower goes first.

    What was cited within the last two questions goes after the rest, since it was cited last.
    """
    return (section.is_pinned, section.opened_by is Origin.PERSON, section.last_cited, section.last_used)
