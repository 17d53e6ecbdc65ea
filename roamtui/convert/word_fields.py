r"""What Word shows for a field whose result is not saved, such as the equation `EQ \f(1,2)`."""

import re
from collections.abc import Sequence

from roamtui.convert.office_math import put_in_brackets
from roamtui.convert.symbols import translate_symbols

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_FORMAT_SWITCH = re.compile(r'\\[*#@]\s*(?:"[^"]*"|\S+)')
_UNSEEN_FIELDS = frozenset(
    {"", "XE", "TC", "TA", "RD", "SET", "ADVANCE", "PRIVATE", "FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN"}
)
"""Fields that only mark a place or a value, and the fields of forms, which may be empty."""
_LENGTH_MAX = 10_000
_SIGNS_BY_SWITCH = {"r": "√", "up": "^", "do": "_"}
"""How a root and a raised or lowered part of an equation are written."""
_SWITCH = re.compile(r"\\(?!f\b)(?:[lrb]c\\.|(?P<name>[a-z]+)\d*\s*(?=\()|[a-z]+\d*)", re.IGNORECASE)
"""A part of an equation or its option, but no fraction."""
_PART = r"((?:[^(),;]|\([^()]*\))*)"
_FRACTION = re.compile(rf"\\f\s*\({_PART}[,;]{_PART}\)", re.IGNORECASE)


def write_field(instruction: str) -> str | None:
    """Write what Word shows for a field, or return None if it has to compute that."""
    instruction = instruction[:_LENGTH_MAX]
    name, *words = [quoted or word for quoted, word in _WORD.findall(instruction)] or [""]
    rest = _FORMAT_SWITCH.sub("", instruction).strip()[len(name) :]
    match name.upper():
        case "EQ":
            return _write_equation(rest)
        case "SYMBOL" if words:
            return _write_symbol(words)
        case "MACROBUTTON" | "GOTOBUTTON":
            return rest.strip().partition(" ")[2].strip()
        case "QUOTE":
            return " ".join(words)
        case unseen if unseen in _UNSEEN_FIELDS:
            return ""
        case _:
            return None


def _write_symbol(words: Sequence[str]) -> str:
    """Write the sign with a code, in a font or in the character set that a switch names."""
    code = words[0]
    switches = [word.lower() for word in words]
    font = next((words[index + 1] for index, word in enumerate(switches[:-1]) if word == r"\f"), "")
    if not re.fullmatch("[0-9]{1,6}|0[xX][0-9A-Fa-f]{1,6}", code):
        return code
    number = min(int(code, 0 if code[:2].lower() == "0x" else 10), 0x10FFFF)
    if r"\u" in switches or number > 0xFF:
        sign = chr(number)
    else:
        sign = bytes([number]).decode("cp1252", "replace") if not font else chr(number)
    return translate_symbols(sign, font)


def _write_equation(text: str) -> str:
    """Write an equation: fractions, roots, raised and lowered parts, and all other words as they are."""
    text = _SWITCH.sub(lambda switch: _SIGNS_BY_SWITCH.get((switch["name"] or "").lower(), ""), text)
    before = ""
    while text != before:
        before = text
        text = _FRACTION.sub(lambda parts: f"{put_in_brackets(parts[1])}/{put_in_brackets(parts[2])}", text)
    return text.strip()
