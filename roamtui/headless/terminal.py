"""Answers for a terminal: Markdown wrapped at words, with the verdicts of quotes as on the screen.

Only `_render_lines` makes control sequences, around sanitised text, so none from a document or a model gets through.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import assert_never
from unicodedata import category, east_asian_width

from roamtui.agent.answer import format_verification
from roamtui.agent.passages import ShownPassage
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Details,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.document.markdown.fences import FENCE
from roamtui.document.markdown.line_parts import (
    BULLETS,
    CHECKBOXES,
    LINE_SPACE,
    RULE_WIDTH,
    UNBROKEN_TEXT,
    WIDE_CHARACTERS,
    compute_width_limit,
)
from roamtui.document.markdown.parser import read_markdown
from roamtui.document.plain import sanitise_text, shorten
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.source_list import describe_place, format_place, format_source, list_passage_titles, strip_links
from roamtui.quotes.verdicts import AnswerProof, make_proof
from roamtui.search.passages import QuestionWords, find_question_words

WIDTH_MAX = 100
"""Maximum width of a line in columns. Longer lines are hard to read."""
_WIDTH_MIN = 20
_QUOTE_LENGTH_MAX = 140
_EMPHASIS_CODES = {Emphasis.STRONG: 1, Emphasis.ITALIC: 3, Emphasis.STRUCK: 9, Emphasis.CODE: 36}
"""Terminal codes for styles: parameters of "select graphic rendition" (ECMA-48)."""
_BOLD, _DIM, _UNDERLINED, _STRUCK = 1, 2, 4, 9
_RED, _GREEN, _YELLOW, _CYAN = 31, 32, 33, 36
_COLOURS = {
    QuoteState.FOUND: _GREEN,
    QuoteState.ELSEWHERE: _YELLOW,
    QuoteState.NOT_FOUND: _RED,
    QuoteState.NO_QUOTE: _CYAN,
}
_WIDE_CHARACTER = re.compile(f"[{WIDE_CHARACTERS}]")
_WORD_OR_SPACE = re.compile(rf"{LINE_SPACE}+|{UNBROKEN_TEXT}")
"""Spaces, a word, or a character of a script without spaces (with marks that may not begin a line)."""


def compute_text_width() -> int | None:
    """Return the width to write in, or None if stdout is not a terminal."""
    if not sys.stdout.isatty():
        return None
    return max(_WIDTH_MIN, min(WIDTH_MAX, shutil.get_terminal_size().columns))


def supports_styles() -> bool:
    """Return whether the terminal can show styles and the person wants them (no-color.org)."""
    can_show = sys.platform != "win32" or "WT_SESSION" in os.environ  # an old console shows sequences as text
    return can_show and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class _Segment:
    """Text in one style, without a line end."""

    text: str
    codes: tuple[int, ...] = ()
    is_whole: bool = False
    """Whether it is wrapped as one word, even if it contains spaces."""


_LINE_END = _Segment("\n")
"""A forced line end."""
_Line = Sequence[_Segment]


def render_answer(answer: str, proof: AnswerProof, *, width: int, is_styled: bool) -> str:
    """Lay out an answer as lines of at most `width` columns, except for code."""
    markdown = read_answer_markdown(answer, proof)
    layout = _Layout(proof, markdown.links)
    return _render_lines(layout.lay_out(markdown.blocks, width), is_styled=is_styled)


def render_source_list(
    citations: tuple[Citation, ...], answer: str, library: Library, *, width: int, is_styled: bool
) -> str:
    """Lay out the citations in the order of their numbers, in lines of at most `width` columns.

    Quotes that `answer` already contains are not repeated.
    """
    heading = [_Segment("Sources", (_BOLD,))]
    if verification := format_verification(citations):
        are_all_verified = all(citation.is_verified for citation in citations if citation.quote is not None)
        heading.append(_Segment(f"  {verification}", (_GREEN if are_all_verified else _YELLOW,)))
    lines: list[_Line] = [heading]
    answer_text = strip_links(answer)
    indent = len(str(len(citations))) + 2
    for number, citation in enumerate(citations, start=1):
        colour = _COLOURS[citation.state]
        segments = [_Segment(f"{citation.state.sign} ", (colour,))] if citation.state.sign else []
        segments.append(_Segment(format_source(citation, library), (_BOLD,)))
        if place := format_place(citation, library):
            segments += [_Segment(" · "), _Segment(place, () if citation.is_verified else (colour,))]
        quote = strip_links(citation.quote or "")
        if quote not in answer_text:
            segments.append(_Segment(f" “{shorten(quote, _QUOTE_LENGTH_MAX)}”", (_EMPHASIS_CODES[Emphasis.ITALIC],)))
        lead = _Segment(f"{number:>{indent - 1}} ", (_BOLD,))
        lines += _indent(_wrap(segments, width - indent), lead, _Segment(" " * indent))
    return _render_lines(lines, is_styled=is_styled)


def render_passages(
    passages: Sequence[ShownPassage], question: str, library: Library, *, width: int, is_styled: bool
) -> str:
    """Lay out passages with their paths and places. The words of the question are bold."""
    words = find_question_words(question, [passage.text for passage in passages])
    lines: list[_Line] = []
    for number, passage in enumerate(passages, start=1):
        citation = passage.citation
        path = " › ".join(list_passage_titles(citation, library))
        head = [_Segment(path, (_BOLD,)), _Segment(f" · {describe_place(citation, path)}", (_DIM,))]
        lead = _Segment(f"{number} ", (_BOLD,))
        markdown = read_markdown(passage.text)
        layout = _Layout(make_proof("", ()), markdown.links)
        text = layout.lay_out(markdown.blocks, width - len(lead.text))
        if lines:
            lines.append([])
        lines += _indent(_wrap(head, width - len(lead.text)), lead, _Segment("  "))
        lines += _indent((_mark_words(line, words) for line in text), _Segment("  "), _Segment("  "))
    return _render_lines(lines, is_styled=is_styled)


def _mark_words(line: _Line, words: QuestionWords) -> _Line:
    """Return a line with the words of a question in bold."""
    inside = {index for span in words.locate("".join(segment.text for segment in line)) for index in range(*span)}
    marked: list[_Segment] = []
    position = 0
    for segment in line:
        for is_inside, group in groupby(enumerate(segment.text, position), key=lambda pair: pair[0] in inside):
            codes = tuple(dict.fromkeys((*segment.codes, *([_BOLD] if is_inside else []))))
            marked.append(_Segment("".join(character for _, character in group), codes))
        position += len(segment.text)
    return marked


class LineWrapper:
    """Wraps text at words while it arrives. Table rows and code stay as they are."""

    def __init__(self, width: int | None) -> None:
        """Wrap at `width` columns. None means no wrapping."""
        self._width = width
        self._column = 0
        self._gap = ""
        """The space before the next word. If the line ends there, a line end replaces it."""
        self._is_verbatim = False
        self._is_in_fence = False

    def feed(self, text: str) -> str:
        """Return the next text, with line ends in place of some of its spaces. The text must not end inside a word."""
        if self._width is None:
            return text
        first, *others = text.split("\n")
        parts = [self._wrap(first, self._width)]
        for line in others:
            self._column, self._gap = 0, ""
            parts.append(f"\n{self._wrap(line, self._width)}")
        return "".join(parts)

    def _wrap(self, words: str, width: int) -> str:
        if not words:
            return ""
        if self._column == 0:
            is_fence = FENCE.match(words) is not None
            self._is_verbatim = is_fence or self._is_in_fence or words.startswith(("|", "    "))
            self._is_in_fence ^= is_fence
        if self._is_verbatim:
            self._column += 1
            return words
        parts: list[str] = []
        for match in _WORD_OR_SPACE.finditer(words):
            if match[0].isspace():
                self._gap = match[0]
                continue
            cells = _measure(match[0])
            if self._column and self._column + len(self._gap) + cells > width:
                self._gap, self._column = "\n", -1
            parts += (self._gap, match[0])
            self._column += len(self._gap) + cells
            self._gap = ""
        return "".join(parts)


@dataclass(slots=True)
class _Layout:
    """Lays out the blocks of an answer as lines."""

    proof: AnswerProof
    links: Sequence[Link]
    _depth: int = 0
    """Number of bulleted lists around the next block."""

    def lay_out(self, blocks: Sequence[Block], width: int, *, is_tight: bool = False) -> list[_Line]:
        """Lay out blocks as lines. `is_tight` leaves out the blank lines between them."""
        lines: list[_Line] = []
        width = max(_WIDTH_MIN // 2, width)
        for block in blocks:
            added: list[_Line]
            match block:
                case Paragraph(words=words):
                    added = _wrap(self._to_segments(words), width)
                case Heading(words=words):
                    added = _wrap(self._to_segments(words, _BOLD), width)
                case Code(text=text):  # not wrapped, so that it can be copied
                    added = [[_Segment("    "), _Segment(line.expandtabs(4), (_CYAN,))] for line in text.split("\n")]
                case Table():
                    added = self._lay_out_table(block, width)
                case List():
                    added = self._lay_out_list(block, width)
                case Quote(alert=alert, title=title):
                    label = _Segment(f"{alert.capitalize()} ", (_BOLD,))
                    head = [label, *self._to_segments(title, _BOLD)] if alert else []
                    bar = _Segment("│ ", (_DIM,))
                    quoted = [*(_wrap(head, width - 2) if head else []), *self.lay_out(block.blocks, width - 2)]
                    added = _indent(quoted, bar, bar)
                case Details(summary=summary):
                    added = [*_wrap(self._to_segments(summary, _BOLD), width), *self.lay_out(block.blocks, width)]
                case ThematicBreak():
                    added = [[_Segment("─" * min(width, RULE_WIDTH), (_DIM,))]]
                case _:
                    assert_never(block)
            if lines and added and not is_tight:
                lines.append([])
            lines += added
        return lines

    def _lay_out_list(self, block: List, width: int) -> list[_Line]:
        lines: list[_Line] = []
        is_bulleted = block.number is None
        self._depth += is_bulleted
        for number, item in enumerate(block.items, start=block.number or 0):
            bullet = f"{BULLETS[(self._depth - 1) % len(BULLETS)]} "
            if item.is_done is not None:
                bullet = CHECKBOXES[item.is_done]
            elif block.number is not None:
                bullet = f"{number}{block.delimiter} "
            item_lines = self.lay_out(item.blocks, width - len(bullet), is_tight=block.is_tight) or [[]]
            if lines and not block.is_tight:
                lines.append([])
            lines += _indent(item_lines, _Segment(bullet), _Segment(" " * len(bullet)))
        self._depth -= is_bulleted
        return lines

    def _lay_out_table(self, table: Table, width: int) -> list[_Line]:
        rows = [[self._to_segments(cell, *[_BOLD] * row.is_head) for cell in row.cells] for row in table.rows]
        widths = _compute_column_widths(rows, width)
        lines: list[_Line] = []
        for row, cells in zip(table.rows, rows, strict=True):
            wrapped = [_wrap(cell, column_width) for cell, column_width in zip(cells, widths, strict=False)]
            for index in range(max(map(len, wrapped), default=0)):
                line: list[_Segment] = []
                for column, column_width in enumerate(widths):
                    part = wrapped[column][index] if column < len(wrapped) and index < len(wrapped[column]) else ()
                    gap = column_width - sum(_measure(segment.text) for segment in part)
                    side = table.alignments[column] if column < len(table.alignments) else ""
                    left_gap = {"right": gap, "center": gap // 2}.get(side, 0)
                    line += [_Segment(" │ ", (_DIM,))] if column else []
                    line += [_Segment(" " * left_gap), *part, _Segment(" " * (gap - left_gap))]
                lines.append(line)
            if row.is_head:
                lines.append([_Segment("─┼─".join("─" * column_width for column_width in widths), (_DIM,))])
        return lines

    def _to_segments(self, inline: Inline, *codes: int) -> list[_Segment]:
        segments: list[_Segment] = []
        for index, linked in groupby(inline, key=lambda words: words.link):
            link_words = [*linked]
            segments += [self._to_segment(words, codes) for words in link_words]
            link = None if index is None else self.links[index]
            if link is None or link.is_reference_mark or any(words.group is not None for words in link_words):
                continue
            if link.href.startswith(("http://", "https://")):
                text = "".join(words.text for words in link_words)
                segments += [_Segment(f" ({link.href})", (*codes, _DIM))] if text != link.href else []
        return segments

    def _to_segment(self, words: Words, codes: tuple[int, ...]) -> _Segment:
        if words is LINE_BREAK:
            return _LINE_END
        link = None if words.link is None else self.links[words.link]
        if link is not None and link.is_reference_mark and self.proof.marks:  # otherwise it is a footnote's mark
            mark = self.proof.marks[int(link.href)]
            text = words.text if mark.numbers else f"[{mark.section_id}]"
            return _Segment(text, (_BOLD, _COLOURS[mark.verdict]), is_whole=True)
        codes += tuple(code for emphasis, code in _EMPHASIS_CODES.items() if emphasis in words.emphasis)
        if words.group is not None:
            state = self.proof.quotes[words.group].state
            codes += (_STRUCK if state is QuoteState.NOT_FOUND else _UNDERLINED, _COLOURS[state])
        text = f"[image: {words.text}]" if words.is_image else words.text
        return _Segment(text, tuple(dict.fromkeys(codes)))


def _compute_column_widths(rows: Sequence[Sequence[Sequence[_Segment]]], width: int) -> list[int]:
    """Return the width of each column. The widest are narrowed if the table does not fit."""
    natural = [1] * max(map(len, rows), default=0)
    for row in rows:
        for column, cell in enumerate(row):
            lines = _wrap(cell, sys.maxsize)
            natural[column] = max(
                [natural[column], *(sum(_measure(segment.text) for segment in line) for line in lines)]
            )
    room = max(len(natural), width - 3 * (len(natural) - 1))
    limit = compute_width_limit(natural, room)
    narrowed = [column for column, cells in enumerate(natural) if cells > limit]
    widths = [min(cells, limit) for cells in natural]
    for column in narrowed[::-1][: room - sum(widths)]:  # the last of them get the cells that are left
        widths[column] += 1
    return widths


def _indent(lines: Iterable[_Line], first: _Segment, rest: _Segment) -> list[_Line]:
    return [[rest if index else first, *line] for index, line in enumerate(lines)]


def _wrap(segments: Iterable[_Segment], width: int) -> list[_Line]:
    """Wrap segments into at least one line of at most `width` columns."""
    lines: list[list[_Segment]] = [[]]
    filled = 0
    gap: list[_Segment] = []
    for word in _iter_words(segments):
        cells = sum(_measure(segment.text) for segment in word)
        if word[0] is _LINE_END:
            lines.append([])
            filled, gap = 0, []
        elif word[0].text.isspace():
            gap = [_Segment(" ", word[0].codes)] if filled else []
        else:
            if filled and filled + len(gap) + cells > width:
                lines.append([])
                filled, gap = 0, []
            lines[-1] += gap
            filled += len(gap)
            gap = []
            is_split = cells > width and not any("://" in segment.text for segment in word)  # a URL stays whole
            for segment in word:
                for part in segment.text if is_split else [segment.text]:
                    part_cells = _measure(part)
                    if filled and filled + part_cells > width:
                        lines.append([])
                        filled = 0
                    lines[-1].append(_Segment(part, segment.codes))
                    filled += part_cells
    return [*lines]


def _iter_words(segments: Iterable[_Segment]) -> Iterator[list[_Segment]]:
    """Yield line ends, spaces and words. A word may consist of segments with different styles."""
    word: list[_Segment] = []
    for segment in segments:
        if segment is _LINE_END:
            parts = [segment]
        else:
            text = sanitise_text(segment.text).replace("\n", " ").replace("\t", " ")
            texts = [text] if segment.is_whole else _WORD_OR_SPACE.findall(text)
            parts = [_Segment(part, segment.codes) for part in texts if part]
        for part in parts:
            is_separate = part is _LINE_END or part.text.isspace() or _WIDE_CHARACTER.match(part.text) is not None
            if is_separate and word:
                yield word
                word = []
            if is_separate:
                yield [part]
            else:
                word.append(part)
    if word:
        yield word


def _measure(text: str) -> int:
    """Return the width of text in columns."""
    if text.isascii():
        return len(text)
    visible = (character for character in text if category(character) not in ("Mn", "Me", "Cf"))
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in visible)


def _render_lines(lines: Iterable[_Line], *, is_styled: bool) -> str:
    rendered = []
    for line in lines:
        parts: list[str] = []
        for codes, segments in groupby(line, key=lambda segment: segment.codes):
            text = sanitise_text("".join(segment.text for segment in segments)).replace("\n", " ")
            if codes and is_styled and text:
                text = f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"
            parts.append(text)
        rendered.append("".join(parts).rstrip(" ") + "\n")
    return "".join(rendered)
