"""What a person sees of a Markdown text, read slowly and with no code of roamtui: the truth for measures of quotes.

markdown-it-py renders the text, and Python's own HTML parser reads the words, as a browser would show them.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from itertools import groupby
from operator import attrgetter

from markdown_it import MarkdownIt
from typing_extensions import override

UNSHOWN = "\ufffc"
"""Stands for a picture, or for a tag that is no HTML: readers differ in what they show there."""
GAP = re.compile(r"\s*(?:\[(?:…|\.{3})\]|…|\.{3,})\s*")
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Scripts without spaces between words, as a range for a pattern."""

_KINDS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    **dict.fromkeys(("td", "th"), "cell"),
    **dict.fromkeys(("li", "dt", "dd"), "item"),
    "pre": "code",
}
_BLOCK_NAMES = """
address article aside blockquote body caption center details div dl fieldset figcaption figure footer form
header html main nav ol p section summary table tbody tfoot thead tr ul
"""
_INLINE_NAMES = """
a abbr b bdi bdo big cite code del dfn em font i ins kbd label mark q rb rp rt ruby s samp small span strike
strong sub sup tt u var wbr
"""
_BLOCKS, _INLINE = frozenset(_BLOCK_NAMES.split()), frozenset(_INLINE_NAMES.split())
_HIDDEN = frozenset({"script", "style", "template", "svg", "noscript", "iframe", "head"})
_CONTAINER_LINE = re.compile(r"^[ \t]*(?::{3,}|/{3}|!{3}|\?{3}|\[![A-Za-z]+\]).*$", re.MULTILINE)
"""The first and the last line of a box such as `::: tip`, whose marks readers hide."""
_NOTE = re.compile(r"\[\^[^\]\s]+\]:?(?=(\w)?)")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\s*\n\s*(?=[^\W\d_])")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_TOKEN = re.compile(
    r"(?:(?<![\w)\]])[-+±−](?=[.\d]))?\.?(?:(?<=\.)\d|[^\W_])[^\W_]*"
    r"(?:(?:(?<=\d)[.,'’:/\u00a0\u2009\u202f](?=\d)|(?<=[^\W\d_])['’](?=[^\W\d_]))[^\W_]+)*|[^\w\s]|_"
)
"""A word, a number with its sign and separators, or one sign."""
_GLUED = re.compile(r"(?<= )(?!(?:not|non|never|un|in|il|im)[A-Z])(?:[^\W\d_]*[a-zß-ÿ]|\d+)(?=[A-Z][a-z])")
_SIGNS, _NO_SIGNS = frozenset("%§‰_"), frozenset("`´^|")
"""Punctuation that means something, and symbols that do not."""
_RAISED_DIGITS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
_SAME_SIGNS = str.maketrans({**dict.fromkeys("’‘ʼ", "'"), "−": "-", "µ": "μ"})
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A paragraph, an item, a cell, a heading or a line of code."""

    kind: str
    text: str
    section: int
    row: int
    """Number of the table row of a cell."""


@dataclass(frozen=True)
class Part:
    """Sections of a document: their Markdown, and what a person sees of it."""

    source: str
    first_line: int
    units: Sequence[Unit]

    def list_rows(self) -> Iterator[tuple[int, list[Unit]]]:
        """Yield each table row with the index of its first cell."""
        start = 0
        for (kind, _), group in groupby(self.units, key=attrgetter("kind", "row")):
            cells = [*group]
            if kind == "cell":
                yield start, cells
            start += len(cells)

    @cached_property
    def _texts(self) -> tuple[str, str]:
        """All words, and once more with a space between words that a scraped page lacks it between."""
        words = join_tokens(" \n ".join(unit.text for unit in self.units))
        return words, _GLUED.sub(lambda left: f"{left[0]} " if f" {left[0]} " in words else left[0], words)

    @cached_property
    def _lines(self) -> list[str]:
        rows = [" ".join(cell.text for cell in cells) for _, cells in self.list_rows()]
        return [join_tokens(text) for text in (*rows, *(unit.text for unit in self.units))]

    def contains(self, quote: str, *, in_any_case: bool = False) -> bool:
        """Tell whether the words of a quote stand here in one run, or around its ellipsis in one unit."""
        fold = str.casefold if in_any_case else str
        pieces = [fold(join_tokens(piece)) for piece in GAP.split(quote) if piece.strip()]
        first = pieces[0]
        variants = [pieces, [first[:1] + first[1:2].swapcase() + first[2:], *pieces[1:]]]
        if len(pieces) == 1:
            return any(variant[0] in fold(text) for variant in variants for text in self._texts)
        return any(_holds(fold(line), variant) for variant in variants for line in self._lines)


def _holds(line: str, pieces: Sequence[str]) -> bool:
    position = 0
    for piece in pieces:
        position = line.find(piece, position)
        if position < 0:
            return False
        position += len(piece) - 1  # the space after a piece may be the one before the next
    return True


def join_tokens(text: str) -> str:
    """Return the words, numbers and signs that mean something, with a space before and after each."""
    spaced = re.sub(f"([{UNSPACED}])", r" \1 ", _UNSEEN.sub("", unicodedata.normalize("NFC", text)))
    tokens = [
        word if word[-1] in _RAISED_DIGITS else unicodedata.normalize("NFKC", word)
        for word in _TOKEN.findall(spaced)
        if word[-1].isalnum() or word in _SIGNS or (unicodedata.category(word)[0] == "S" and word not in _NO_SIGNS)
    ]
    return f" {' '.join(tokens).translate(_SAME_SIGNS)} "


@dataclass(eq=False)
class _UnitReader(HTMLParser):
    """Collects the units of a page."""

    units: list[Unit] = field(default_factory=list)
    _text: str = ""
    _open: list[tuple[str, str]] = field(default_factory=list)
    """Name and kind of each open block."""
    _inline: list[str] = field(default_factory=list)
    _hidden: int = 0
    _section: int = 0
    _row: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @override
    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _KINDS or tag in _BLOCKS:
            self.end_unit()
            self._section += _KINDS.get(tag) == "heading"
            self._row += tag == "tr"
            self._open.append((tag, _KINDS.get(tag, self._kind)))
        elif tag in ("br", "hr"):
            self._text += "\n"
        elif tag in _INLINE:
            self._inline.append(tag)
        else:
            self._text += UNSHOWN

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _KINDS or tag in _BLOCKS:
            self.end_unit()
            names = [name for name, _ in self._open]
            if tag in names:
                del self._open[len(names) - 1 - names[::-1].index(tag) :]
        elif tag in self._inline:
            del self._inline[len(self._inline) - 1 - self._inline[::-1].index(tag) :]
        elif tag not in _INLINE and tag != "br":
            self._text += UNSHOWN

    @override
    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if "sup" in self._inline and not data.strip("0123456789+-− "):
            data = data.strip().translate(_RAISED)
        if "code" not in self._inline and self._kind != "code":
            data = _CONTAINER_LINE.sub("\0", _NOTE.sub(lambda note: " " if note[1] else "", data))
        self._text += data

    @property
    def _kind(self) -> str:
        return self._open[-1][1] if self._open else "prose"

    def end_unit(self) -> None:
        text, self._text = self._text, ""
        self._inline.clear()
        is_code = self._kind == "code"
        pieces = text.split("\n") if is_code else _BROKEN_WORD.sub("-", text).split("\0")
        for piece in pieces:
            words = piece.strip() if is_code else " ".join(piece.split())
            if words:
                self.units.append(Unit(self._kind, words, self._section, self._row))


def read_parts(text: str, length_min: int) -> Iterator[Part]:
    """Divide a document at headings into parts of a length, and read what a person sees of each."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    environment: dict[str, object] = {}
    tokens = parser.parse("\n".join(lines), environment)
    heads = [
        (index, token.map[0])
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    first, first_line = 0, 0
    for index, line in (*heads, (len(tokens), len(lines))):
        source = "\n".join(lines[first_line:line])
        if len(source) < length_min and index < len(tokens):
            continue
        reader = _UnitReader()
        reader.feed(parser.renderer.render(tokens[first:index], parser.options, environment))
        reader.close()
        reader.end_unit()
        yield Part(source, first_line + 1, reader.units)
        first, first_line = index, line
