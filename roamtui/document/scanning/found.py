"""`FoundHeadings`: what a scan or a parse finds, a column for each property."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field


@dataclass(slots=True)
class FoundHeadings:
    """Headings outside quotes and lists, in order; columns grow while a text is read."""

    levels: bytearray = field(default_factory=bytearray)
    """1 to 6."""
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    """Where the heading's first line begins."""
    contents: list[str] = field(default_factory=list)
    """Inline source, trimmed as markdown-it-py does; empty where that leaves nothing."""

    is_too_deep: bool = False
    """Whether quotes or lists nest deeper than they are read."""
    unread: list[int] = field(default_factory=list)
    """Rows whose content may not be their title as it stands, in order."""

    def add(self, level: int, offset: int, content: str) -> None:
        """Append one heading whose content is to be read."""
        self.unread.append(len(self.levels))
        self.levels.append(level)
        self.offsets.append(offset)
        self.contents.append(content)
