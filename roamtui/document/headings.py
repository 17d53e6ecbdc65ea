"""Find headings exactly as CommonMark 0.31.2 defines them, while examining only a few of the lines.

One difference is deliberate: headings inside block quotes and list items are text, not sections.

Why this is exact: markdown-it-py's block loop keeps no state from one top-level block to the next. If a
top-level block is known to start at a line, the text from this line on can be parsed separately. Such a line
is called a *base*:

Outside top-level fences and HTML blocks, four kinds of line at column 0 close every open block, even in lists
and quotes: an ATX heading, a fence, an HTML block that may interrupt a paragraph, and a *plain* line after a
blank one. A plain line starts with nothing that could be block markup. Each of the four is a base, and so is
the line after each of the first three blocks. A fence at columns 1 to 3, with no line inside it indented
less, is a top-level block, or lies entirely in one list item, or is text of that item: its lines hold no
top-level heading and no base. Plain lines that follow a base are one paragraph; an underline makes it a
heading.

For any other line that could be a heading or hide one, and for a line with ``|``, which could start a table,
markdown-it-py parses a *span*: from the last base before the line to the next plain line after a blank one.
If the parser sees a top-level paragraph start at the end of the span, it has read the span as it would read
the whole text. Otherwise the last block is a fence or an HTML block without an end: its first line is a base,
and a longer span is parsed from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from roamtui.commonmark import TOO_DEEP, parse_blocks, parse_link_definitions
from roamtui.document.document import NodeKind, NodeRow
from roamtui.markdown.anchors import strip_anchor
from roamtui.text import compute_line_starts

_SPAN_MAX = 1 << 20
"""Maximum of `HeadingScanner._span_min`, in characters. Each span has a fixed cost."""
_SENTINEL = "x\n"
"""A paragraph to add to a span: if the parser sees it start at the top level, the span ends at a base."""
_MAY_LACK_END = ("fence", "html_block")
"""Blocks that continue to the end of the text if nothing closes them."""

# Every line pattern starts with "\n": `re` searches for a literal much faster than for a character class or
# an anchor.
_CANDIDATE = (
    r"(?:( {1,3})(?=[#`~<=\-])|(?=[#`~<=\-]))"
    r"(?:(#{1,6})((?:[ \t][^\n]*)?)$|(`{3,}(?=[^`\n]*$)|~{3,})|(<)[A-Za-z/!?]|(?<!\n\n)(=+|-+)[ \t]*$)"
)
_INDENT, _HASHES, _REST, _FENCE, _HTML, _UNDERLINE = range(1, 7)
"""Groups of a candidate. `lastindex`, the last that matched, shows its kind. `_INDENT` may be missing."""
_NEXT_CANDIDATE = re.compile(rf"\n{_CANDIDATE}", re.MULTILINE)
"""A line that could be a heading or hide one: ATX heading, fence, HTML block or underline."""
_FIRST_CANDIDATE = re.compile(_CANDIDATE, re.MULTILINE)
"""Such a line at the start of a text."""

_BLANK_LINE = re.compile(r"\n[ \t]*$", re.MULTILINE)
_PLAIN = r"(?:[^\s#`~<=>|:+*_\-\[\d]|\*{1,2}[^\s*|]|\d+(?![\d.)]))"
"""The start of a line of prose: nothing that could be block markup."""
_PLAIN_AFTER_BLANK = re.compile(rf"\n\n(?={_PLAIN})")
_PLAIN_START = re.compile(_PLAIN)
_PROSE = re.compile(rf"(?:{_PLAIN}[^\n|]*\n)+")

_OUTDENTED = tuple(re.compile(rf"\n(?! {{{indent}}}| *\t|[ \t]*$)", re.MULTILINE) for indent in range(4))
_TRIMMED = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Characters that markdown-it-py strips from both ends of inline source."""

_PARSED_MAX = 100_000
"""Maximum length, in characters, of a heading whose inline source is parsed. The source of a longer one is
its title, because parsing time grows faster than the text."""

_INLINE_MARKUP = re.compile(r"[\\`*\[<&\n$~]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that an inline rule of the reader could act on; ``!`` and ``]`` need a ``[``, and an underscore
is one at a bound of a word."""


def scan_headings(text: str, start: int = 0) -> tuple[list[NodeRow], bool]:
    r"""Find the headings of a Markdown text after its front matter, which ends at `start`.

    Lines must end with ``\n``. Headings in quotes and lists are text. Also return whether some of these were
    nested too deeply to be parsed.
    """
    source = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    scanner = HeadingScanner(source, start)
    scanner.scan()
    edges = [start, *(offset for _, offset, _ in scanner.found), len(source)]
    has_links = any("[" in content for *_, content in scanner.found)
    env = {"references": parse_link_definitions(source, edges) if has_links else {}}
    parse = cache(lambda content: parse_title(content, env))
    rows: list[NodeRow] = []
    for level, offset, content in scanner.found:
        title = content.strip(" \t")
        if not content:
            # markdown-it-py strips this title to nothing, but CommonMark strips only spaces and tabs.
            line = source[offset : _find_next_line(source, offset)].strip(" \t\n")
            title = _trim_heading(line.removeprefix("#" * level), " \t") if line.startswith("#") else ""
        elif _INLINE_MARKUP.search(content):
            title = parse(content)
        shown = parse(strip_anchor(content)) if content.endswith("}") else title
        anchor = title.removeprefix(shown) if title.startswith(shown) else ""
        rows.append(NodeRow(NodeKind.SECTION, level, title, offset, anchor=anchor))
    return rows, scanner.is_too_deep


class HeadingScanner:
    """Finds the headings of one text in a single pass."""

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self.found: list[tuple[int, int, str]] = []
        """Level, offset and trimmed inline source of each heading."""
        self.is_too_deep = False
        """Whether some quotes or lists were nested too deeply to be parsed."""
        self._position = start
        """Start of the first line that is not examined yet."""
        self._base = start
        """The last known base (see the module), as an offset."""
        self._span_end = start
        """End of the last span that was parsed."""
        self._span_min = 0
        """Minimum length of the next span, in characters. It grows while spans are close to each other."""

    def scan(self) -> None:
        """Find all headings."""
        if self._position < len(self._text):
            first = _FIRST_CANDIDATE.match(self._text, self._position)
            if not first or self._take_headings((first,)):
                self._position = _find_next_line(self._text, first.end() if first else self._position)
        while self._position < len(self._text):
            if self._take_headings(_NEXT_CANDIDATE.finditer(self._text, self._position - 1)):
                break

    def _take_headings(self, candidates: Iterable[re.Match[str]]) -> bool:
        """Add headings at column 0 up to the first candidate of another kind. Decide what that one is.

        Return False if there is one. The search must then continue from the new position.
        """
        last = None
        for candidate in candidates:
            if candidate.lastindex != _REST or candidate[_INDENT] or "|" in candidate[_REST]:
                if last:
                    self._base = last.end() + 1
                self._decide_candidate(candidate)
                return False
            title = _trim_heading(candidate[_REST])
            self.found.append((len(candidate[_HASHES]), candidate.start(_HASHES), title))
            last = candidate
        if last:
            self._base = last.end() + 1
        return True

    def _decide_candidate(self, candidate: re.Match[str]) -> None:
        text = self._text
        start = candidate.start() + (self._text[candidate.start()] == "\n")
        indent = len(candidate[_INDENT] or "")
        block_end = None
        if "|" not in text[start : _find_next_line(text, start)]:
            if candidate[_FENCE] is not None:
                block_end = _find_fence_end(text, candidate.end(), candidate[_FENCE])
                if indent and (
                    block_end == len(text) or _OUTDENTED[indent].search(text, candidate.end(), block_end)
                ):
                    block_end = None
            elif candidate[_HTML] and not indent:
                block_end = _find_html_end(text, start)
        if block_end is not None:
            self._position = block_end
            self._base = self._base if indent else block_end
            return
        blank = text.rfind("\n\n", max(self._base - 1, 0), start)
        begin = self._base if blank < 0 else blank + 2
        if candidate[_UNDERLINE] and _PROSE.fullmatch(text, begin, start):
            level = 1 if candidate[_UNDERLINE][0] == "=" else 2
            self.found.append((level, begin, text[begin : start - 1].strip(_TRIMMED)))
            self._position = self._base = _find_next_line(text, start)
        else:
            self._parse_span(start)

    def _find_last_base(self, start: int) -> int:
        """Return the last offset at or before `start` from which the text can be parsed on its own.

        That is a line of prose after a blank line, or else `_base`.
        """
        text = self._text
        low = max(self._base - 1, 0)
        blank = text.rfind("\n\n", low, start)
        while blank >= 0:
            if _PLAIN_START.match(text, blank + 2):
                return blank + 2
            blank = text.rfind("\n\n", low, blank + 1)
        return self._base

    def _parse_span(self, start: int) -> None:
        """Let markdown-it-py parse from the last base before the line at `start` to a base after it."""
        text = self._text
        begin = self._find_last_base(start)
        self._span_min = (
            min(2 * self._span_min + 1_000, _SPAN_MAX) if begin - self._span_end < self._span_min else 0
        )
        length = self._span_min
        end = begin
        while begin <= start and end < len(text):
            plain = _PLAIN_AFTER_BLANK.search(text, max(_find_next_line(text, start) - 1, begin + length))
            end = plain.end() if plain else len(text)
            begin = self._read_span(begin, end) or begin
            length = 2 * length + 1_000
        self._position = self._base = begin
        self._span_end = end

    def _read_span(self, begin: int, end: int) -> int:
        """Add the headings of a span. Return the base up to which its blocks are blocks of the whole text.

        If the span does not end at a base after all, add nothing and return 0.
        """
        text = self._text
        is_last = end == len(text)
        span = text[begin:end]
        env: dict[str, object] = {}
        tokens = parse_blocks(span if is_last else span + _SENTINEL, env)
        starts = [0, *(match.end() for match in re.finditer("\n", span))]
        count = len(starts) if is_last else len(starts) - 1
        if not is_last:
            block = next(token for token in reversed(tokens) if token.level == 0 and token.nesting >= 0)
            line = block.map[0] if block.map else 0
            if line != count and block.type not in _MAY_LACK_END:
                return 0
            count = line
        self.is_too_deep |= TOO_DEEP in env
        for opening, inline in pairwise(tokens):
            is_heading = opening.type == "heading_open" and opening.level == 0
            if is_heading and opening.map and opening.map[0] < count:
                self.found.append((int(opening.tag[1]), begin + starts[opening.map[0]], inline.content))
        return end if is_last else begin + starts[count]


def _trim_heading(rest: str, trimmed: str = _TRIMMED) -> str:
    """Strip the closing ``#`` characters and the `trimmed` characters from the line of an ATX heading."""
    rest = rest.rstrip(" \t")
    unclosed = rest.rstrip("#")
    return (unclosed if unclosed[-1:] in ("", " ", "\t") else rest).strip(trimmed)


def _find_fence_end(text: str, start: int, marker: str) -> int:
    end = re.compile(rf"\n {{0,3}}{marker[0]}{{{len(marker)},}}[ \t]*$", re.MULTILINE).search(text, start)
    return _find_next_line(text, end.end()) if end else len(text)


def _find_html_end(text: str, start: int) -> int | None:
    """Return the offset after an HTML block at `start`, or None if none may interrupt a paragraph there."""
    from markdown_it.rules_block.html_block import HTML_SEQUENCES  # noqa: PLC0415 - often not needed

    line = text[start : _find_next_line(text, start)].removesuffix("\n")
    for opening, closing, may_interrupt in HTML_SEQUENCES:
        if opening.search(line):
            is_open_ended = closing.search("") is not None
            end = (_BLANK_LINE if is_open_ended else closing).search(text, start)
            if not may_interrupt:
                return None
            if end is None:
                return len(text)
            return end.start() + 1 if is_open_ended else _find_next_line(text, end.end())
    return None


def _find_next_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def parse_title(content: str, env: dict[str, Any]) -> str:
    """Return what the reader shows of a title's inline source: words, or else descriptions of pictures.

    Footnote marks are left out. `env` holds the link definitions.
    """
    if len(content) > _PARSED_MAX:
        return content.replace("\n", " ")
    from roamtui.markdown.inline_reader import InlineReader  # noqa: PLC0415
    from roamtui.markdown.inline_source import InlineSource, SourceMap  # noqa: PLC0415

    source = InlineSource(content, 0)
    reader = InlineReader(source=source, env=env)
    words = reader.read(content, SourceMap((0,), (0,)))
    marks = {number for number, link in enumerate(reader.links) if link.is_reference_mark}
    texts = (each.text for each in words if not each.is_image and each.link_number not in marks)
    pictures = (parse_title(each.text, env) for each in words if each.is_image and each.start < each.end)
    return "".join(texts).replace("\n", " ").strip(" \t") or " ".join(filter(None, pictures))


def restore_starts(text: str, normalised: str, rows: Sequence[NodeRow]) -> list[NodeRow]:
    """Return rows of the normalised text with their starts in the original text."""
    lines = dict(zip(compute_line_starts(normalised), compute_line_starts(text), strict=True))
    return [replace(row, start=lines[row.start]) for row in rows]
