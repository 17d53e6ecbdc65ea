"""`Converted`: what a converter makes of a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """The text of a file in another format."""

    text: str
    """Markdown."""
    title: str = ""
    """What the file calls itself, empty where it does not."""
    page_starts: tuple[int, ...] = ()
    """Offset in the text at which each page begins, none where the format has no pages."""
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each, the file not named."""
