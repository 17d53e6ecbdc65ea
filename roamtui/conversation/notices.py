"""Turn conversation events into notices for a person. All front ends show the same texts."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum, auto

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    NodesLoaded,
    OpenStatus,
    Origin,
    ReminderSent,
    ReplyRejected,
    RetryScheduled,
    SectionsClosed,
    SectionsOpened,
    SectionsSearched,
    ThoughtsRecorded,
    ToolFinished,
    WarningRaised,
)
from roamtui.conversation.messages import Usage
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.outline.labels import format_node_title
from roamtui.text import format_count, format_token_count, format_tokens

_SHOWN_MAX = 3
"""Maximum number of search results, notes or problems of one event that are shown."""


class NoticeSlot(StrEnum):
    """Where a front end shows a notice."""

    STEP = auto()
    """Above an answer, in the list of the model's steps."""
    CHAT = auto()
    """Between the questions, for a notice that a person may need later."""
    MESSAGE = auto()
    """In a message that the next key removes, for a notice that nobody needs later."""


class Severity(StrEnum):
    """How serious a notice is."""

    INFO = auto()
    WARNING = auto()
    ERROR = auto()


_EXPANSION_WORDS = {
    OpenStatus.OPENED: ("Opened {}", "◆", Severity.INFO),
    OpenStatus.PINNED: ("Pinned {}", "◆", Severity.INFO),
    OpenStatus.UNPINNED: ("Unpinned {}", "◆", Severity.INFO),
    OpenStatus.ALREADY_OPEN: ("Already open: {}", "◆", Severity.INFO),
    OpenStatus.UNKNOWN: ("Unknown: {}", "?", Severity.WARNING),
    OpenStatus.NO_ROOM: ("The model has no room left to open {}", "!", Severity.WARNING),
    OpenStatus.FAILED: ("Could not open {}", "✗", Severity.ERROR),
}
_CLOSE_WORDS = {
    CloseReason.ASKED: (NoticeSlot.MESSAGE, "Closed {}"),
    CloseReason.BUDGET: (NoticeSlot.CHAT, "Closed {} to make room for others"),
    CloseReason.FRESH: (NoticeSlot.CHAT, "Closed {} so that the new question starts fresh"),
    CloseReason.GONE: (NoticeSlot.CHAT, "Closed {}: no longer in the document"),
    CloseReason.OVERFLOW: (NoticeSlot.CHAT, "Closed {} because the model's context window was full"),
}


class Notice(Struct, frozen=True):
    """One message for a person."""

    slot: NoticeSlot
    text: str
    """Not sanitised: may quote the model, a document or a person."""
    sections: tuple[tuple[str, str], ...] = ()
    """Ids and titles of the sections that it is about."""
    symbol: str = ""
    """Precedes the message in the list of the model's steps."""
    severity: Severity = Severity.INFO

    def format(self) -> str:
        """Return text and sections as one line."""
        labels = ", ".join(title for _, title in self.sections)
        return f"{self.text}: {labels}" if labels else self.text


def iter_notices(event: ConversationEvent, library: Library) -> Iterator[Notice]:  # noqa: C901, PLR0912 - one case an event
    """Yield the notices for an event. Many events have none."""
    match event:
        case ReplyRejected(text=text):
            yield Notice(NoticeSlot.STEP, text, symbol="“")
        case SectionsSearched(query=query, hits=hits):
            text = f"Searched “{query}” · {format_count(len(hits), 'result') if hits else 'no results'}"
            labels = _list_labels((hit.section_id for hit in hits[:_SHOWN_MAX]), library)
            yield Notice(NoticeSlot.STEP, text, labels, symbol="⌕")
        case SectionsOpened(origin=origin, results=results):
            slot = NoticeSlot.STEP if origin is Origin.AGENT else NoticeSlot.MESSAGE
            by_status: dict[OpenStatus, dict[str, str]] = {}  # one notice for each status
            for result in results:
                by_status.setdefault(result.status, {})[result.section_id or result.id] = result.text
            for status, texts in by_status.items():
                template, symbol, severity = _EXPANSION_WORDS[status]
                notice = _make_section_notice(slot, template, [*texts], library)
                # texts for the agent are tool results
                if status is OpenStatus.FAILED and origin is Origin.PERSON:
                    notice = Notice(slot, " ".join(texts.values()))
                yield replace(notice, symbol=symbol, severity=severity)
        case SectionsClosed(section_ids=section_ids, kept=kept):
            slot, template = _CLOSE_WORDS[event.reason]
            if section_ids:
                template = "Closing {} after this answer" if event.is_pending else template
                yield _make_section_notice(slot, template, section_ids, library)
            if kept:
                slot = NoticeSlot.STEP if event.origin is Origin.AGENT else NoticeSlot.CHAT
                kept_ids = [section_id for section_id, _ in kept]
                yield _make_section_notice(slot, "Not closed: {}", kept_ids, library)
        case ToolFinished(notice=text) if text:
            yield Notice(NoticeSlot.STEP, text, symbol="·")
        case ThoughtsRecorded(text=text, tokens=tokens):
            text = f"The model thought for {format_token_count(tokens)}: {text}"
            yield Notice(NoticeSlot.STEP, text, symbol="✻")
        case ReminderSent(notice=text):
            yield Notice(NoticeSlot.STEP, text, symbol="❝")
        case RetryScheduled(reason=reason, wait_seconds=wait):
            text = f"{reason}; retrying in {wait:.0f} s"
            yield Notice(NoticeSlot.STEP, text, symbol="↻", severity=Severity.WARNING)
        case NodesLoaded(notes=notes, problems=problems):
            reasons = [reason for _, reason in problems]
            warnings = [*dict.fromkeys(reasons)][:_SHOWN_MAX]
            if hidden_count := sum(reason not in warnings for reason in reasons):
                warnings.append(f"Could not read {format_count(hidden_count, 'more document')}.")
            yield from (Notice(NoticeSlot.CHAT, note) for note in notes[:_SHOWN_MAX])
            yield from (Notice(NoticeSlot.CHAT, text, severity=Severity.WARNING) for text in warnings)
        case WarningRaised(message=message):
            yield Notice(NoticeSlot.CHAT, message, severity=Severity.WARNING)
        case _:
            pass


def _make_section_notice(
    slot: NoticeSlot, template: str, section_ids: Sequence[str], library: Library
) -> Notice:
    """Make a notice about sections. The text of a message names a single section itself."""
    labels = _list_labels(section_ids, library)
    if slot is NoticeSlot.MESSAGE and len(section_ids) == len(labels) == 1:
        return Notice(slot, template.format(f"“{labels[0][1]}”"))
    return Notice(slot, template.format(format_count(len(section_ids), "section")), labels, symbol="◆")


def _list_labels(section_ids: Iterable[str], library: Library) -> tuple[tuple[str, str], ...]:
    nodes = [library.node(section_id) for section_id in section_ids if section_id in library]
    return tuple((node.id, format_node_title(node)) for node in nodes)


def format_steps(exchange: Exchange) -> str:
    """Say how often a question was searched for, and how many sections were opened for it."""
    searches = sum(isinstance(event, SectionsSearched) for event in exchange.events)
    opened = {
        section_id
        for event in exchange.events
        if isinstance(event, SectionsOpened)
        for section_id in event.opened_ids
    }
    steps: list[str] = []
    if searches:
        steps.append("searched once" if searches == 1 else f"searched {searches} times")
    if opened:
        steps.append(f"opened {format_count(len(opened), 'section')}")
    elif not exchange.has_passages:  # a model may have got open sections with the question
        steps.append("opened nothing new")
    return ", ".join(steps) or "searched nothing"


def format_usage(usage: Usage) -> str:
    """Say how many tokens the model read, new and from the provider's cache, and the cost. Empty if none.

    A ``~`` marks an estimate.
    """
    if not (usage.input_tokens or usage.output_tokens):
        return ""
    sign = _get_sign(usage)
    words = [f"{sign}{format_token_count(usage.input_tokens - usage.cached_tokens)}"]
    if usage.cached_tokens:
        words.append(f"{format_tokens(usage.cached_tokens)} cached")
    return " · ".join(filter(None, (*words, format_cost(usage))))


def format_cost(usage: Usage) -> str:
    """Say what requests cost. Empty if they cost nothing."""
    if usage.cost_usd is None:
        return "cost unknown"
    if not usage.cost_usd:
        return ""
    cost = max(0.0001, usage.cost_usd)
    rest = " + unknown" if usage.has_unknown_cost else ""
    return f"{_get_sign(usage)}${cost:.{4 if cost < 0.1 else 2}f}{rest}"


def _get_sign(usage: Usage) -> str:
    return "" if usage.source == "provider" else "~"
