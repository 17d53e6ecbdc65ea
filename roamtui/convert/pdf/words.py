"""Words of a page, and raised or lowered letters next to them."""

import re
from collections.abc import Iterable

from msgspec import Struct

from roamtui.convert.decode import replace_surrogates
from roamtui.markdown.escaping import escape_inline
from roamtui.text import UNSPACED

HYPHEN = "\x02"
"""Character that pdfium returns for a hyphen at a line end. No line break follows it."""
HYPHENS = f"-\u2010{HYPHEN}"
SUPERSCRIPT_START, SUPERSCRIPT_END = "\x03", "\x04"
"""Characters around raised letters in the text of a row. No word contains them."""
SUPERSCRIPT = f"{SUPERSCRIPT_START}[^{SUPERSCRIPT_END}]*{SUPERSCRIPT_END}"
"""Pattern for raised letters."""
_RAISED_TAGS = str.maketrans({SUPERSCRIPT_START: "<sup>", SUPERSCRIPT_END: "</sup>"})
SUPERSCRIPT_AT_END = re.compile(rf"{SUPERSCRIPT}\Z")
SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
"""Lowered figures must not join the number before them: not 10102, but 1010₂."""
SMALL_RATIO = 0.85
"""Maximum height of a raised letter, as a share of the height of the letters before it."""
_UNSPACED_PAIR = re.compile(f"[{UNSPACED}]{{2}}")
_SCRIPT_HEIGHT_MIN = 0.4
_RISE_MIN = 0.1
"""Minimum rise of the baseline of a raised letter, as a share of the height of the letters before it."""
_FALL_MIN = 0.03
"""Minimum fall of a lowered figure. Small letters on the same baseline reach less far down."""
_RAISED_OVERHANG_MAX = 0.5
"""How far a raised letter may be above the letters before it, as a share of their height."""
_RAISED_PART = r"(?:[^\W\d_]{1,2}|[^\W_]*\d[^\W_]*)"
_RAISED_TEXT = re.compile(
    r"(?!(?:st|nd|rd|th|f[fil]{1,2})\b|[\u0590-\u08ff])(?=.{0,9}$)"
    rf"[+\u2212\u2013-]?{_RAISED_PART}(?:[,;+\u2212\u2013-]{_RAISED_PART})*[,;]?"
)
"""Figures or up to two letters, also with signs, as in "n+1". The "th" of "4th" and marks in brackets
do not match. Ligatures and right-to-left letters are excluded: their boxes may be small, too."""


class PageWord(Struct):
    """Consecutive characters without a space between them, with their box."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    first: int
    """Index of its first character in drawing order; `last` is the index of its last one."""
    last: int
    is_rotated: bool = False
    """Whether it is drawn in another direction than most of the page, such as a stamp across it."""


def divides_script(above: str, end: str) -> bool:
    """Return whether a line ends between two letters of a script without spaces, such as Chinese."""
    return _UNSPACED_PAIR.fullmatch(above[-1:] + end[:1]) is not None


def ends_in_divided_word(text: str) -> bool:
    """Return whether a text ends in a hyphen after a letter. Then its last word may continue below."""
    return bool(text) and text[-1] in HYPHENS and text[-2:-1].isalpha()


def write_words(text: str) -> str:
    """Write the text of rows as Markdown: escape its signs, restore hyphens, and mark raised letters."""
    escaped = escape_inline(replace_surrogates(text.replace(HYPHEN, "-")))
    return escaped.translate(_RAISED_TAGS)


def compute_letter_height(words: Iterable[PageWord]) -> float:
    """Return the median height of some words."""
    heights = sorted([word.bottom - word.top for word in words])
    return heights[len(heights) // 2]


def is_superscript(word: PageWord, base: PageWord) -> bool:
    """Return whether a word is small letters above the baseline of `base`, the word next to it."""
    usual = base.bottom - base.top
    return (
        _SCRIPT_HEIGHT_MIN * usual < word.bottom - word.top < SMALL_RATIO * usual
        and base.bottom - word.bottom > _RISE_MIN * usual
        and base.top - word.top < _RAISED_OVERHANG_MAX * usual
        and _RAISED_TEXT.fullmatch(word.text) is not None
    )


def is_subscript(word: PageWord, base: PageWord) -> bool:
    """Return whether a word is small figures below the baseline of `base`, the word next to it."""
    usual = base.bottom - base.top
    return (
        _SCRIPT_HEIGHT_MIN * usual < word.bottom - word.top < SMALL_RATIO * usual
        and word.bottom - base.bottom > _FALL_MIN * usual
        and word.text.isdecimal()
    )
