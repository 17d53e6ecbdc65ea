"""The parser of markdown-it-py, with inline rules for formulas and wikilinks.

None of the rules changes where a block begins or ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import text as read_text
from msgspec import Struct, field

from roamtui.document.headings import make_parser
from roamtui.document.text import compute_line_starts
from roamtui.markdown.formulas import FORMULA, get_formula

_WIKILINK = re.compile(r"!?\[\[(?![\s\[])([^\[\]\n]{1,200})(?<!\s)\]\](?![(\[])")


@lru_cache(maxsize=2)
def get_parser(*, has_spans: bool = False) -> MarkdownIt:
    """Return the parser, which is made once. With `has_spans`, it looks for an `InlineSpans` in its environment."""
    parser = make_parser("table", "strikethrough")
    parser.block.ruler.at("reference", _read_reference)
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    if has_spans:
        parser.core.ruler.at("inline", _read_inline)
        parser.inline.ruler.at("text", _read_text)
        parser.inline.ruler.before("text", "group", _read_group)
        parser.inline.ruler.after("link", "mark", _read_mark)
    return parser


class InlineSpans(Struct):
    """Parts of a text that the parser keeps apart: groups of words, and marks. A mark becomes one token."""

    text: str
    groups: Sequence[tuple[int, int]]
    """Start and end of each group, in order, without overlaps."""
    marks: Sequence[tuple[int, int, str]]
    """Start, end and label of each mark, in order. Marks at the same place become labels side by side."""
    group: int | None = None
    """The group of the last token."""
    _lines: list[tuple[int, int]] = field(default_factory=list)
    """Where each line of the current inline text starts, in that and in the whole text."""

    def place(self, content: str, start: int) -> None:
        """Go to an inline text. Its lines are lines of the whole text from `start` on, without indent and marks."""
        if self._lines and self._lines[-1][1] >= start:  # another cell of the same row
            start = self._lines[-1][1] + 1
        self._lines, position = [], 0
        for line in content.split("\n"):
            start = max(start, self.text.find(line, start))
            self._lines.append((position, start))
            position, start = position + len(line) + 1, start + len(line)

    def locate(self, position: int) -> int:
        """Return the offset in the whole text of a position in the current inline text."""
        own, start = self._lines[bisect_right(self._lines, (position, len(self.text))) - 1]
        return start + position - own


def _read_inline(state: StateCore) -> None:
    """Parse all inline texts, like the rule of markdown-it-py, and tell the spans where each of them is."""
    spans: InlineSpans = state.env["spans"]
    starts = compute_line_starts(spans.text)
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            spans.place(token.content, starts[(token.map or [0])[0]])
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _read_group(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Add a token where another group, or none, starts."""
    spans: InlineSpans = state.env["spans"]
    offset = spans.locate(state.pos) + (state.src[state.pos] == "\\")
    index = bisect_right(spans.groups, offset, key=itemgetter(0)) - 1
    group = index if index >= 0 and offset < spans.groups[index][1] else None
    if group != spans.group and not silent:
        state.push("group", "", 0).meta["group"] = spans.group = group
    return False


def _read_text(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse text without markup, like the rule of markdown-it-py, but only up to the next edge of a group."""
    spans: InlineSpans = state.env["spans"]
    start, offset = state.pos, spans.locate(state.pos)
    read_text(state, True)  # noqa: FBT003 - moves the position, but adds no text
    index = bisect_right(spans.groups, offset, key=itemgetter(1))
    edges = [edge for group in spans.groups[index : index + 1] for edge in group if edge > offset]
    state.pos = min([state.pos, *(start + edge - offset for edge in edges)])
    if not silent:
        state.pending += state.src[start : state.pos]
    return state.pos > start


def _read_mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse marks that are not links."""
    spans: InlineSpans = state.env["spans"]
    if state.src[state.pos] != "[":
        return False
    offset = spans.locate(state.pos)
    first = bisect_left(spans.marks, offset, key=itemgetter(0))
    marks = spans.marks[first : bisect_right(spans.marks, offset, key=itemgetter(0))]
    end = state.pos + marks[0][1] - offset if marks else 0
    if state.src[end - 1 : end] != "]":  # no mark, or one that continues on an indented line
        return False
    for index, (_, _, label) in enumerate(marks if not silent else (), start=first):
        token = state.push("mark", "", 0)
        token.content, token.info = label, str(index)
    state.pos = end
    return True


@lru_cache(maxsize=1)
def get_html_splitter() -> MarkdownIt:
    """Return a parser that only splits HTML into tags and text. It is made once."""
    return MarkdownIt("zero", {"html": True}).enable(["html_inline", "entity"])


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link definition, but keep the definition of a footnote as text."""
    if state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line]):
        return False
    return reference(state, start_line, end_line, silent)


def _read_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a formula, which markdown-it-py would take for escapes and emphasis."""
    if state.src[state.pos] not in "$\\" or (match := FORMULA.match(state.src, state.pos)) is None:
        return False
    formula = get_formula(match)
    if formula and not silent:
        state.push("formula", "", 0).content = formula
    state.pos = match.end() if formula else state.pos
    return bool(formula)


def _read_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link to a name, such as `[[Name#Part|words]]`, unless a link definition has the text as its label."""
    match = _WIKILINK.match(state.src, state.pos) if state.src[state.pos] in "![" else None
    if match is None or normalizeReference(match[1]) in state.env.get("references", {}):
        return False
    if not silent:
        target, _, words = match[1].partition("|")
        state.push("link_open", "a", 1).attrSet("href", f"[[{target.strip()}]]")
        state.push("text", "", 0).content = words.strip() or target.strip().lstrip("#!?").replace("#", " › ")
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True
