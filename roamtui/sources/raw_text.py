"""`RawText`: what a source gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RawText:
    """Decoded text with where it came from."""

    text: str
    """Decoded characters, without byte order mark, line ends as in the source."""
    source: str
    """What identifies it on this machine: an absolute path, an address or ``-``."""
    name: str
    """A short name for people, such as the file's."""
    is_markdown: bool = True
    """False for formats in which ``#`` begins no heading, such as CSV and logs."""
    notes: tuple[str, ...] = ()
    """What was replaced while decoding, one sentence each."""
    title: str = ""
    """What a file of another format calls itself, empty where it does not."""
    page_starts: tuple[int, ...] = ()
    """Offset in the text at which each of its pages begins, none where it has no pages."""
    is_converted: bool = False
    """Whether the text was made of a file of another format."""
