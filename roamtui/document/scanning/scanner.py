"""Finds the headings of a text by looking at few of its lines, with the same result as parsing it all.

Why that is exact. markdown-it-py's block loop keeps nothing from one top-level block to the next, so wherever a
top-level block is known to begin, what follows can be read by itself. Such places are called *bases*:

1. Outside of top-level fences and HTML blocks, each of these ends whatever is open, also in lists and quotes: an ATX
   heading, a fence or an HTML block that may interrupt a paragraph at column 0; a *plain* line after a blank one, which
   begins at column 0 with nothing that could be a mark. Each is a base, and so is what follows each of the first three.
2. At columns 1 to 3 the same holds unless the line belongs to a list item, so where no line since the last base
   begins with a list marker.
3. A fence or HTML block at columns 1 to 3 with no line indented less than it begins and ends at the top, or lies
   whole inside one list item, or is text of it. Its lines hold no top-level heading and no base in all cases.
4. An HTML tag that may not interrupt a paragraph, after a line that is not blank, hides what follows up to the next
   blank line or nothing. If nothing there could matter, both are the same.
5. Plain lines from a base on are one paragraph; an underline makes it a heading. A bar could make it a table.

What none of these decides goes to the block rules: a *span* from the last base before it to the next plain line after
a blank one. If the rules see a top-level paragraph begin there, they have read the span as they would read the whole
text; else the last block is a fence or HTML block without an end, and its first line is a base.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.document.scanning import lines
from roamtui.document.scanning.blocks import TOO_DEEP, find_starts, list_headings, parse_blocks
from roamtui.document.scanning.lines import (
    CANDIDATE,
    FENCE,
    FIRST_CANDIDATE,
    HASHES,
    INDENT,
    MORE_HASHES,
    REST,
    TITLE,
    trim_heading,
)

if TYPE_CHECKING:
    import re

_SPAN_MAX = 1 << 20
"""Characters; spans that follow each other closely grow up to this, since each costs something by itself."""
_SENTINEL = "x\n"
_ENDLESS = ("fence", "html_block")


class HeadingScanner:
    """One walk over one text."""

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._found = FoundHeadings()
        self._at = self._base = start
        self._span_end = start
        self._span_min = 0
        self._no_table = -1
        self._closings: dict[re.Pattern[str], tuple[int, int]] = {}

    def scan(self) -> FoundHeadings:
        """Return the headings."""
        if self._at < len(self._text):
            first = FIRST_CANDIDATE.match(self._text, self._at)
            if not first or self._take_headings((first,)):
                self._at = lines.next_line(self._text, first.end() if first else self._at)
        while self._at < len(self._text):
            if self._take_headings(CANDIDATE.finditer(self._text, self._at - 1)):
                break
        return self._found

    def _take_headings(self, candidates: Iterable[re.Match[str]]) -> bool:
        """Take headings and fences at column 0 as they come, up to a candidate of another kind, and decide that.

        Return whether there was none of another kind.
        """
        found = self._found
        last = None
        for candidate in candidates:
            kind = candidate.lastindex
            if kind == TITLE:
                start, more = candidate.span(MORE_HASHES)
                found.levels.append(more - start + 1)
                found.offsets.append(start - 1)
                found.contents.append(candidate[TITLE])
            elif kind == REST and not candidate[INDENT] and "|" not in candidate[REST]:
                found.add(len(candidate[HASHES]), candidate.start(HASHES), trim_heading(candidate[REST]))
            elif kind is not None:
                if last:
                    self._base = last.end() + 1
                self._decide(candidate)
                return False
            last = candidate
        if last:
            self._base = last.end() + 1
        return True

    def _decide(self, candidate: re.Match[str]) -> None:
        indent = len(candidate[INDENT] or "")
        start = candidate.start(HASHES if candidate.lastindex == REST else candidate.lastindex or 0) - indent
        if start != self._no_table and lines.could_head_table(self._text, start):
            self._no_table = start
            self._parse_span(start)
            return
        match candidate.lastindex:
            case lines.FENCE:
                self._decide_fence(candidate, start, indent)
            case lines.HTML:
                self._decide_html(start, indent)
            case lines.UNDERLINE:
                self._decide_underline(candidate, start)
            case _:
                self._decide_heading(candidate, start, indent)

    def _decide_heading(self, candidate: re.Match[str], start: int, indent: int) -> None:
        if self._is_outside_lists(start, indent):
            self._found.add(len(candidate[HASHES]), start, trim_heading(candidate[REST]))
            self._at = self._base = candidate.end() + 1
        else:
            self._parse_span(start)

    def _decide_fence(self, candidate: re.Match[str], start: int, indent: int) -> None:
        opened, marker = candidate.end(), candidate[FENCE]
        if not indent or start == self._base:
            self._at = self._base = lines.find_fence_end(self._text, opened, marker) + 1
            return
        end = self._find_end(lines.make_closing(marker), opened)
        if end < len(self._text) and lines.is_indented(self._text, opened, end, indent):
            self._at = end + 1
        elif self._is_outside_lists(start, indent):
            self._at = self._base = end + 1
        else:
            self._parse_span(start)

    def _decide_html(self, start: int, indent: int) -> None:
        text = self._text
        after = lines.next_line(text, start)
        opening = lines.match_html(text[start + indent : after].removesuffix("\n"))
        if opening is None:
            self._at = after
            return
        closing, may_interrupt = opening
        is_base = start == self._base
        end = lines.next_line(text, self._find_end(closing, start)) if closing else lines.find_blank(text, start)
        if not (may_interrupt or is_base or lines.is_blank_before(text, start)):
            if lines.has_interruption(text, after - 1, end):
                self._parse_span(start)
            else:
                self._at = end
        elif indent and not is_base and end < len(text) and lines.is_indented(text, start, end - 1, indent):
            self._at = end
        elif self._is_outside_lists(start, indent):
            self._at = self._base = end
        else:
            self._parse_span(start)

    def _decide_underline(self, candidate: re.Match[str], start: int) -> None:
        text = self._text
        if start == self._base or lines.is_blank_before(text, start):
            self._at = candidate.end() + 1
            return
        blank = text.rfind("\n\n", max(self._base - 1, 0), start)
        begin = self._base if blank < 0 else blank + 2
        if lines.is_prose(text, begin, start):
            level = 1 if candidate[lines.UNDERLINE][0] == "=" else 2
            self._found.add(level, begin, lines.trim(text[begin : start - 1]))
            self._at = self._base = candidate.end() + 1
        else:
            self._parse_span(start)

    def _find_end(self, closing: re.Pattern[str], start: int) -> int:
        """Return the end of the first match at or after `start`, the length of the text if there is none.

        What was found stays known, so that a far match is not looked for again and again.
        """
        known_from, known = self._closings.get(closing, (0, -1))
        if not known_from <= start <= known:
            found = closing.search(self._text, start)
            self._closings[closing] = (start, found.start() if found else len(self._text))
            return found.end() if found else len(self._text)
        found = closing.match(self._text, known)
        return found.end() if found else len(self._text)

    def _is_outside_lists(self, start: int, indent: int) -> bool:
        return (
            indent == 0 or start == self._base or not lines.has_list_marker(self._text, self._find_base(start), start)
        )

    def _find_base(self, start: int) -> int:
        """Return the last base at or before `start` that can be told from two lines."""
        text, least = self._text, max(self._base - 1, 0)
        blank = text.rfind("\n\n", least, start)
        while blank >= 0:
            if lines.is_plain(text, blank + 2):
                return blank + 2
            blank = text.rfind("\n\n", least, blank + 1)
        return self._base

    def _parse_span(self, start: int) -> None:
        """Let the block rules read from the last base before the line at `start` to a base after it."""
        text, begin = self._text, self._find_base(start)
        self._span_min = min(2 * self._span_min + 1_000, _SPAN_MAX) if begin - self._span_end < self._span_min else 0
        end = lines.find_plain_after_blank(text, max(lines.next_line(text, start) - 1, begin + self._span_min))
        self._at = self._base = self._read_span(begin, end) or self._read_span(begin, len(text))
        self._span_end = end

    def _read_span(self, begin: int, end: int) -> int:
        """Add the headings of a span, up to where it is read as the whole text would be; return that, a base.

        Return 0 and add nothing where the rules contradict what is said above.
        """
        text = self._text
        is_last = end == len(text)
        span = text[begin:end]
        env: dict[str, object] = {}
        tokens = parse_blocks(span if is_last else span + _SENTINEL, env)
        starts = find_starts(span)
        count = len(starts) if is_last else len(starts) - 1
        if not is_last:
            block = next(token for token in reversed(tokens) if token.level == 0 and token.nesting >= 0)
            line = block.map[0] if block.map else 0
            if line != count and block.type not in _ENDLESS:
                return 0
            count = line
        self._found.is_too_deep |= TOO_DEEP in env
        for level, content, line in list_headings(tokens):
            if line < count:
                self._found.add(level, begin + starts[line], content)
        return end if is_last else begin + starts[count]


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
