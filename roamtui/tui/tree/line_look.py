"""`LineLook`: everything that decides how one line of the tree looks, as one small value. Knows no screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamtui.conversation.commands import Origin
    from roamtui.tui.tree.visible_lines import Fold


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLook:
    """Everything that decides how a line looks."""

    has_next: tuple[bool, ...]
    fold: Fold
    is_failed: bool = False
    """Whether what stands below could not be read when that was tried last."""
    title: str
    """Sanitised, on one line, not cut to the width."""
    is_named: bool = True
    """Whether the title is the document's own."""
    matches: tuple[tuple[int, int], ...] = ()
    opened_by: Origin | None = None
    is_closing: bool = False
    is_pinned: bool = False
    is_cited: bool = False
    is_reading: bool = False
    open_inside: int = 0
    """Open sections that this line stands for, since no line of their own is visible."""
    size: str = ""
    is_new: bool = False
    """Whether it belongs to the newest batch."""
    is_found: bool = False
    """Whether the last search found it."""
    found_inside: int = 0
    """Found sections that this line stands for."""
    is_cursor: bool = False
    has_focus: bool = False
