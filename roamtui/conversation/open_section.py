"""`OpenSection`: a section that a conversation holds, with all that the rules for closing go by."""

from __future__ import annotations

from dataclasses import dataclass, replace

from roamtui.conversation.commands import Origin
from roamtui.document.node import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSection:
    """A section that the conversation holds."""

    section_id: str
    opened_by: Origin
    opened_at: int
    """Number of the question before or during which it was opened."""
    last_used: int
    """Number of the last question at which it was opened or asked for again."""
    last_cited: int = 0
    """Number of the last question whose answer cites it, 0 for never."""
    is_pinned: bool = False
    is_closing: bool = False
    """Marked: it closes when the question under way has ended."""
    closing_by: Origin | None = None
    """Who marked it, None where it is not marked; what a person marked closes whatever the agent asks for."""
    deliveries: tuple[Span, ...] = ()
    """Text of it that is in the transcript; empty until the next question for what a person opened."""
    tokens: int = 0
    """Estimated tokens of the deliveries, of the whole section before them."""
    content_hash: str = ""
    """Digest of its own text, to find it again in a changed document."""


def mark(section: OpenSection, origin: Origin) -> OpenSection:
    """Return a section that closes when the question under way has ended."""
    by = Origin.PERSON if section.closing_by is Origin.PERSON else origin
    return replace(section, is_closing=True, closing_by=by)


def unmark(section: OpenSection) -> OpenSection:
    """Return a section that stays open after the question."""
    return replace(section, is_closing=False, closing_by=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody changed of what is open at one stroke, so that it can be taken back."""

    before: tuple[OpenSection, ...] = ()
    """The sections that it changed, as they were, those that it opened left out."""
    after: tuple[OpenSection, ...] = ()
    """The same as they became, those that it closed left out."""
    unfolded_ids: tuple[str, ...] = ()
    folded_ids: tuple[str, ...] = ()
    asked: int = -1
    """How many questions there were, where it was done between them: until the next, what it closed is only to be
    opened again for its text to be told as it was. -1 during a question."""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """All sections that it changed."""
        return tuple(dict.fromkeys(section.section_id for section in (*self.before, *self.after)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of it."""
        return not (self.before or self.after or self.unfolded_ids or self.folded_ids)
