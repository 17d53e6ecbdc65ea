"""Write words, paragraphs and nested lists as HTML."""

from html import escape

from msgspec import Struct

from roamtui.convert.list_numbers import PLAIN_NUMBER
from roamtui.markdown.escaping import WITHOUT_NOTE_SIGNS


def escape_words(words: str) -> str:
    """Escape words of a document for HTML. Remove the two signs that enclose the number of a note."""
    return escape(words.translate(WITHOUT_NOTE_SIGNS))


class _OpenList(Struct):
    level: int
    tag: str
    number: int


class BlockWriter:
    """Joins blocks of HTML, and nests the items of lists."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._lists: list[_OpenList] = []

    def append(self, block: str, level: int = 0) -> None:
        """Add a block. It belongs to the open list items of lower levels than `level`."""
        self._close(level)
        self._out.append(block)

    def add_item(self, block: str, number: str, level: int = 0) -> None:
        """Add an item with a plain number or, if it is empty, a bullet. It may continue an open list."""
        plain = PLAIN_NUMBER.fullmatch(number)
        item = _OpenList(level, "ol", int(plain[1])) if plain else _OpenList(level, "ul", 0)
        self._close(level + 1)
        last = self._lists[-1] if self._lists else None
        if last and (last.level, last.tag) == (level, item.tag) and item.number in (0, last.number + 1):
            last.number = item.number
            self._out.append("</li><li>")
        else:
            self._close(level)
            self._lists.append(item)
            self._out.append(f'<{item.tag} start="{item.number}"><li>')
        self._out.append(block)

    def finish(self) -> str:
        """Close all lists, and return the HTML."""
        self._close(0)
        return "".join(self._out)

    def _close(self, level: int) -> None:
        while self._lists and self._lists[-1].level >= level:
            self._out.append(f"</li></{self._lists.pop().tag}>")
