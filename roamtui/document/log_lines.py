"""Divide a log by its days and hours, or else into groups of lines."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from roamtui.document.document import NodeKind, NodeRow
from roamtui.text import compute_line_starts

_GROUP_LINES = 200
_SAMPLE_LENGTH = 10_000
"""Number of characters at the start of a text that show whether it is a log."""
_STAMPED_SHARE = 0.8
"""Minimum share of the first lines with a time, if the file's name does not say that it is a log."""
_STAMP = re.compile(
    r"[^\r\n]{0,60}?\b(?P<day>\d{4}[-/]\d\d[-/]\d\d|\d\d/[A-Z][a-z]{2}/\d{4}|[A-Z][a-z]{2} [ \d]\d)"
    r"[ T:](?P<hour>[012]\d):[0-5]\d\b"
)
"""The time at the start of a line, such as "2024-03-01T10:05", "Mar  1 10:05" and "[01/Mar/2024:10:05"."""
_Lines = tuple[int, int]
"""Numbers of the first line, from 0, and of the line after the last."""


def group_log_lines(text: str, *, is_log: bool) -> list[NodeRow]:
    """Make rows that cover a log: its days, in long days the hours, and in long hours groups of lines.

    Return none if it is no log. `is_log` says that its name is that of a log: then the lines need no times.
    """
    head = text[:_SAMPLE_LENGTH]
    stamps = [_STAMP.match(head, start) for start in compute_line_starts(head)]
    is_stamped = sum(stamp is not None for stamp in stamps) >= _STAMPED_SHARE * len(stamps)
    starts = compute_line_starts(text) if is_stamped or is_log else array("Q")
    if len(starts) <= _GROUP_LINES:
        return []
    if not any(stamps):
        return list(_iter_groups((0, len(starts)), 1, starts))
    times = _read_times(text, starts)
    rows: list[NodeRow] = []
    for day, lines in _split(times, (0, len(starts)), lambda time: time[0]):
        rows.append(NodeRow(NodeKind.TEXT, 1, day, starts[lines[0]]))
        hours = list(_split(times, lines, lambda time: time[1])) if _is_long(lines) else []
        for hour, part in hours:
            rows.append(NodeRow(NodeKind.TEXT, 2, f"{day} {hour}:00", starts[part[0]]))
            if _is_long(part):
                rows += _iter_groups(part, 3, starts)
    return rows


def _is_long(lines: _Lines) -> bool:
    return lines[1] - lines[0] > _GROUP_LINES


def _read_times(text: str, starts: Sequence[int]) -> list[tuple[str, str]]:
    """Return day and hour of each line. One without a time belongs to the one before, or else after."""
    stamps = [
        stamp and (stamp["day"], stamp["hour"]) for stamp in (_STAMP.match(text, start) for start in starts)
    ]
    last = next(time for time in stamps if time)
    times: list[tuple[str, str]] = []
    for time in stamps:
        last = time or last
        times.append(last)
    return times


def _split(
    times: Sequence[tuple[str, str]], lines: _Lines, key: Callable[[tuple[str, str]], str]
) -> Iterator[tuple[str, _Lines]]:
    """Yield the ranges of lines whose times have the same key."""
    first = lines[0]
    for name, group in groupby(times[slice(*lines)], key):
        after = first + sum(1 for _ in group)
        yield name, (first, after)
        first = after


def _iter_groups(lines: _Lines, level: int, starts: array[int]) -> Iterator[NodeRow]:
    for first in range(*lines, _GROUP_LINES):
        after = min(first + _GROUP_LINES, lines[1])
        yield NodeRow(NodeKind.TEXT, level, f"Lines {first + 1:,}–{after:,}", starts[first])
