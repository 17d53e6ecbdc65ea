"""What happens in a conversation: one closed union of events, the agent's and the person's. None holds a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from roamtui.conversation.commands import Origin
from roamtui.conversation.transcript import Citation, OpenSection, Step, StopReason, UndoStep, Usage
from roamtui.document.node import Span
from roamtui.document.plain import shorten


class ExpandStatus(StrEnum):
    """What became of one id of an `expand_sections` call."""

    OPENED = "opened"
    ALREADY_OPEN = "already_open"
    UNKNOWN = "unknown"
    NO_ROOM = "no_room"
    FAILED = "failed"


class CloseReason(StrEnum):
    """Why a section is open no longer."""

    ASKED = "asked"
    BUDGET = "budget"
    FRESH = "fresh"
    UNDO = "undo"
    GONE = "gone"
    """It is not in the document any more."""
    OVERFLOW = "overflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandResult:
    """What became of one requested id."""

    id: str
    """As requested."""
    section_id: str | None
    """The section that it names, None where it names none."""
    status: ExpandStatus
    text: str = ""
    """What the model reads."""
    tokens: int = 0
    """Estimated tokens of section text newly delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one section has of its text in the transcript from now on."""

    section_id: str
    tokens: int
    """Estimated tokens of all of it that was delivered, of the whole section before anything is."""
    spans: tuple[Span, ...] = ()
    """Text that is new in the transcript; nothing yet of what a person opens."""
    content_hash: str = ""
    """Digest of its own text where it was not open before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStarted:
    """A conversation begins. Always its first event."""

    conversation_id: str
    unfolded: tuple[str, ...] = ()
    """Nodes whose children the tree shows at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationForked:
    """All from here on belongs to another conversation, which shares what was said until now."""

    conversation_id: str
    title: str = ""
    """Empty where it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRenamed:
    """The conversation has another title."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentIdentified:
    """What the conversation is about is this now, and what is to be found in it again lies there."""

    source: str
    """Its name, or its content where it came by a pipe: what conversations about one source have in common."""
    content_hash: str
    documents: tuple[tuple[str, str], ...] = ()
    """Key and digest of documents of which text was delivered, as far as they are new."""
    links: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Sections of pages, each with the links that lead to it, the outermost first, as far as they are new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntrySkipped:
    """An entry of the log could not be read: it is damaged, or a newer version wrote it."""

    is_newer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginsApproved:
    """The person allowed pages to be fetched from more origins."""

    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsExpanded:
    """A batch of sections was opened."""

    results: tuple[ExpandResult, ...]
    origin: Origin
    deliveries: tuple[Delivery, ...] = ()
    """Of the sections that were opened, or of which there is more now."""
    used_ids: tuple[str, ...] = ()
    """Open sections that hold what was asked for."""
    unfolded_ids: tuple[str, ...] = ()
    """Nodes that were unfolded to show them."""

    @property
    def opened_ids(self) -> tuple[str, ...]:
        """Sections that this batch opened or added text to."""
        return tuple(r.section_id for r in self.results if r.section_id and r.status is ExpandStatus.OPENED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsDelivered:
    """The text of sections that are open already goes to the model with the question."""

    deliveries: tuple[Delivery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsRelocated:
    """What was open is this in another text of the document: found by id, else by its own text."""

    sections: tuple[OpenSection, ...]
    unchanged: tuple[str, ...] = ()
    """Keys of documents whose text is the same, so that excerpts from them can still be quoted. 0.2 logged none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsClosed:
    """Sections are open no longer."""

    section_ids: tuple[str, ...]
    origin: Origin
    reason: CloseReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsMarkedForClosing:
    """Sections will be closed when the question that is under way has ended."""

    section_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingDeclined:
    """Sections were to be closed and stay open, with the reason for each."""

    reasons: tuple[tuple[str, str], ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsPinned:
    """Sections were pinned or unpinned."""

    section_ids: tuple[str, ...]
    is_pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesUnfolded:
    """Nodes show their children now."""

    section_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesFolded:
    """Nodes hide their children now."""

    section_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSectionChanged:
    """The person reads another section, or none."""

    section_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStepRecorded:
    """The person or the agent opened, closed or pinned something: it can be taken back."""

    deed: UndoStep


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoApplied:
    """The last deed was taken back, or what was taken back was done again."""

    deed: UndoStep
    """What doing that changed, beside what other events tell: that is how it is reversed."""
    restored: tuple[OpenSection, ...] = ()
    """Sections that are open again, or pinned or marked otherwise, as they are now."""
    is_redo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadingProgressed:
    """Files are being read, all that are not loaded yet, or the pages of some links."""

    done: int
    total: int
    bytes_received: int = 0
    """Of pages, so far."""
    are_pages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesLoaded:
    """Files or pages were read; their sections stand below these nodes now."""

    section_ids: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] = ()
    """Those of them that could not be read, each with a sentence that says why."""
    notes: tuple[str, ...] = ()
    """What a person should know of the pages, such as that one is an older copy."""
    moved: tuple[tuple[str, str], ...] = ()
    """Ids that nodes had to give up for those that were read, each with the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveFailed:
    """The conversation goes on, but this could not be written to disk."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveWarningRaised:
    """The conversation is on disk, but not where or as it was, such as under another id."""

    message: str
    conversation_id: str
    """The id that it has now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """A question was taken up and is on disk."""

    number: int
    question: str
    within: str | None = None
    """The section that it is about, None for the whole document."""
    model: str = ""
    window_tokens: int | None = None
    """Size of the model's context window, None where unknown."""
    preface: str = ""
    """What the model is told before it: texts the person opened, what they read, what search found."""
    excerpts: tuple[Span, ...] = ()
    """Text that the preface shows of what search found."""
    is_one_shot: bool = False
    """Whether `roamtui ask` asked it; the conversation may be continued all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRebuilt:
    """What the model is told begins anew: our fixed text, then the outline with all that is open."""

    system: str
    prologue: str
    model: str
    rebuilt_at: int
    """Exchanges before this index are sent as question and answer from now on."""
    history_from: int = 0
    """Exchanges before this index are not sent at all."""
    was_refused: bool = False
    """Whether the model found the request before it too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecorded:
    """The model's calls have their results, or it was told that its reply is no answer yet."""

    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRecorded:
    """The model has said more of what is the answer, should nothing more come."""

    start: int
    """Character at which this follows; 0 for a new reply."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsDropped:
    """The first steps of the question under way lost the texts of their results, to make room."""

    steps: int
    left: tuple[Delivery, ...]
    """Sections of which some text is left, with all that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A request goes to the model."""

    number: int
    """1 for the first step of the question."""
    input_tokens: int
    """Estimated tokens of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStreamed:
    """Some more text of the model; an answer unless calls follow it in the same step."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingStreamed:
    """Some more of what the model thinks aloud."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One result of a search by the agent."""

    section_id: str
    path: tuple[str, ...] = ()
    score: float = 0.0
    snippet: str = ""
    why: str = ""
    """How it was found, empty where that says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsSearched:
    """The agent searched."""

    query: str
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What became of one item of a call: an id and its status."""

    id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool call has its result, and both are on disk."""

    tool: str
    section_ids: tuple[str, ...] = ()
    query: str | None = None
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderSent:
    """The reply was no answer yet, so the model was told what is missing; what it said so far is a draft."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled:
    """A passing fault of the provider: the request is sent again after a wait."""

    reason: str
    wait_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered:
    """The exchange is over and on disk. Always the last event of a question."""

    number: int = 0
    """0 until it is decided."""
    answer: str
    stopped: StopReason
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    steps: int = 0
    """Requests that it took."""
    error: str = ""
    """One plain sentence where `stopped` is `error`."""
    cited_ids: tuple[str, ...] = ()
    """Open sections that hold what is cited."""
    is_cut: bool = False
    """Whether it was stopped in the middle of calls, so that some of their text may not be in the transcript."""
    said: str = ""
    """What the model itself said, where the answer has more."""

    @property
    def is_unproven(self) -> bool:
        """Whether this is an answer without a single quote, so that nothing of it could be checked."""
        is_answer = self.stopped in (StopReason.ANSWERED, StopReason.STEP_LIMIT) and bool(self.answer)
        return is_answer and all(citation.quote is None for citation in self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsRewound:
    """The conversation went back to before a question: it and all that followed are no longer part of it."""

    first: int
    """Number of that question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSwitched:
    """Another conversation goes on in place of the one before."""

    conversation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReloaded:
    """The document is now as it was read last."""


InternalEvent = (
    ConversationStarted
    | ConversationForked
    | ConversationRenamed
    | DocumentIdentified
    | LogEntrySkipped
    | OriginsApproved
    | TranscriptRebuilt
    | SectionsDelivered
    | SectionsRelocated
    | StepRecorded
    | DraftRecorded
    | ResultsDropped
    | UndoStepRecorded
)
"""What the state is made of and nobody is told of."""
TransientEvent = (
    AnswerStreamed
    | ConversationSwitched
    | DocumentReloaded
    | LoadingProgressed
    | ReminderSent
    | RetryScheduled
    | SaveFailed
    | SaveWarningRaised
    | ClosingDeclined
    | SectionsSearched
    | StepStarted
    | ThinkingStreamed
    | ToolFinished
)
"""What changes nothing of the state, but what a person is told of it."""
StateEvent = (
    QuestionAsked
    | QuestionAnswered
    | SectionsExpanded
    | SectionsClosed
    | SectionsMarkedForClosing
    | SectionsPinned
    | NodesUnfolded
    | NodesFolded
    | ReadingSectionChanged
    | UndoApplied
    | NodesLoaded
    | QuestionsRewound
)
"""What changes the state, and is told."""
ConversationEvent = InternalEvent | TransientEvent | StateEvent
EVENT_NAMES: Mapping[type[ConversationEvent], str] = MappingProxyType(
    {
        AnswerStreamed: "answer_streamed",
        ConversationStarted: "conversation_begun",
        ConversationSwitched: "conversation_changed",
        ConversationForked: "conversation_forked",
        ConversationRenamed: "conversation_renamed",
        UndoStepRecorded: "deed_done",
        UndoApplied: "deed_undone",
        DocumentIdentified: "document_read",
        DocumentReloaded: "document_reloaded",
        DraftRecorded: "draft_recorded",
        LogEntrySkipped: "entry_skipped",
        LoadingProgressed: "loading_progressed",
        NodesFolded: "nodes_folded",
        NodesLoaded: "nodes_loaded",
        NodesUnfolded: "nodes_unfolded",
        OriginsApproved: "origins_approved",
        QuestionAnswered: "question_answered",
        QuestionAsked: "question_asked",
        QuestionsRewound: "questions_taken_back",
        ReadingSectionChanged: "reading_changed",
        ReminderSent: "reminder_sent",
        ResultsDropped: "results_dropped",
        RetryScheduled: "retry_scheduled",
        SaveFailed: "save_failed",
        SaveWarningRaised: "saving_reported",
        SectionsClosed: "sections_closed",
        SectionsDelivered: "sections_delivered",
        SectionsExpanded: "sections_expanded",
        SectionsRelocated: "sections_found_again",
        ClosingDeclined: "sections_kept",
        SectionsMarkedForClosing: "sections_marked",
        SectionsPinned: "sections_pinned",
        SectionsSearched: "sections_searched",
        StepRecorded: "step_recorded",
        StepStarted: "step_started",
        ThinkingStreamed: "thinking_streamed",
        ToolFinished: "tool_finished",
        TranscriptRebuilt: "transcript_rebuilt",
    }
)
"""What each kind of event is called in logs, traces and JSON. A class may be renamed; a name on disk may not."""
_DRAFT_LENGTH = 300
"""Characters kept of what the model said before it went on working: all of it is in its step."""
_TOLD_REASONS = (CloseReason.BUDGET, CloseReason.FRESH, CloseReason.OVERFLOW, CloseReason.GONE)
"""Other closings were asked for, and are no news."""


def list_visible_events(events: Iterable[ConversationEvent]) -> tuple[ConversationEvent, ...]:
    """Return the events that front ends are told of."""
    return tuple(event for event in events if not isinstance(event, InternalEvent))


def make_draft_events(text: str) -> tuple[AnswerStreamed, ...]:
    """Return what the model said before it went on working as it is kept, nothing where it said nothing."""
    said = text.strip()
    return (AnswerStreamed(text=shorten(said, _DRAFT_LENGTH)),) if said else ()


def strip_texts(event: ConversationEvent) -> ConversationEvent:
    """Return an event without what stands in the exchange's steps too: text of the document."""
    match event:
        case SectionsSearched(hits=hits):
            return replace(event, hits=tuple(replace(hit, path=(), snippet="") for hit in hits))
        case SectionsExpanded(origin=Origin.AGENT, results=results):
            return replace(event, results=tuple(replace(result, text="") for result in results))
        case _:
            return event


def to_stored_event(event: ConversationEvent) -> ConversationEvent | None:
    """Return an event as it is kept with its exchange, so that a person sees it again; None where it is not.

    What only concerns the moment is not kept, such as what could not be saved or how far loading is; of an answer, the
    drafts alone are.
    """
    match event:
        case SectionsExpanded(origin=Origin.AGENT, results=results):
            return strip_texts(SectionsExpanded(results=results, origin=Origin.AGENT))
        case SectionsSearched():
            return strip_texts(event)
        case AnswerStreamed() | ReminderSent() | RetryScheduled() | ClosingDeclined(origin=Origin.AGENT):
            return event
        case SectionsClosed(reason=reason) if reason in _TOLD_REASONS:
            return event
        case NodesLoaded(notes=notes, problems=problems) if notes or problems:
            return event
        case _:
            return None
