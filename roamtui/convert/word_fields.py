r"""What Word shows for a field whose result is not saved, such as the equation `EQ \f(1,2)`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lxml.etree import Element, SubElement

from roamtui.convert.office_math import write_formula
from roamtui.convert.symbols import translate_symbols

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_FORMAT_SWITCH = re.compile(r'\\[*#@]\s*(?:"[^"]*"|\S+)')
_UNSEEN_FIELDS = frozenset(
    {"", "XE", "TC", "TA", "RD", "SET", "ADVANCE", "PRIVATE", "FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN"}
)
"""Fields that only mark a place or a value, and the fields of forms, which may be empty."""
_LENGTH_MAX = 10_000
_NESTING_MAX = 30
_COLUMNS_MAX = 100
_SWITCH = re.compile(r"\\([A-Za-z]{2}(?=\s*[\d(])|.)")
"""A part of an equation, such as `\\f` or `\\up8`, or a sign that stands for itself."""
_OPTION = re.compile(
    r"\s*\\(?:(?P<sign_of>[lrbfvLRBFV][cC])\\(?P<sign>.)|(?P<name>[A-Za-z]{2})\s*(?P<number>\d*))"
)
"""An option between the letter of a part of an equation and its brackets, such as `\\co2` or `\\lc\\{`."""
_OPENING = re.compile(r"\s*\d*\s*\(")
_SIGN = re.compile(r"(?<!\\)(?:\\\\)*([(),;])")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SUMS = {"su": "∑", "pr": "∏"}


def write_field(instruction: str) -> str | None:
    """Write what Word shows for a field, or return None if it has to compute that."""
    instruction = instruction[:_LENGTH_MAX]
    name, *words = [quoted or word for quoted, word in _WORD.findall(instruction)] or [""]
    rest = _FORMAT_SWITCH.sub("", instruction).strip()[len(name) :]
    match name.upper():
        case "EQ":
            return write_formula(_parse_equation(rest)).strip()
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


def _parse_equation(text: str, depth: int = 0) -> Any:
    """Return an equation as an element that `write_formula` writes."""
    formula = Element("e")
    position = 0
    while switch := _SWITCH.search(text, position):
        _append_words(formula, text[position : switch.start()])
        position = switch.end()
        kind = switch[1].lower()
        if not kind.isalpha():
            _append_words(formula, kind)
            continue
        options = {}
        while option := _OPTION.match(text, position):
            options[(option["sign_of"] or option["name"]).lower()] = option["sign"] or option["number"]
            position = option.end()
        start = _OPENING.match(text, position)
        if start is None:
            continue
        arguments, position = _split_arguments(text, start.end())
        if depth < _NESTING_MAX:
            parts = [_parse_equation(each, depth + 1) for each in arguments]
            formula.extend(_build_part(kind, options, parts))
        else:
            _append_words(formula, ",".join(arguments))
    _append_words(formula, text[position:])
    return formula


def _append_words(formula: Any, words: str) -> None:
    if words:
        SubElement(formula, "t").text = words


def _split_arguments(text: str, start: int) -> tuple[list[str], int]:
    """Split what is in brackets at semicolons, or else commas. Return the parts, and where the text ends."""
    depth = 1
    end = start
    separators: dict[str, list[int]] = {",": [], ";": []}
    for sign in _SIGN.finditer(text, start):
        end = sign.start(1)
        depth += (sign[1] == "(") - (sign[1] == ")")
        if not depth:
            break
        if depth == 1 and sign[1] in separators:
            separators[sign[1]].append(end)
    else:
        end = len(text)
    ends = [*(separators[";"] or separators[","]), end]
    starts = [start, *(each + 1 for each in ends)]
    return [text[first:last] for first, last in zip(starts, ends, strict=False)], end + 1


def _build_part(kind: str, options: Mapping[str, str], parts: list[Any]) -> list[Any]:  # noqa: PLR0911 - one for each kind
    r"""Return the elements for a switch such as `\f` with what is in its brackets."""
    match kind:
        case "f" if len(parts) == 2:
            return [_make("f", parts)]
        case "r":
            return [_make("rad", parts)]
        case "s" | "up" | "do":
            is_lowered = kind == "do" or "do" in options
            names = ("sSub",) if is_lowered else ("sSup", "sSub")
            return [_make(name, [Element("e"), part]) for name, part in zip(names, parts, strict=False)]
        case "b":
            both = options.get("bc", "" if {"lc", "rc"}.intersection(options) else "(")
            end = _PAIRS.get(both, both)
            signs = {"begChr": options.get("lc", both), "endChr": options.get("rc", end), "sepChr": ","}
            return [_make("d", parts, signs)]
        case "a":
            count = min(_COLUMNS_MAX, max(1, int(options.get("co") or 1)))
            rows = [_make("mr", parts[first : first + count]) for first in range(0, len(parts), count)]
            return [_make("m", rows) if count > 1 else _make("eqArr", parts)]
        case "i":
            named = next((sign for name, sign in _SUMS.items() if name in options), "∫")
            sign = options.get("fc") or options.get("vc") or named
            return [_make("nary", parts, {"chr": sign})]
        case "l":
            return [_make("d", parts, {"begChr": "", "endChr": "", "sepChr": ","})]
        case "d":
            return []
        case _:
            return parts


def _make(name: str, parts: Sequence[Any], signs: Mapping[str, str] | None = None) -> Any:
    """Make an element of Office's formulas."""
    element = Element(name)
    if signs:
        properties = SubElement(element, f"{name}Pr")
        for key, sign in signs.items():
            SubElement(properties, key).set("val", sign)
    element.extend(parts)
    return element
