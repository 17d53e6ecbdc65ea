"""What is asked for in a conversation: commands on sections, by agent and person alike, and a person's consent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
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
class CloseSections:
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
class Undo:
    """Take back what was last opened, closed or pinned, by whomever; or do again what was taken back last."""

    is_redo: bool = False
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseAgentOpened:
    """Close and fold everything that the agent opened and the person did not pin."""

    origin: Origin = Origin.PERSON


Command = ExpandSections | CloseSections | PinSections | UnfoldNodes | FoldNodes | ReadSection | Undo | CloseAgentOpened


@dataclass(frozen=True, slots=True, kw_only=True)
class CostApprovalRequest:
    """The next request may take the conversation past its spending cap."""

    spent_usd: float
    cap_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginApprovalRequest:
    """Pages are to be fetched from an origin that the person did not type."""

    host: str
    """Host and port, as the address has them."""
    origin: str
    """As ``https://host[:port]``."""
    urls: tuple[str, ...]
    """The pages."""


ApprovalRequest = CostApprovalRequest | OriginApprovalRequest


Approver = Callable[[ApprovalRequest], Awaitable[bool]]
"""Returns whether something may be done; asks a person, if there is one."""


async def deny(_approval: ApprovalRequest) -> bool:
    """Return False: where no person can be asked, nothing is approved."""
    return False
