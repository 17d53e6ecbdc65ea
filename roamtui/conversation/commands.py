"""Everything that can be done to sections of a conversation, by the agent and by a person alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """Who asks."""

    AGENT = "agent"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandSections:
    """Open sections for the conversation, and unfold them in the tree."""

    section_ids: tuple[str, ...]
    """As requested: for the agent also pages (``id:2``) and ranges of children (``id:c2``)."""
    origin: Origin
    room_tokens: int | None = None
    """Estimated tokens of section text that this may deliver at most, None for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseSections:
    """Close sections: at once between questions, marked and closed after it during one."""

    section_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSections:
    """Pin open sections, or unpin them; a section that is not open is opened first."""

    section_ids: tuple[str, ...]
    is_pinned: bool
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoldNodes:
    """Show the children of nodes in the tree. Costs nothing."""

    section_ids: tuple[str, ...]
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNodes:
    """Hide the children of nodes in the tree. What is open stays open."""

    section_ids: tuple[str, ...]
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSection:
    """Note which section the person is reading; None for none."""

    section_id: str | None
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoDeed:
    """Take back what was last opened, closed or pinned, by whomever; or do again what was taken back last."""

    is_redo: bool = False
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseAgentSections:
    """Close and fold everything that the agent opened and the person did not pin."""

    origin: Origin = Origin.PERSON


Command = (
    ExpandSections
    | CollapseSections
    | PinSections
    | UnfoldNodes
    | FoldNodes
    | ReadSection
    | UndoDeed
    | CloseAgentSections
)
