"""What happened to the sections of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from roamtui.conversation.commands import Origin


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
    text: str
    """What the model reads."""
    tokens: int = 0
    """Estimated tokens of section text newly delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsExpanded:
    """A batch of sections was opened."""

    results: tuple[ExpandResult, ...]
    origin: Origin

    @property
    def opened_ids(self) -> tuple[str, ...]:
        """Sections that this batch opened or added text to."""
        return tuple(r.section_id for r in self.results if r.section_id and r.status is ExpandStatus.OPENED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsClosed:
    """Sections are open no longer."""

    section_ids: tuple[str, ...]
    origin: Origin
    reason: CloseReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsMarked:
    """Sections will be closed when the question that is under way has ended."""

    section_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsKept:
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
class ReadingChanged:
    """The person reads another section, or none."""

    section_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchUndone:
    """The agent's last batch was taken back."""

    section_ids: tuple[str, ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveFailed:
    """The conversation goes on, but this could not be written to disk."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingReported:
    """The conversation is on disk, but not where or as it was, such as under another id."""

    message: str
    conversation_id: str
    """The id that it has now."""


ConversationEvent = (
    SectionsExpanded
    | SectionsClosed
    | SectionsMarked
    | SectionsKept
    | SectionsPinned
    | NodesUnfolded
    | NodesFolded
    | ReadingChanged
    | BatchUndone
    | LoadingProgressed
    | NodesLoaded
    | SaveFailed
    | SavingReported
)
