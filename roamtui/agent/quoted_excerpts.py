"""Render the excerpt of a search hit as the indented lines that a model reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.markdown.fences import update_fence
from roamtui.outline.id_marks import insert_marks, list_id_marks
from roamtui.outline.labels import escape
from roamtui.search.units import UnitKind, find_units

_GAP = "[…]"
_LINE_START, _LINE_END = re.compile(r"(?:\A|\n)[^\w\n]*\Z"), re.compile(r"[^\w\n]*(?:\n|\Z)")
_LINK = re.compile(
    r"!?\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_ID_SIGN = "\ufdd0"
"""Replaces the brackets of an id mark while links are removed. A noncharacter, which no text needs."""
_MARKED_ID = re.compile(r"\[([0-9a-f]{8})\]")
_SIGNED_ID = re.compile(rf"{_ID_SIGN}([0-9a-f]{{8}})")
_INDENT = "    "
_WORD = re.compile(r"\w+")
_REPEAT_LENGTH_MIN = 40
"""Minimum number of characters in the words of a line that is left out as a repeat."""
_BRACKETS = re.compile(r"[\s()\[\]{};,]*")
_CODE_LIKE = re.compile(r"[{}<>=]|\A\s*[\"'$]|[,;\\]\s*\Z")
"""A line that may be unfenced code."""
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\W_]*\Z")


def has_text(library: Library, span: Span) -> bool:
    """Return whether a span contains text other than headings."""
    return any(unit.kind is not UnitKind.HEADING for unit in find_units(library.clean_text(span)))


def quote_spans(
    library: Library, section_id: str, spans: Sequence[Span], shown_words: ShownWords
) -> tuple[list[str], bool]:
    """Return the lines of an excerpt, and whether lines are left out because an earlier excerpt has their words.

    The lines are indented, so that they cannot be mistaken for lines of the list of sections. Omissions are marked, and
    of a link, only the words are shown.
    """
    if not spans:
        return [], False
    own = library.get_own_content_span(section_id)
    text = ""
    position = min(own.start, spans[0].start)
    end = max(own.end, spans[-1].end)
    for span in (*spans, Span(doc=own.doc, start=end, end=end)):
        gap = Span(doc=own.doc, start=position, end=span.start)
        if has_text(library, gap):
            left_out = library.clean_text(gap)
            before = "\n" if _LINE_END.match(left_out) else " "  # an omission inside a line is marked in that line
            is_mid_line = not _LINE_START.search(left_out) and (not text or before == "\n" or "\n" not in left_out)
            after = " " if is_mid_line else "\n"
            text += f"{before if text else ''}{_GAP}{after}"
        elif text:
            text += "\n"
        marks = {at: _MARKED_ID.sub(rf"{_ID_SIGN}\1", mark) for at, mark in list_id_marks(library, span).items()}
        text += _LINK.sub(r"\g<words>", insert_marks(library.clean_text(span).replace(_ID_SIGN, " "), marks))
        position = span.end
    lines = [line for line in text.splitlines() if line.strip()]
    kept, is_shortened = shown_words.add_lines(lines)
    if not any(map(_WORD.search, kept)):
        return [], is_shortened
    quoted = []
    for line in kept:
        indent = line[: len(line) - len(line.lstrip())]  # indentation matters in code
        quoted.append(_INDENT + indent + _SIGNED_ID.sub(r"[\1]", escape(line)))
    return quoted, is_shortened


class ShownWords:
    """The words of all text that was shown so far."""

    def __init__(self) -> None:
        self._words = " "

    def add_lines(self, lines: Sequence[str]) -> tuple[list[str], bool]:
        """Add lines. Return those that say something new, and whether any others repeat lines of earlier calls.

        A table or a piece of code is left out only as a whole. A line that follows a colon is never left out.
        """
        kept: list[str] = []
        words_before, is_shortened = self._words, False
        for block in _list_blocks(lines):
            words = " ".join(_WORD.findall(" ".join(block).lower()))
            is_announced = bool(kept) and kept[-1].rstrip("*_ ").endswith(":")
            if len(block) == 1 and kept and kept[-1] == block[0] and not _BRACKETS.fullmatch(block[0]):
                continue
            may_repeat = is_announced or (len(block) == 1 and _CODE_LIKE.search(block[0]) is not None)
            if len(words) >= _REPEAT_LENGTH_MIN and not may_repeat and f" {words} " in self._words:
                is_shortened = is_shortened or f" {words} " in words_before
                continue
            kept += block
            self._words += f"{words} "
        return kept, is_shortened


def _list_blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Group lines: a table, a fenced piece of code, or any other line with the lines that continue its sentence."""
    block: list[str] = []
    fence = ""
    for line in lines:
        is_row = bool(block) and line.startswith("|") and block[-1].startswith("|")
        is_rest = bool(block) and line[:1].islower() and not _SENTENCE_END.search(block[-1])
        if block and not (fence or is_row or is_rest):
            yield block
            block = []
        block.append(line)
        fence = update_fence(fence, line)
    if block:
        yield block
