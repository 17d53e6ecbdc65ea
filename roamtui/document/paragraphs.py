"""Sections for a document without headings: groups of paragraphs, titled by their first words.

A group is about 800 characters; its first piece of about 200 is its own text, the further ones are its children. Pieces
end at line ends, so that line ranges stay exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from roamtui.document.columns import Row
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line, shorten

GROUP_LENGTH = 800
PIECE_LENGTH = 200
_TITLE_LENGTH = 60
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_INK = re.compile(r"\S")
_MARKS = re.compile(r"^[\s>*+\-|=_~`]+")


def group_paragraphs(text: str, start: int) -> list[Row]:
    """Return rows that cover `text[start:]` without a gap: groups at level 1, their further pieces at level 2."""
    rows: list[Row] = []
    group_start = start
    for piece_start, piece_end in _split_pieces(text, start):
        begins_group = not rows or piece_start - group_start >= GROUP_LENGTH - PIECE_LENGTH // 2
        if begins_group:
            group_start = piece_start
        title = _name_piece(text[piece_start : min(piece_end, piece_start + 4 * _TITLE_LENGTH)])
        rows.append(Row(NodeKind.TEXT, 1 if begins_group else 2, title, piece_start))
    return rows


def _split_pieces(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines: at a blank line once long enough, at any line end where far too long."""
    piece_start = position = start
    while position < len(text):
        match = _LINE.match(text, position)
        line_end = match.end() if match else len(text)
        is_blank = _INK.search(text, position, line_end) is None
        position = line_end
        length = position - piece_start
        if position < len(text) and (
            (is_blank and length >= PIECE_LENGTH and _INK.search(text, piece_start, position))
            or length >= 2 * PIECE_LENGTH
        ):
            yield piece_start, position
            piece_start = position
    if piece_start < len(text):
        yield piece_start, len(text)


def _name_piece(piece: str) -> str:
    return shorten(_MARKS.sub("", plain_line(piece)), _TITLE_LENGTH)
