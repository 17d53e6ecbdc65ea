"""The one sanitiser: text from documents, models and pages, made safe for a terminal, a screen or a clipboard.

Control sequences act on a terminal (ECMA-48, XTerm's OSC 8 and 52), bidirectional overrides disguise text
(Unicode TR 36, "Trojan Source"). Each such character becomes a visible stand-in, so that nothing is lost in silence.
"""

from __future__ import annotations

import re

_KEPT = "\n\t"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
_LINE_END = re.compile("\r\n?")
_SPACES = re.compile(r"\s+")
_ANCHOR = re.compile(r"(?:(?<!\s)\s+)?\{:?\s*#[\w-][^{}]*\}\s*$")
_DROPPED = re.compile(r"[^\w\- ]")


def _stand_ins() -> dict[int, str]:
    table = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT}
    table[0x7F] = "\N{SYMBOL FOR DELETE}"
    table |= dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT)
    table |= dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), _REPLACEMENT)
    table |= dict.fromkeys((0x2028, 0x2029), " ")
    table |= dict.fromkeys(range(0xE0000, 0xE0080), "")
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)
    table[0xFEFF] = ""
    return table


_TABLE = _stand_ins()


def sanitise_text(text: str) -> str:
    r"""Return `text` with line ends as ``\n`` and without any character that a terminal or a reader obeys."""
    if _UNSAFE.search(text) is None:
        return text
    return _LINE_END.sub("\n", text).translate(_TABLE)


def sanitise_line(text: str) -> str:
    """Return `text` safe as by `plain_text` and on one line: runs of white space become one space."""
    return _SPACES.sub(" ", sanitise_text(text)).strip()


def shorten(text: str, length_max: int) -> str:
    """Return `text` cut at a word so that it has at most `length_max` characters, with an ellipsis where cut."""
    if len(text) <= length_max:
        return text
    cut = text[: length_max - 1]
    word_end = cut.rfind(" ")
    if word_end > length_max // 2:
        cut = cut[:word_end]
    return cut.rstrip(" ,;:.") + "…"


def strip_anchor(title: str) -> str:
    """Return a title without the ``{#anchor}`` or ``{: #anchor .class }`` at its end by which pages link to it."""
    return _ANCHOR.sub("", title) if title.rstrip().endswith("}") else title


def make_slug(title: str) -> str:
    """Return the anchor of a heading: small letters, no punctuation, hyphens for spaces."""
    return _DROPPED.sub("", title.lower()).strip().replace(" ", "-")
