"""Headings by the scan, and by markdown-it-py's block rules alone: exact and slow, the judge of the scan."""

from __future__ import annotations

from roamtui.document.headings import (
    count_lines,
    list_headings,
    parse_blocks,
    parse_title,
    read_blank_title,
    scan_headings,
)
from roamtui.document.text import find_line_starts


def find_headings(text: str) -> list[tuple[int, str, int]]:
    r"""Return level, title and 0-based line of each heading that the scan finds.

    Args:
        text: Markdown with ``\n`` as its only line end.
    """
    columns = scan_headings(text)
    return list(zip(columns.levels, columns.titles, count_lines(text, columns.offsets), strict=True))


def parse_headings(text: str) -> list[tuple[int, str, int]]:
    r"""Return level, title and 0-based line of each heading of a whole text, by block rules alone.

    Args:
        text: Markdown with ``\n`` as its only line end.
    """
    env: dict[str, object] = {}
    source = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    starts = find_line_starts(source)
    return [
        (level, parse_title(content, env) if content else read_blank_title(source, starts[line], level), line)
        for level, content, line in list(list_headings(parse_blocks(source, env)))
    ]
