r"""Measure, divide and shorten a text: its lines, front matter, tokens, pages and ranges of characters.

Lines end only at ``\n``, ``\r\n`` and ``\r`` (CommonMark 0.31.2, section 2.1); `str.splitlines` splits
elsewhere, too. Front matter is the block between lines of dashes at the start of a Markdown file. Tokens are
estimated without a tokenizer and without a network.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable
from operator import mul

from msgspec import Struct

Bounds = tuple[int, int]
"""Offsets of the first character, and of the character after the last."""
DASHES = "-‐‑‒–—―−"
"""Hyphens, dashes and the minus sign."""
INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
"""Ranges of characters without a width, such as soft hyphens. They may be inside or between words."""
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3021-\u303c\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
)
"""Ranges of the scripts that put no spaces between words."""
WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
)
"""Ranges of characters that are two cells wide. A line may end after each."""
_ROMAN_SIGNS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LINE_END = re.compile("\r\n?|\n")
_SIGNS = re.compile(r"[\W_]+")
_BLANK = re.compile(r"\s+")
_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)+")
_FRONT_OPENING = re.compile(r"---[ \t]*\n(?=(?:#.*\n)*(?![#\- \t])[^:\n]+:[ \t\n]|---|\.\.\.)")
_FRONT_LINE = re.compile(r"[ \t#\-\]}]|[^:\n]+:(?:[ \t]|$)|$")
_FRONT_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_LETTER, _DIGIT, _SPACE, _END, _NON_ASCII, _OTHER = range(6)


def format_roman(number: int) -> str:
    """Return the Roman numeral of a number from 1 on, in lower case."""
    parts: list[str] = []
    for value, sign in _ROMAN_SIGNS:
        count, number = divmod(number, value)
        parts.append(sign * count)
    return "".join(parts)


ROMAN_NUMERALS = tuple(map(format_roman, range(1, 40)))
"""The numerals from 1 to 39. With larger ones, ordinary words such as "civil" would look like numerals."""


class Span(Struct, frozen=True, kw_only=True):
    """A range of the text of document `doc`: the characters from `start` up to `end` (exclusive)."""

    doc: str
    start: int
    end: int

    def get_part(self, start: int, end: int) -> Span:
        """Return a part of the range. Both offsets are counted from the start of the range."""
        return Span(doc=self.doc, start=self.start + start, end=self.start + end)

    def overlaps(self, other: Span) -> bool:
        """Return whether the range shares a character with another."""
        return self.doc == other.doc and self.start < other.end and other.start < self.end

    def is_in(self, other: Span) -> bool:
        """Return whether the range is within another."""
        return self.doc == other.doc and other.start <= self.start and self.end <= other.end


def format_page(page: int | None, label: str) -> str:
    """Format a page, such as ``p. 12`` or ``p. 12 (printed iv)``; empty without a page."""
    printed = f" (printed {label})" if label else ""
    return "" if page is None else f"p. {page}{printed}"


def compute_line_starts(text: str) -> array[int]:
    """Return the offset of each line. A line end at the end of the text does not start another line."""
    starts = array("Q", [0])
    starts.extend(match.end() for match in _LINE_END.finditer(text))
    if starts[-1] == len(text):
        starts.pop()
    return starts


def normalise_letters(text: str) -> str:
    """Return only the letters and digits of a text, in lower case, to compare titles."""
    return _SIGNS.sub("", text).casefold()


def blank_matches(pattern: re.Pattern[str], text: str) -> str:
    """Replace what a pattern matches with as many spaces, so that all offsets stay."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def replace_ranges(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """Replace ranges of a text, given by start and end, in order. One that overlaps the last is left out."""
    parts: list[str] = []
    position = 0
    for start, end, words in replacements:
        if position <= start:
            parts += text[position:start], words
            position = end
    return "".join([*parts, text[position:]])


def normalise_line_ends(text: str) -> str:
    r"""Return `text` with every line end as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def measure_front_matter(text: str) -> int:
    r"""Return the length of the front matter at the start of `text` (line ends as ``\n``), or 0.

    Front matter is empty, or its first line after comments is an entry such as `title: Fees`, and so is each
    other line that is not empty, indented, a comment, a list item or the end of a bracket. Other text below a
    line of dashes is not front matter.
    """
    opening = _FRONT_OPENING.match(text)
    closing = _FRONT_CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return 0
    lines = text[opening.end() : closing.start()].split("\n")
    return closing.end() if all(map(_FRONT_LINE.match, lines)) else 0


def compute_body_start(text: str) -> int:
    """Return the offset after the front matter of a text with any line ends."""
    normalised = normalise_line_ends(text)
    lines = normalised.count("\n", 0, measure_front_matter(normalised))
    if not lines:
        return 0
    starts = compute_line_starts(text)
    return starts[lines] if lines < len(starts) else len(text)


def _classify(byte: int) -> int:
    char = chr(byte)
    if byte >= 0x80:
        return _NON_ASCII
    if char in "\r\n":
        return _END
    if char in " \t":
        return _SPACE
    if char.isalpha():
        return _LETTER
    return _DIGIT if char.isdigit() else _OTHER


_CLASSES = bytes(map(_classify, range(256)))
_WEIGHTS = (0.21, 1.1, 0.094, 0.41, 0.315)
"""Tokens per letter, digit, space, line end and byte above 127, fitted to cl100k on prose, code and CJK."""
_OTHER_WEIGHT = 0.485
"""Tokens per punctuation character."""
_WEIGHTED_CLASSES = range(_OTHER)
_PIECE_LENGTH = 1_000_000
"""Number of characters that are encoded at once, so that a long text is never copied whole."""


BYTES_PER_TOKEN = 4
"""Bytes of a token, where the text itself is not there to be counted."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text`: 0 only if it is empty."""
    total = 0.0
    for start in range(0, len(text), _PIECE_LENGTH):
        classes = text[start : start + _PIECE_LENGTH].encode("utf-8", "surrogatepass").translate(_CLASSES)
        # `bytes.count` is much faster than counting in Python.
        counts = tuple(map(classes.count, _WEIGHTED_CLASSES))
        total += _OTHER_WEIGHT * (len(classes) - sum(counts)) + sum(map(mul, _WEIGHTS, counts))
    return max(1, math.ceil(total)) if text else 0


def format_token_count(tokens: int) -> str:
    """Format a number of tokens with its noun: ``1 token``, ``1.2k tokens``."""
    return f"{format_tokens(tokens)} {'token' if tokens == 1 else 'tokens'}"


def format_tokens(tokens: int) -> str:
    """Format a number of tokens in a short form: ``840``, ``1.2k``, ``45k``, ``3.1M``."""
    if tokens < 1_000:
        return str(tokens)
    value = tokens / 1_000
    unit = "k"
    for larger_unit in ("M", "G"):
        if value < 999.5:
            break
        value = value / 1_000
        unit = larger_unit
    return (f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:.0f}") + unit


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as ``1 section`` or ``2,000 sections``."""
    return f"1 {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def shorten(text: str, length_max: int) -> str:
    """Cut `text` to at most `length_max` characters, at a word if possible, with an ellipsis if cut.

    Return an empty string if `length_max` is less than 1.
    """
    if length_max < 1:
        return ""
    if len(text) <= length_max:
        return text
    cut = text[: length_max - 1]
    word_end = cut.rfind(" ")
    if word_end > length_max // 2:
        cut = cut[:word_end]
    return cut.rstrip(" ,;:.-–—") + "…"


def merge_bounds(bounds: Iterable[Bounds]) -> list[Bounds]:
    """Merge ranges that overlap or touch, and sort them."""
    merged: list[Bounds] = []
    for start, end in sorted(bounds):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def subtract_bounds(start: int, end: int, taken: Iterable[Bounds]) -> list[Bounds]:
    """Return the parts of the range from `start` to `end` that no range of `taken` covers, in order."""
    left: list[Bounds] = []
    position = start
    for taken_start, taken_end in sorted(taken):
        if taken_start < taken_end:
            if position < min(taken_start, end):
                left.append((position, min(taken_start, end)))
            position = max(position, taken_end)
    if position < end:
        left.append((position, end))
    return left


def split_parts(text: str, part_tokens: int) -> list[Bounds]:
    """Split `text` into parts of about `part_tokens` tokens. They cover the whole text.

    For the places where parts end, see `split_at_length`.
    """
    tokens = estimate_tokens(text)
    if tokens <= part_tokens:
        return [(0, len(text))]
    return split_at_length(text, max(1, len(text) * part_tokens // tokens))


def split_at_length(text: str, length: int) -> list[Bounds]:
    """Split `text` into parts of at most `length` characters, and one more if that is inside a line end.

    They cover the whole text. A part ends at a blank line, or else at a line end, or else at a space, or else
    anywhere.
    """
    parts: list[Bounds] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + length)
        if end < len(text):
            end = _choose_cut_offset(text, start + (end - start) // 2, end)
        parts.append((start, end))
        start = end
    return parts


def _choose_cut_offset(text: str, low: int, high: int) -> int:
    for pattern in (_BLANK_LINE, _LINE_END, _BLANK):
        end = 0
        for match in pattern.finditer(text, low, high):
            end = match.end()
        if end:
            # The search ends at `high`, which may be between the two characters of a line end.
            return end + 1 if text[end - 1 : end + 1] == "\r\n" else end
    return high
