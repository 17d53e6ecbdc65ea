"""The only sanitiser: makes untrusted text safe for a terminal, a screen or a clipboard.

Control sequences act on a terminal (ECMA-48, XTerm's OSC 8 and 52), and bidirectional overrides disguise text
(Unicode TR 36, "Trojan Source"). Such characters become visible symbols, so that nothing is lost silently.
Invisible ones that ordinary texts contain, such as the marks and isolates of Hebrew and Arabic, are left out.
"""

import json
import re
from collections.abc import Callable
from typing import Any

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSAFE_RANGES = {
    range(0x09): None,
    range(0x0B, 0x20): None,
    range(0x7F, 0x80): "\N{SYMBOL FOR DELETE}",
    range(0x80, 0xA0): _REPLACEMENT,
    range(0x061C, 0x061D): "",
    range(0x200E, 0x2010): "",
    range(0x2028, 0x202A): " ",
    range(0x202A, 0x202F): _REPLACEMENT,
    range(0x2066, 0x206A): "",
    range(0xD800, 0xE000): _REPLACEMENT,
    range(0xFEFF, 0xFF00): "",
    range(0xE0000, 0xE0080): "",
}
"""What replaces the characters of a range. None for the symbols of control characters."""
_UNSAFE = re.compile(f"[{''.join(f'{chr(codes[0])}-{chr(codes[-1])}' for codes in _UNSAFE_RANGES)}]")
_REPLACEMENTS = {
    code: chr(0x2400 + code) if text is None else text
    for codes, text in _UNSAFE_RANGES.items()
    for code in codes
}
_UNSAFE_IN_JSON = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""The unsafe characters that JSON may contain as they are."""
_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_WHITE_SPACE = re.compile(r"\s+")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
MASK = "[redacted]"
_LOGIN = re.compile(r"(//|\\/\\/)[^\s/?#]*@")
"""A user name and password at the start of a URL, whose slashes JSON may escape."""


def sanitise_text(text: str) -> str:
    r"""Return `text` with line ends as ``\n``, without characters that act on terminals or disguise text."""
    if _UNSAFE.search(text) is None:
        return text
    return _LINE_END.sub("\n", text).translate(_REPLACEMENTS)


def sanitise_paste(text: str) -> str:
    """Remove control characters from a pasted text, because the person did not see them, and sanitise it."""
    return sanitise_text(_CONTROLS.sub("", text))


def sanitise_line(text: str) -> str:
    """Sanitise `text` and put it on one line: each run of white space becomes one space."""
    return _WHITE_SPACE.sub(" ", sanitise_text(text)).strip()


def mask_logins(text: str) -> str:
    """Mask the user name and password of each URL in a text that does not come from a document."""
    return _LOGIN.sub(rf"\1{MASK}@", text)


def get_isolates(text: str) -> tuple[str, str]:
    """Return the marks to put around a sanitised text, so that its right-to-left words reorder no others."""
    return ("\u2068", "\u2069") if _RIGHT_TO_LEFT.search(text) else ("", "")


def format_json(
    value: object, indent: int | None = None, to_json: Callable[[Any], object] | None = None
) -> str:
    """Format a value as JSON that cannot act on a terminal. `to_json` converts what JSON does not have."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=to_json)
    return re.sub(_UNSAFE_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", text)
