"""Commands on sections, from the agent or a person, and requests for a person's approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from msgspec import Struct


class Origin(StrEnum):
    """Who gave a command."""

    AGENT = "agent"
    PERSON = "person"


class ExpandSections(Struct, frozen=True, kw_only=True):
    """Open sections for the conversation, and unfold them in the tree."""

    section_ids: tuple[str, ...]
    """Ids as requested. The agent may also ask for pages (``id:2``) and ranges of children (``id:c2``)."""
    origin: Origin
    room_tokens: int | None = None
    """Maximum number of estimated tokens of section text to deliver, or None for no limit."""


class CloseSections(Struct, frozen=True, kw_only=True):
    """Close sections now; while a question is running, mark them to be closed when it ends."""

    section_ids: tuple[str, ...]
    origin: Origin


class PinSections(Struct, frozen=True, kw_only=True):
    """Pin or unpin sections. Pinning a closed section opens it."""

    section_ids: tuple[str, ...]
    is_pinned: bool


class FoldNodes(Struct, frozen=True, kw_only=True):
    """Hide the children of nodes in the tree, or show them. Sections neither open nor close."""

    section_ids: tuple[str, ...]
    is_folded: bool = True


class ReadSection(Struct, frozen=True, kw_only=True):
    """Record which section the person is reading, or None."""

    section_id: str | None


Command = ExpandSections | CloseSections | PinSections | FoldNodes | ReadSection


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """Asks a person to allow a request that costs much, or pages from an origin that they did not type."""

    question: str
    detail: str
    """Neither is sanitised."""
    yes: str
    """The word for allowing it."""


Approver = Callable[[ApprovalRequest], Awaitable[bool]]
"""A function that asks a person, if there is one, and returns whether the request is approved."""


async def deny(_approval: ApprovalRequest) -> bool:
    """Return False for every request; for front ends that cannot ask a person."""
    return False
