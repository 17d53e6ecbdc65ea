"""Read a text into the words that a person sees, each with its place in the source.

A quote and the text that it may come from are read in the same way, so that comparing them is comparing
words. There are three kinds of words. A *number* is whole: sign, separators, decimals, fraction, exponent,
unit sign, and brackets around it. A *sign* is a symbol that means something: currency, mathematics, a tick.
Everything else is a *word* of letters and digits; in scripts without spaces between words, each character is
one. Markup, link targets, comments, attributes and punctuation are no words.

Some words are *optional*, because a quote may leave them out: note marks, list numbers, currency and
trademark signs. Two words are the same if their keys are: their spelling after Unicode's compatibility
normalisation (NFKC), without invisible characters and the vowel signs of Arabic and Hebrew.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
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
from roamtui.text import Bounds

CELL = 1
"""Flag of a word: a new cell of a row starts before it."""
BLOCK = 2
"""A new block, row, item or line of code starts before it."""
OPTIONAL = 4
"""A quote may leave it out."""
INSIDE = 8
"""It continues the word before it, so that a quote must not begin or end between the two."""
CODE = 16
"""It is in code, where markup is words too."""

_CACHED_WORDS_MAX = 3_000_000
"""Maximum number of words of all texts that are kept, at 17 bytes a word."""

# Separators in the visible text of a block. A text that contains them has a space there.
_BLOCK_EDGE = "\x1c"
_CELL_EDGE = "\x1d"
_LINE_END = "\n"
_ITEM_MARK = "\x1e"
_IN_PROSE = dict.fromkeys(map(ord, (_BLOCK_EDGE, _CELL_EDGE, _ITEM_MARK)), " ") | {ord("|"): _CELL_EDGE}
_CODE_SIGNS = "*|\\!&`"
_CODE_SIGN_FORMS = "\ue000\ue001\ue002\ue003\ue004\ue005"
"""What stands in the visible text for the signs that mean something only in code."""
_IN_CODE = _IN_PROSE | dict(zip(map(ord, _CODE_SIGNS), _CODE_SIGN_FORMS, strict=True))
_FROM_CODE = dict(zip(_CODE_SIGN_FORMS, _CODE_SIGNS, strict=True))

_INVISIBLE = (
    r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
)
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    r"\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957"
    r"\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc"
    r"\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56"
    r"\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf"
    r"\u0df2\u0df3\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e"
    r"\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099\u309a\uff9e\uff9f"
    r"\ufe20-\ufe2f"
)
"""Marks that belong to the letter before them."""
_VOWEL_SIGNS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed]"
)
_UNSPACED = (
    r"\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0ebd-\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f"
    r"\u1050-\u1055\u1780-\u17b3\u17dc\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f"
    r"\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    r"\U00020000-\U0003ffff"
)
"""Letters of scripts that put no spaces between words."""
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FRACTIONS = "¼-¾⅐-⅞"
_CURRENCY = "$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦"
_GROUP_SPACE = "\u00a0\u2005-\u200a\u202f"
"""Spaces that group digits, besides a plain one."""
_DASHES = r"\-‐‑–−﹣－"
_APOSTROPHES = "'’ʼ＇"
_NEXT = rf"(?:(?![{_UNSPACED}{_RAISED}{_FRACTIONS}])[\w{_MARKS}{_INVISIBLE}])"
"""A character inside a word."""
_CURRENCY_SIGN = rf"(?:(?<![^\W\d_])[A-Z]{{1,3}})?[{_CURRENCY}]"
_POWER = (
    rf"(?:\^\([^()\s]{{1,20}}\)|\^\{{[^{{}}\s]{{1,20}}\}}|\^[+{_DASHES}]?[^\W_]++|[⁺⁻]?[⁽]?[{_RAISED}]++[⁾]?)"
)
_DIGITS = (
    r"(?:(?<![\w.,٫])[.,٫](?=\d))?(?:"
    r"\d{4}[-‐‑]\d\d[-‐‑]\d\d(?!\d)"  # a date
    rf"|\d{{0,3}}[ {_GROUP_SPACE}]?[{_FRACTIONS}]|\d{{1,3}} \d{{1,2}}[/⁄]\d{{1,3}}(?!\d)"  # 1½, 1 1/2
    # 1 000 000, but not 0 330,000,000: numbers of two cells in a table without lines
    rf"|(?<![\d.,])(?!0)\d{{1,3}}(?:[ {_GROUP_SPACE}]\d{{3}}(?!\d|,\d{{3}},\d))+(?:[.,٫]\d+)?"
    rf"|\d++(?>(?:[.,:/⁄{_APOSTROPHES}٫٬，．：]\d+)*))"
    rf"(?:[eE][+{_DASHES}]\d++|(?![_])(?>{_NEXT}+))?"  # 1e-5, 5th, 20mm
    rf"(?:\s?[×x·∙]\s?10(?={_POWER}))?"
)
_NUMBER = (
    rf"(?P<sign>(?<![\w%‰°)\]{_CURRENCY}])[+±{_DASHES}])?"
    rf"(?:(?P<currency>{_CURRENCY_SIGN})[ {_GROUP_SPACE}]?(?P<inner_sign>[+{_DASHES}])?)?"
    rf"(?P<digits>{_DIGITS})"
    rf"(?P<unit>[ {_GROUP_SPACE}]?(?:[%‰％](?!\w)|°\s?[CF](?!\w)|[℃℉°′″]))?"
)
_WORD = (
    rf"(?![A-Z]{{1,3}}[{_CURRENCY}])(?![\d{_UNSPACED}{_RAISED}{_FRACTIONS}])\w(?>{_NEXT}*)"
    rf"(?>(?:[{_APOSTROPHES}](?=[^\W\d_]){_NEXT}+)*)"
    r"(?:(?<=\d)(?>(?:\.\d+)+)|(?<!\w\w)(?:\+\+|#)(?!\w))?"  # v1.2, C++
)
_NOTE = (
    r"\[\^[^\[\]\s]{1,100}\]"  # a footnote of Markdown
    r"|(?<=[\w.,;:!?)\]”’\"'»*])\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]"  # a reference, as in an encyclopedia
    r"|(?<=[^\W\d_]\.)\d{1,2}(?=\s+[A-Z][a-z])"  # the mark in "five euros.1 The fine"
    rf"|{_ITEM_MARK}\d+"
    # How the word before is read, as in "言葉(ことば)"; short words of kana that mean something are none.
    r"|(?<=[\u3005\u3400-\u9fff])[(（](?!(?:なし|あり|ない|のみ|だけ|まで|から|など|ほか|または|および)[)）])"
    r"[\u3041-\u3096\u30a1-\u30fa\u30fc]{1,12}[)）]"
    rf"|(?:(?<=[\s{_BLOCK_EDGE}{_CELL_EDGE}])|\A)[●■▪◦○►▸▶❖➢➤✦✧▫◆◇](?=\s+\w)"  # a bullet
    r"|[™®©℠]"
)
_TOKEN = (
    rf"(?P<word>{_WORD})|(?P<note>{_NOTE})|(?P<power>{_POWER})|(?P<number>{_NUMBER})"
    rf"|(?P<sole_currency>{_CURRENCY_SIGN})|(?P<character>[{_UNSPACED}][{_MARKS}{_INVISIBLE}]*+)"
    rf"|(?P<edge>[{_BLOCK_EDGE}{_CELL_EDGE}])|(?P<times>(?<=\w)\*(?=\w)|(?<=\s)\*(?=\s))|(?P<symbol>[^\w\s!-#&-*,-/:;?@\[-\]_`{{}}“”‘’–—…«»•·−*])"
)
"""Compiled when it is needed, because that takes time."""
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
_APOSTROPHE = re.compile(f"[{_APOSTROPHES}]")
_DASH = re.compile(f"[{_DASHES}]")
_LOWERED_EDGE = re.compile(r"(?<=\d)(?=[₀-₉])|(?<=[₀-₉])(?=\d)")
"""Between a number and a lowered figure, so that a 2 below the line after 1010 does not make 10102."""
_TIMES = re.compile(r"\s?[×x·∙]\s?(?=10\Z)")
_VULGAR_FRACTION = re.compile(f"[{_FRACTIONS}]")
_ALERT_KIND = re.compile(r"[^\w\n]*([A-Za-z]+)")
_ITEM_NUMBER = re.compile(r"\s*(\d+)[.)]")
_CLOSING = re.compile(r"\s?\)")
_GLUINGS_MAX = 4
_SYMBOL_CATEGORIES = frozenset({"So", "Sm", "Sc"})
_SYMBOLS = frozenset(_CODE_SIGN_FORMS) | {"§", "%", "‰"}
_HIGHLIGHT = re.compile(r"(?<!\w)==(?=\S)(.*?)(?<=\S)==(?!\w)")
_ANCHOR = re.compile(r"\{ ?#[^{}\s]+ ?\}")
"""The name that some pages give to a heading."""
_LABEL = re.compile(r"(\[[^\[\]\n]*[^\W\d_][^\[\]\n]*\])(\[[^\[\]\n]{1,100}\])")
"""The label of a link whose definition is in another part of the document."""
_ROW_END = re.compile(rf"{_CELL_EDGE}[ \t]*\n[ \t]*(?={_CELL_EDGE})")
"""The end of a row, in a table without a head."""
_BREAK = re.compile(r"[ ]?[-‐\u00ad][ \t]*\n\s*(?=[^\W\d_])|(?<=\u00ad)\n")
"""The end of a line inside a word, as in books and laws."""
_LENGTHS = "mm cm dm km in ft yd mi nm µm μm ha"
_UNIT_NAMES = f"{_LENGTHS} mg kg lb oz sec min hr kW MW GW Pa kPa MPa Hz kHz MHz GHz mol"
_UNITS = frozenset(_UNIT_NAMES.split())
"""Units of more than one letter. A figure raised after a unit is a power."""
_POWER_BASE = re.compile(r"(?:\A|[^\d.,])(?:10|2)\Z")
"""Numbers after which a raised figure is a power, not a note mark."""
_NOTE_LETTER = re.compile(r"(?<=[A-Za-z]{3})[ᵃ-ᶻ]\Z")
_ELIDED_WORDS = "l d j m t s c n qu jusqu lorsqu puisqu quoiqu dell all nell sull dall un quest"
_ELISIONS = frozenset(_ELIDED_WORDS.split())
"""What French and Italian put before an apostrophe. The word after it may be quoted alone."""
_PREFIXES = "non nicht kein un in anti ex pre post half quasi pseudo semi not never no sub dis mis counter"
_TURNING_PREFIXES = frozenset(_PREFIXES.split())
"""What turns the meaning of the word after a hyphen, so that a quote must not begin with that word."""
_SCALE_NAMES = (
    "thousand million millions billion billions trillion bn mn percent mio mrd tsd tausend millionen"
    " milliarden prozent mille milliard milliards mil millones milhões mila milioni miliardi тысяч млн млрд"
)
_NUMERALS = frozenset("〇一二三四五六七八九十百千万萬亿億兆")
_SCALES = _NUMERALS.union(_SCALE_NAMES.split())
"""Words that belong to the number before them."""
_IN_YEAR = re.compile(r"\b(?:in|since|en|em|im|nel) (?:19|20)(?!00)\d\d \Z", re.IGNORECASE)  # it has no scale
_GREEK_FACTOR = re.compile(r"(?<=[Α-Ωα-λν-ω])(?=[A-Za-z])")
"""Between the factors of "πr". "μm" is a unit."""
_CAMEL = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z][a-z])")


class Gluing(Struct, frozen=True):
    """A place in a word where a scraped page may lack a space, as in "extensionFind"."""

    left: str
    left_key: int
    right_key: int
    length: int
    """Number of characters of the left part."""


class TextWords(Struct, frozen=True, kw_only=True):
    """The words of a text, as columns with a row for each word."""

    key_bytes: bytes
    """Hash of each key, in eight bytes, to search in."""
    keys: memoryview[int]
    """The same as numbers."""
    starts: array[int]
    """Offset of each word in the source."""
    ends: array[int]
    flags: bytes
    joined: dict[int, int]
    """For a word that the end of a line divides: the hash of the whole word, by the row of its first half."""
    gluings: dict[int, tuple[Gluing, ...]]
    """By row."""
    has_optional: bool

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_plain(self) -> bool:
        """Whether a run of words can only be found as it is."""
        return not (self.has_optional or self.joined or self.gluings)


def read_words(text: str) -> TextWords:
    """Read the words of a Markdown text, unless it is one of those that were read last."""
    if (words := _cache.get(text)) is not None:
        return words
    from roamtui.markdown.parser import read_markdown  # noqa: PLC0415 - the first screen does not need it

    markdown = read_markdown(text)
    reader = _WordReader(text, markdown.links)
    reader.read_blocks(markdown.blocks)
    words = reader.get_words()
    _cache.put(text, words)
    return words


class _WordCache:
    """The texts that were read last with their words, up to a number of words. All threads share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._words: OrderedDict[str, TextWords] = OrderedDict()
        self._total = 0

    def get(self, text: str) -> TextWords | None:
        with self._lock:
            words = self._words.get(text)
            if words is not None:
                self._words.move_to_end(text)
            return words

    def put(self, text: str, words: TextWords) -> None:
        """Keep the words of a text, which another thread may have read meanwhile."""
        with self._lock:
            replaced = self._words.pop(text, None)
            self._total += len(words) - (0 if replaced is None else len(replaced))
            self._words[text] = words
            while self._total > _CACHED_WORDS_MAX and len(self._words) > 1:
                _, oldest = self._words.popitem(last=False)
                self._total -= len(oldest)


_cache = _WordCache()


@lru_cache(maxsize=64)
def read_plain_words(text: str) -> TextWords:
    """Read the words of a text that is not Markdown, such as code: each line is a block."""
    reader = _WordReader(text)
    position = 0
    for line in text.splitlines(keepends=True):
        reader.read_leaf([_Piece(line.translate(_IN_CODE), position, position + len(line))])
        position += len(line)
    return reader.get_words()


def widen_to_words(text: str, start: int, end: int) -> Bounds:
    """Move each bound that is inside a word or number of a plain text outwards, so that it is whole."""
    words = read_plain_words(text)
    first = bisect_right(words.ends, start)
    last = bisect_right(words.ends, end)
    if first < len(words):
        start = min(start, words.starts[first])
    if last < len(words) and words.starts[last] < end:
        end = words.ends[last]
    return start, end


class _Piece(NamedTuple):
    """Visible text with its bounds in the source, which has the same characters if the lengths are equal."""

    text: str
    start: int = 0
    end: int = 0
    """Equal to `start` for a separator, which is not in the source."""
    is_code: bool = False


class _WordReader:
    """Reads the words of one text, block by block."""

    def __init__(self, text: str, links: Sequence[Link] = ()) -> None:
        self._keys: array[int] = array("q")
        self._word_starts: array[int] = array("I")
        self._word_ends: array[int] = array("I")
        self._flags = bytearray()
        self._joined: dict[int, int] = {}
        self._gluings: dict[int, tuple[Gluing, ...]] = {}
        self._has_optional = False
        self._text = text
        self._links = links
        self._edge = 0
        """Flags of the next word."""
        self._code = bytearray()
        """For each character of the visible text, whether it is in code."""
        self._visible = ""
        self._starts: array[int] = array("I")
        """For each character of the visible text, where it starts in the source."""
        self._ends: array[int] = array("I")
        """The same for where it ends."""
        self._last_kind = ""
        """Kind of the last word that is not optional: the name of a group of the pattern."""
        self._last_key = ""
        """Its key, perhaps with a power."""
        self._last_end = -1
        """Its end in the visible text; -1 at the start of a block."""
        self._half = ""
        """Key of the last word if the end of a line divides it."""

    def get_words(self) -> TextWords:
        """Return the words that were read."""
        key_bytes = self._keys.tobytes()
        return TextWords(
            key_bytes=key_bytes,
            keys=memoryview(key_bytes).cast("q"),
            starts=self._word_starts,
            ends=self._word_ends,
            flags=bytes(self._flags),
            joined=self._joined,
            gluings=self._gluings,
            has_optional=self._has_optional,
        )

    def read_blocks(self, blocks: Iterable[Block]) -> None:
        """Read the words of blocks and of the blocks in them."""
        for block in blocks:
            match block:
                case Paragraph(words=words) | Heading(words=words):
                    self._read_cells([words])
                case Table(rows=rows):
                    for row in rows:
                        self._read_cells(row.cells)
                case List(items=items, number=number):
                    for item in items:
                        self.read_blocks([item.term] if item.term is not None else ())
                        mark = None if number is None else _ITEM_NUMBER.match(self._text, item.start)
                        self._read_item(item.blocks, mark)
                case Quote(title=title, blocks=inner, alert=kind, start=start):
                    if title:
                        self._read_cells([title])
                    is_named = kind and not title
                    self._read_item(inner, _ALERT_KIND.match(self._text, start) if is_named else None)
                case Code():
                    self._read_code(block)
                case ThematicBreak():
                    pass

    def _read_item(self, blocks: Sequence[Block], mark: re.Match[str] | None) -> None:
        """Read a list item or an alert, with its number or kind as an optional word."""
        if mark is None:
            self.read_blocks(blocks)
            return
        number = [_Piece(_ITEM_MARK, *mark.span(1)), _Piece(mark[1], *mark.span(1)), _Piece(_LINE_END)]
        first = blocks[0] if blocks else None
        if isinstance(first, Paragraph):
            self._read_cells([first.words], number)
            self.read_blocks(blocks[1:])
        else:
            self.read_leaf(number)
            self.read_blocks(blocks)

    def _read_cells(self, cells: Sequence[Inline], before: Sequence[_Piece] = ()) -> None:
        """Read a paragraph, or a row of several cells."""
        pieces = [*before]
        for number, inline in enumerate(cells):
            if number:
                pieces.append(_Piece(_CELL_EDGE))
            pieces += map(self._read_run, inline)
        self.read_leaf(pieces)

    def _read_run(self, run: Words) -> _Piece:
        """Return the visible text of words, with a separator for addresses and signs not in the source."""
        if run is LINE_BREAK:
            return _Piece(_BLOCK_EDGE)
        is_address = run.is_image and run.link is not None and run.text == self._links[run.link].href
        if run.start >= run.end or is_address:
            return _Piece(_LINE_END)
        if run.link is not None and self._links[run.link].is_reference_mark:
            return _Piece(self._text[run.start : run.end], run.start, run.end)
        is_code = Emphasis.CODE in run.emphasis
        return _Piece(run.text.translate(_IN_CODE if is_code else _IN_PROSE), run.start, run.end, is_code)

    def _read_code(self, code: Code) -> None:
        bounds_of_lines = pairwise((*code.offsets, len(self._text)))
        for line, (start, end) in zip(code.text.split("\n"), bounds_of_lines, strict=False):
            offset = self._text.find(line, start, end)
            visible = line.translate(_IN_CODE)
            bounds = (offset, offset + len(line)) if offset >= 0 else (start, end)
            self.read_leaf([_Piece(visible, *bounds, is_code=True)])

    def read_leaf(self, pieces: Sequence[_Piece]) -> None:
        """Read the words of one block without blocks in it."""
        self._starts = array("I")
        self._ends = array("I")
        self._code = bytearray()
        for text, start, end, is_code in pieces:
            if end - start == len(text):
                self._starts.extend(range(start, end))
                self._ends.extend(range(start + 1, end + 1))
            else:
                self._starts.extend([start] * len(text))
                self._ends.extend([end] * len(text))
            self._code += bytes([CODE if is_code else 0]) * len(text)
        visible = "".join([piece.text for piece in pieces])
        if "==" in visible:
            visible = _HIGHLIGHT.sub(lambda match: f"  {match[1]}  ", visible)
        if "#" in visible:
            visible = _ANCHOR.sub(lambda match: " " * len(match[0]), visible)
        if "][" in visible:
            visible = _LABEL.sub(lambda match: match[1] + " " * len(match[2]), visible)
        if _CELL_EDGE in visible:
            visible = _ROW_END.sub(lambda match: match[0].replace("\n", _BLOCK_EDGE), visible)
        self._visible = visible
        self._edge |= BLOCK
        self._last_end = -1
        self._half = ""
        for match in _get_token_pattern().finditer(visible):
            self._read_token(match)

    def _read_token(self, match: re.Match[str]) -> None:
        start, end = match.span()
        kind = match.lastgroup or ""
        match kind:
            case "word":
                self._read_word(match[0], start)
            case "number":
                self._read_number(match)
            case "power":
                self._read_power(match[0], start, end)
            case "note" | "sole_currency":
                self._add(make_key(match[0].strip("[]^()（）" + _ITEM_MARK)), start, end, OPTIONAL)
            case "edge":
                self._edge |= BLOCK if match[0] == _BLOCK_EDGE else CELL
            case "symbol" if (
                match[0] not in _SYMBOLS and unicodedata.category(match[0]) not in _SYMBOL_CATEGORIES
            ):
                pass  # punctuation
            case _:
                self._add(make_key(_FROM_CODE.get(match[0], match[0])), start, end, kind=kind)

    def _read_word(self, word: str, start: int) -> None:
        end = start + len(word)
        apostrophe = _APOSTROPHE.search(word)
        if apostrophe and word[: apostrophe.start()].lower() in _ELISIONS:
            self._read_word(word[: apostrophe.start()], start)
            self._read_word(word[apostrophe.end() :], start + apostrophe.end())
            return
        if not word.isascii() and (note := _NOTE_LETTER.search(word)):
            self._read_word(word[: note.start()], start)
            self._add(make_key(note[0]), start + note.start(), end, OPTIONAL)
            return
        if not word.isascii() and (factor := _GREEK_FACTOR.search(word)):
            self._read_word(word[: factor.start()], start)
            self._read_word(word[factor.start() :], start + factor.start())
            return
        key = make_key(word)
        if not any(map(str.isalnum, key)):
            return  # a line to fill in
        row = len(self._keys)
        flags = 0
        if self._half:
            self._joined[row - 1] = hash(self._half + key)
            # After a space, the hyphen may be a dash between two words.
            is_divided = self._visible[self._last_end] != " "
            flags = INSIDE if is_divided or self._last_key.lower() in _TURNING_PREFIXES else 0
        elif (
            start
            and self._last_end == start - 1
            and self._visible[start - 1] in "-‐‑"
            and self._last_key.lower() in _TURNING_PREFIXES
        ):
            flags = INSIDE
        self._add(key, start, end, flags, kind="word")
        self._half = key if _BREAK.match(self._visible, end) else ""
        self._add_gluings(word, row)

    def _add_gluings(self, word: str, row: int) -> None:
        gluings = [
            Gluing(word[: cut.start()], hash(word[: cut.start()]), hash(word[cut.start() :]), cut.start())
            for cut in islice(_CAMEL.finditer(word), _GLUINGS_MAX)
        ]
        if gluings:
            self._gluings[row] = tuple(gluings)

    def _read_number(self, match: re.Match[str]) -> None:
        start = match.start("digits")
        end = match.end()
        key = _make_number_key(match["digits"])
        if match["unit"]:
            key += "".join(make_key(match["unit"]).split())
        if sign := match["sign"] or match["inner_sign"]:
            key = (sign if sign in "+±" else "-") + key
            start = match.start("inner_sign") if match["inner_sign"] else start
        before = match.start()
        if self._visible[before - 1 : before] == "(" and (closing := _CLOSING.match(self._visible, end)):
            key = f"({key})"
            end = closing.end()
            before -= 1
        between = self._visible[self._last_end : before] if not self._edge else " "
        is_second = self._last_kind == "number" and _DASH.fullmatch(between) is not None  # 10-30
        is_compared = self._last_key in {"<", ">", "≤", "≥", "≈", "~"} and not between  # ≥5
        flags = INSIDE if is_second or is_compared else 0
        if match["currency"]:
            self._add(make_key(match["currency"]), before, match.end("currency"), OPTIONAL | flags)
        else:
            start = before
        row = len(self._keys)
        self._add(key, start, end, flags, kind="number")
        self._add_gluings(match["digits"], row)

    def _read_power(self, text: str, start: int, end: int) -> None:
        """Read a raised figure: a part of the word before it if that is a power, else a note mark."""
        value = make_key(text.strip("^(){}⁽⁾"))
        is_power = False
        if self._last_end == start and self._last_kind == "word":
            is_power = len(self._last_key) == 1 or self._last_key in _UNITS
        elif self._last_end == start and self._last_kind == "number":
            has_sign = not value[0].isalnum()
            is_power = text[0] == "^" or has_sign or _POWER_BASE.search(self._last_key) is not None
        if not is_power:
            self._add(value, start, end, OPTIONAL)
            return
        self._last_key += f"^{_DASH.sub('-', value)}"
        self._last_end = end
        self._keys[-1] = hash(self._last_key)
        self._word_ends[-1] = self._ends[end - 1]

    def _add(self, key: str, start: int, end: int, flags: int = 0, kind: str = "") -> None:
        """Add a word from `start` to `end` of the visible text."""
        is_after_number = self._last_kind == "number" or self._last_key in _NUMERALS
        if is_after_number and not self._edge and start - self._last_end <= 1 and key.casefold() in _SCALES:
            flags |= 0 if _IN_YEAR.search(self._visible, max(0, start - 12), start) else INSIDE
        self._keys.append(hash(key))
        self._word_starts.append(self._starts[start])
        self._word_ends.append(self._ends[end - 1])
        self._flags.append(flags | self._edge | self._code[start])
        self._edge = 0
        if flags & OPTIONAL:
            self._has_optional = True
        else:
            self._last_kind = kind
            self._last_key = key
            self._last_end = end
            self._half = ""


@lru_cache(maxsize=1)
def _get_token_pattern() -> re.Pattern[str]:
    return re.compile(_TOKEN)


@lru_cache(maxsize=1 << 16)
def make_key(word: str) -> str:
    """Return the key of a word that is no number."""
    return word if word.isascii() else _APOSTROPHE.sub("'", normalise_letters(word))


def normalise_letters(text: str) -> str:
    """Return a text in compatibility form, without invisible characters and optional vowel signs."""
    if text.isascii():
        return text
    text = _LOWERED_EDGE.sub("_", _UNSEEN.sub("", text))
    return _VOWEL_SIGNS.sub("", unicodedata.normalize("NFKC", text))


def _make_number_key(digits: str) -> str:
    """Return the key of a number, with one spelling of fractions, separators and multiplication."""
    if digits.isascii() and " " not in digits and "x" not in digits:
        return digits
    spaced = _VULGAR_FRACTION.sub(lambda match: f" {unicodedata.normalize('NFKC', match[0])}", digits)
    key = _DASH.sub("-", make_key(" ".join(spaced.split())))
    return _TIMES.sub("×", key.replace("⁄", "/"))
