"""Reads what a person sees of a piece of Markdown, as one line."""

import re
from collections.abc import Iterable, Iterator

from roamtui.markdown.blocks import Block, Code, Heading, Inline, List, Paragraph, Quote, Table
from roamtui.markdown.inline import CELL_BORDER
from roamtui.plain import sanitise_line

_CUT_TAG = re.compile(r"</?[A-Za-z][^<>]*\Z")
"""A tag whose end is not part of the piece."""


def read_visible_line(text: str) -> str:
    """Return the words of a piece of Markdown on one line, without pictures. Words in code stay as they are.

    The piece may be cut from a text: a row of a table without its head, or words with half a tag.
    """
    from roamtui.markdown.parser import read_markdown  # noqa: PLC0415 - the first screen does not need it

    piece = _CUT_TAG.sub("", text.strip())
    if piece.startswith("|"):
        piece = CELL_BORDER.sub(" ", piece).strip()
    return sanitise_line(" ".join(_list_words(read_markdown(piece).blocks)))


def _list_words(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                yield _join(block.words)
            case Code():
                yield block.text
            case Table():
                yield from (_join(cell) for row in block.rows for cell in row.cells)
            case List():
                for number, item in enumerate(block.items, block.number or 0):
                    if block.number is not None:
                        yield f"{number}{block.delimiter}"
                    if item.term is not None:
                        yield _join(item.term.words)
                    yield from _list_words(item.blocks)
            case Quote():
                yield _join(block.title)
                yield from _list_words(block.blocks)
            case _:
                pass


def _join(words: Inline) -> str:
    return "".join(word.text for word in words if not word.is_image)
