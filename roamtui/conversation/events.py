"""The events of a conversation, which give its state in their order, and the values in them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct, field

from roamtui.conversation.citations import Citation
from roamtui.conversation.messages import ToolCall, Usage
from roamtui.document.library import LibrarySource
from roamtui.text import Bounds, Span


class Origin(StrEnum):
    """Who gave a command."""

    AGENT = "agent"
    PERSON = "person"


class StopReason(StrEnum):
    """Why an exchange ended."""

    ANSWERED = "answered"
    NEAREST = "nearest"
    """No model has answered, and the nearest passages are shown."""
    NONE_CLOSE = "none_close"
    """The same, but no passage matches the question closely."""
    NOT_FOUND = "not_found"
    STEP_LIMIT = "step_limit"
    CANCELLED = "cancelled"
    COST = "cost"
    ERROR = "error"


class ToolUse(Struct, frozen=True, kw_only=True):
    """A tool call with its result: a transcript never holds one without the other."""

    call: ToolCall
    result: str
    excerpts: tuple[Span, ...] = ()
    """Document text in the result. It can be quoted although its sections are not open."""
    named_words: tuple[Span, ...] = ()
    """Those of the excerpts that are only words below "also found", or in the mark for what is left out."""


class Step(Struct, frozen=True, kw_only=True):
    """One reply of the model, with its tool calls and their results."""

    text: str
    uses: tuple[ToolUse, ...]
    reminder: str = ""
    """Message to the model after a reply that had no tool calls and was not an answer yet."""


class OpenedSection(Struct, frozen=True, kw_only=True):
    """A section whose text the conversation keeps in the prompt."""

    section_id: str
    opened_by: Origin
    last_used: int
    """Number of the last question that opened or requested the section."""
    last_cited: int = 0
    """Number of the last question whose answer cites the section; 0 if no answer does."""
    is_pinned: bool = False
    is_closing: bool = False
    """Whether it closes when the current question ends."""
    deliveries: tuple[Span, ...] = ()
    """Text in the transcript. It is empty until the next question if a person opened the section."""
    tokens: int = 0
    """Estimated tokens of the deliveries or, before there are any, of the whole section."""
    content_hash: str = ""
    """Digest of the section's own text, used to find the section in a changed document."""


class OpenStatus(StrEnum):
    """Outcome for one section that a tool call or a person's command names."""

    OPENED = "opened"
    ALREADY_OPEN = "already_open"
    UNKNOWN = "unknown"
    NO_ROOM = "no_room"
    FAILED = "failed"
    PINNED = "pinned"
    UNPINNED = "unpinned"

    @property
    def is_open(self) -> bool:
        """Whether the section is open now."""
        return self in (OpenStatus.OPENED, OpenStatus.ALREADY_OPEN)


class CloseReason(StrEnum):
    """Why a section was closed."""

    ASKED = "asked"
    BUDGET = "budget"
    FRESH = "fresh"
    GONE = "gone"
    """The document no longer has the section."""
    OVERFLOW = "overflow"


class OpenResult(Struct, frozen=True, kw_only=True):
    """Outcome of one requested id."""

    id: str
    """The id as it was requested."""
    section_id: str | None
    """None if there is no such section."""
    status: OpenStatus
    text: str = ""
    """The tool result for the model."""
    tokens: int = 0
    """Estimated tokens of the section text that was delivered for this request."""


class ConversationStarted(Struct, frozen=True, kw_only=True):
    """The first event of every conversation. Front ends see it when they switch to the conversation."""

    conversation_id: str
    unfolded: tuple[str, ...] = ()


class ConversationRenamed(Struct, frozen=True, kw_only=True):
    """The conversation got another title."""

    title: str


class DocumentIdentified(Struct, frozen=True, kw_only=True):
    """The conversation now refers to this document and these pages."""

    source: str
    """Name of the document, or its digest if it was piped in. All conversations about one source share it."""
    content_hash: str
    """Digest of all that is loaded of it."""
    sources: tuple[LibrarySource, ...] = ()
    """All sources of the conversation from now on. Empty if it has only its first source."""


class SectionsOpened(Struct, frozen=True, kw_only=True):
    """A batch of sections was opened, or a person pinned or unpinned sections."""

    results: tuple[OpenResult, ...]
    origin: Origin
    sections: tuple[OpenedSection, ...] = ()
    """New state of each section that was opened, pinned, unpinned, or requested again."""
    unfolded_ids: tuple[str, ...] = ()
    """Nodes that were unfolded to show the sections."""

    @property
    def opened_ids(self) -> tuple[str, ...]:
        """Sections that this batch opened or added text to."""
        opened = (result for result in self.results if result.status is OpenStatus.OPENED)
        return tuple(result.section_id for result in opened if result.section_id)


class SectionsClosed(Struct, frozen=True, kw_only=True):
    """Sections were closed, or will be when the current question ends."""

    section_ids: tuple[str, ...]
    origin: Origin
    reason: CloseReason
    is_pending: bool = False
    """Whether the sections only close when the question ends."""
    kept: tuple[tuple[str, str], ...] = ()
    """Requested ids of sections that were not closed, each with the reason."""


class NodesFolded(Struct, frozen=True, kw_only=True):
    """The tree hides the children of these nodes, or shows them again."""

    section_ids: tuple[str, ...]
    is_folded: bool


class ReadingSectionChanged(Struct, frozen=True, kw_only=True):
    """The person is reading another section."""

    section_id: str | None


class LoadingStarted(Struct, frozen=True, kw_only=True):
    """Files or linked pages are being loaded."""

    count: int


class NodesLoaded(Struct, frozen=True, kw_only=True):
    """Files or pages were loaded: these nodes now have their sections as children."""

    section_ids: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] = ()
    """Nodes that could not be loaded, each with a sentence that says why."""
    notes: tuple[str, ...] = ()
    """Sentences for a person, for example that a page is an older copy."""
    pages: tuple[str, ...] = ()
    """Links whose pages were loaded."""
    approved_origins: tuple[str, ...] = ()
    """Web origins that the person has just allowed."""


class WarningRaised(Struct, frozen=True, kw_only=True):
    """Something that the person should know, for example a failed save. The conversation continues."""

    message: str


class QuestionAsked(Struct, frozen=True, kw_only=True):
    """A question was asked, and is already saved on disk."""

    number: int = 0
    """1-based; 0 until the question begins."""
    question: str
    within: str | None = None
    """The section that the question is about, or None for the whole document."""
    model: str = ""
    server: str | None = None
    """Where that model was; see `ModelFacts.server`."""
    asked_at: str = ""
    """ISO 8601, UTC."""
    preface: str = ""
    """Text before the question: opened sections, search results, and what the person is reading."""
    excerpts: tuple[Span, ...] = ()
    """Document text that the search results in the preface quote."""
    named_words: tuple[Span, ...] = ()
    """See `ToolUse.named_words`."""
    sections: tuple[OpenedSection, ...] = ()
    """New state of sections that were opened before the question and whose text is in the preface."""
    is_one_shot: bool = False
    """Whether `roamtui ask` or a table asked it."""


class QuestionReceived(Struct, frozen=True, kw_only=True):
    """It is the turn of a question. `QuestionAsked` follows once the model has started and search is done."""

    question: str
    starts_model: bool = False
    """Whether the model must be started first, which takes seconds."""


class QuestionDropped(Struct, frozen=True, kw_only=True):
    """A question was stopped or failed after `QuestionReceived`, before `QuestionAsked`."""


class TranscriptRebuilt(Struct, frozen=True, kw_only=True):
    """The transcript was rebuilt: the system prompt, then the outline and all open sections."""

    system: str = ""
    """The fixed system prompt. No other message has the system role."""
    prologue: str = ""
    """The outline and the open sections."""
    model: str = ""
    first_with_steps: int = 0
    """Exchanges before this index are sent as question and answer only."""
    first_sent: int = 0
    """Exchanges before this index are not sent at all. The prologue says how many are missing."""
    preface: str | None = None
    """What is sent in place of the preface of the exchange `first_with_steps`; None for all of it."""
    first_step: int = 0
    """If `preface` is set, steps of that exchange before this index are not sent."""


class StepRecorded(Struct, frozen=True, kw_only=True):
    """A step ended: its calls have results, or the model was reminded that its reply is no answer yet."""

    step: Step


class PartialReplyRecorded(Struct, frozen=True, kw_only=True):
    """More text of the reply. If the program is killed, the partial reply becomes the answer."""

    start: int
    """Character offset in the reply at which this text continues; 0 for a new reply."""
    text: str


class StepStarted(Struct, frozen=True, kw_only=True):
    """A request will be sent to the model. The event is saved first, in case the program is killed."""

    number: int
    input_tokens: int
    """Estimated tokens of the request."""
    cost_usd: float | None = None
    """Estimated cost of these tokens, or None if the price is unknown."""


class UsageRecorded(Struct, frozen=True, kw_only=True):
    """Requests ended, successful or not: to the model that answers, to a reranker or to an embedder."""

    usage: Usage
    ends_step: bool = False
    """Whether the usage is that of the last `StepStarted`, with all its attempts."""


class AnswerStreamed(Struct, frozen=True, kw_only=True):
    """More text of the reply. It is part of the answer unless tool calls follow in the same step."""

    text: str


class ThinkingStreamed(Struct, frozen=True, kw_only=True):
    """More of the model's thinking."""

    text: str
    replaces_answer: bool = False
    """Whether all text of the reply so far was thinking, and no answer. `text` repeats it."""


class ThoughtsRecorded(Struct, frozen=True, kw_only=True):
    """The thoughts before one reply. They are shown folded, and no model reads them again."""

    text: str
    """The end of the thoughts if they are long."""
    tokens: int
    """Estimated tokens of all thoughts."""


class SearchHit(Struct, frozen=True, kw_only=True):
    """One result of a search by the agent."""

    section_id: str
    path: tuple[str, ...] = ()
    score: float = 0.0
    why: str = ""
    """How the section was found, for example by its ranks; may be empty."""
    is_read: bool = False
    """Whether the model got more of its text than a line under "also found"."""


class AnswerBasis(Struct, frozen=True, kw_only=True):
    """How much of the text a model had read when it answered, and what it had found but not read."""

    whole: int
    """Number of sections that it had read whole."""
    partly: int
    """Number of sections that it had read in part."""
    sections: int
    """Number of sections that are loaded."""
    pages: str = ""
    """How much of a site or folder is loaded, such as "2 of 5 pages"; empty if all of it is."""
    queries: tuple[str, ...] = ()
    """What it searched for, in addition to the question."""
    unread: tuple[SearchHit, ...] = ()
    """Sections that search found and the model did not read, best first."""


class SectionsSearched(Struct, frozen=True, kw_only=True):
    """The agent searched the document."""

    query: str
    hits: tuple[SearchHit, ...]


class ToolFinished(Struct, frozen=True, kw_only=True):
    """A tool call ended: what it requested, and with what outcome."""

    tool: str = ""
    section_ids: tuple[str, ...] = ()
    query: str | None = None
    results: tuple[tuple[str, str], ...] = ()
    """The items that were requested, each with its outcome."""
    notice: str = ""
    """What the chat says about the call; empty if another event says it."""


class ReplyRejected(Struct, frozen=True, kw_only=True):
    """The text of a reply was no answer: calls or a reminder follow. The screen has shown the text."""

    text: str


class ReminderSent(Struct, frozen=True, kw_only=True):
    """The reply was no answer yet, so the model was reminded of what is missing."""

    text: str
    notice: str = "Asked the model for quotes"


class RetryScheduled(Struct, frozen=True, kw_only=True):
    """The provider failed temporarily, so the request is sent again after a wait."""

    reason: str
    wait_seconds: float


class Outcome(Struct, frozen=True, kw_only=True):
    """How a question ended."""

    answer: str = ""
    own_length: int | None = None
    """Number of characters of the answer that the model wrote; None for all."""
    unsourced: tuple[Bounds, ...] = ()
    """The bounds of its sentences that have neither a quote nor a source in the text."""
    unnamed: tuple[Bounds, ...] = ()
    """The bounds of its quotes that name no section, so that they were not looked up."""
    stopped: StopReason | None = None
    """None until the question ends."""
    citations: tuple[Citation, ...] = ()
    expanded_question: str = field(default="", name="spelled_question")
    """The question as it was searched, with its abbreviations spelled out; empty if a model was asked."""
    error: str = ""
    """A sentence for the person on what went wrong; empty if nothing did."""
    basis: AnswerBasis | None = field(default=None, name="reading")
    """What the model had read, or None if the answer is not complete."""


class QuestionAnswered(Outcome, frozen=True, kw_only=True):
    """The question has ended and is on disk. Always the last event of a question."""

    number: int = 0
    """The number of its question; 0 until `finish_question` sets it."""
    stopped: StopReason
    usage: Usage = Usage()
    """What the question has used. `finish_question` sets it."""
    step_count: int = field(default=0, name="steps")
    """Number of requests to the model or, without a model, of recorded steps."""
    cited_ids: tuple[str, ...] = ()
    """Open sections that were cited or contain a cited section."""


class CitationsChecked(Struct, frozen=True, kw_only=True):
    """The quotes of an earlier answer were looked up again in the document, and some results are new."""

    number: int
    citations: tuple[Citation, ...]


class QuestionsRewound(Struct, frozen=True, kw_only=True):
    """The question number `first` and all after it were removed. The next question keeps its answers."""

    first: int


class AnswerChosen(Struct, frozen=True, kw_only=True):
    """A person chose one of `Exchange.answers` by its index."""

    number: int
    index: int


class DocumentReloaded(Struct, frozen=True, kw_only=True):
    """The document or its sources changed, and open sections were found again by id or by their text."""

    sections: tuple[OpenedSection, ...]
    """All open sections."""
    gone_ids: tuple[str, ...] = ()
    """Nodes that were unfolded or being read, and are no longer in the document."""


UnpublishedEvent = (
    ConversationRenamed
    | DocumentIdentified
    | TranscriptRebuilt
    | StepRecorded
    | PartialReplyRecorded
    | ReplyRejected
    | ThoughtsRecorded
    | UsageRecorded
    | QuestionsRewound
)
"""The recorded events that subscribers never get."""
RecordedEvent = (
    UnpublishedEvent
    | ConversationStarted
    | QuestionAsked
    | StepStarted
    | ReminderSent
    | RetryScheduled
    | SectionsSearched
    | ToolFinished
    | QuestionAnswered
    | CitationsChecked
    | SectionsOpened
    | SectionsClosed
    | NodesFolded
    | ReadingSectionChanged
    | NodesLoaded
    | DocumentReloaded
    | AnswerChosen
)
"""Events that the log keeps. In their order, they give the state, so they hold all that it needs."""
ShownEvent = (
    AnswerStreamed | LoadingStarted | QuestionDropped | QuestionReceived | ThinkingStreamed | WarningRaised
)
"""Events that are only shown when they happen, and not recorded."""
ConversationEvent = RecordedEvent | ShownEvent
EVENT_NAMES: Mapping[type[ConversationEvent], str] = MappingProxyType(
    {
        AnswerChosen: "answer_chosen",
        AnswerStreamed: "answer_streamed",
        CitationsChecked: "citations_checked",
        ConversationRenamed: "conversation_renamed",
        ConversationStarted: "conversation_started",
        DocumentIdentified: "document_identified",
        DocumentReloaded: "document_reloaded",
        PartialReplyRecorded: "draft_recorded",
        ReplyRejected: "draft_rejected",
        LoadingStarted: "loading_started",
        NodesFolded: "nodes_folded",
        NodesLoaded: "nodes_loaded",
        QuestionAnswered: "question_answered",
        QuestionAsked: "question_asked",
        QuestionDropped: "question_dropped",
        QuestionReceived: "question_received",
        QuestionsRewound: "questions_rewound",
        ReadingSectionChanged: "reading_section_changed",
        ReminderSent: "reminder_sent",
        RetryScheduled: "retry_scheduled",
        SectionsClosed: "sections_closed",
        SectionsOpened: "sections_expanded",
        SectionsSearched: "sections_searched",
        StepRecorded: "step_recorded",
        StepStarted: "step_started",
        ThinkingStreamed: "thinking_streamed",
        ThoughtsRecorded: "thoughts_recorded",
        ToolFinished: "tool_finished",
        TranscriptRebuilt: "transcript_rebuilt",
        UsageRecorded: "usage_recorded",
        WarningRaised: "warning_raised",
    }
)
"""Names of events in logs and in JSON. They stay when a class is renamed."""
