"""One content into lines of a given width."""

from __future__ import annotations

from textual.content import Content


def wrap(content: Content, width: int, *, lead: Content | str = "", follow: Content | str = "") -> list[Content]:
    """Return `content` in lines of at most `width` cells, each behind its lead."""
    room = max(8, width - Content(str(follow)).cell_length)
    return [(lead if i == 0 else follow) + line for i, line in enumerate(content.wrap(room))]
