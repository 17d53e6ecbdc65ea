"""Write a formula of an office program (OMML) or a web page (MathML) as a line such as `A=πr²`."""

import re
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

from roamtui.convert.html_blocks import escape_words
from roamtui.convert.xml_elements import get_attribute, get_local_name
from roamtui.markdown.formulas import bracket_base, finish_formula, write_fraction, write_root, write_script

_SCRIPTS = {
    **dict.fromkeys(("sSup", "msup", "limUpp", "mover"), "^"),
    **dict.fromkeys(("sSub", "msub", "limLow", "munder"), "_"),
    **dict.fromkeys(("sSubSup", "msubsup", "munderover"), "_^"),
}
"""By structure: the signs of its raised and lowered parts."""
_WRITERS: Mapping[str, Callable[[str, str], str]] = {
    **dict.fromkeys(("f", "mfrac"), write_fraction),
    **dict.fromkeys(("mroot", "rad"), write_root),
}
"""By structure of two parts: what writes it."""
_SEPARATORS = {"mr": ", ", "mtr": ", ", "eqArr": "; ", "func": " ", "f": " ", "mfrac": " "}
"""By structure: what is between its parts."""
_WORDS = frozenset({"t", "mi", "mn", "mo", "mtext", "ms"})
_LEFT_OUT = frozenset({"del", "moveFrom", "annotation", "annotation-xml"})
_UNSEEN_SIGN = re.compile("[\u2061-\u2064]")
"""An invisible sign between two parts, such as the plus of a mixed number."""
_NO_THICKNESS = re.compile(r"\.?0[.0]*(?:[a-z%]|$)", re.IGNORECASE)
_HAT = "\N{COMBINING CIRCUMFLEX ACCENT}"
_BAR = "\N{COMBINING OVERLINE}"


def write_formula(element: Any) -> str:
    """Write a formula."""
    return finish_formula(_write_part(element))


def write_math_element(element: Any) -> str:
    """Write a formula as an element of HTML that holds its line of text."""
    return f"<math><mtext>{escape_words(write_formula(element))}</mtext></math>"


def _write_part(element: Any) -> str:  # noqa: PLR0911, PLR0912 - one for each kind
    name = get_local_name(element)
    if name in _WORDS:
        words = "".join(element.itertext())
        return _UNSEEN_SIGN.sub(" ", words.strip("\r\n" if name == "t" else " \t\r\n"))
    looks = element.iterfind(f"{{*}}{name}Pr/*")
    signs = {get_local_name(look): get_attribute(look, "val") for look in looks}
    inner = [each for each in element if get_local_name(each) not in {f"{name}Pr", *_LEFT_OUT}]
    parts = [*map(_write_part, inner)]
    # the numbers of a binomial have no bar between them
    thickness = get_attribute(element, "linethickness")
    has_bar = signs.get("type") != "noBar" and not _NO_THICKNESS.match(thickness)
    if name == "rad":  # its degree is first
        parts.reverse()
    if name in _WRITERS and has_bar and len(parts) == 2:
        return _WRITERS[name](*parts)
    if name in _SCRIPTS:
        return bracket_base("".join(parts[:1])) + _write_scripts(parts[1:], _SCRIPTS[name])
    match name:
        case "sPre":
            return f" {_write_scripts(parts[:2])}{''.join(parts[2:])}"
        case "rad" | "msqrt":
            return write_root("".join(parts))
        case "nary":
            return f"{signs.get('chr', '∫')}{_write_scripts(parts[:2])} {''.join(parts[2:])}"
        case "mmultiscripts":
            names = [*map(get_local_name, inner), "mprescripts"]
            end = names.index("mprescripts")
            return f" {_write_scripts(parts[end + 1 :])}{''.join(parts[:1])}{_write_scripts(parts[1:end])}"
        case "d":
            return signs.get("begChr", "(") + signs.get("sepChr", "|").join(parts) + signs.get("endChr", ")")
        case "mfenced":
            separator = element.get("separators", ",").strip()[:1]
            return f"{element.get('open', '(')}{separator.join(parts)}{element.get('close', ')')}"
        case "acc" | "bar":
            return "".join(parts) + signs.get("chr", _HAT if name == "acc" else _BAR)
        case "m" | "mtable":
            return f"[{'; '.join(parts)}]"
        case "mspace" | "br":
            return " "
        case _:
            return _SEPARATORS.get(name, "").join(parts)


def _write_scripts(parts: list[str], signs: str = "_^") -> str:
    """Write parts that are lowered or raised in turn. Each part may be empty."""
    return "".join(map(write_script, cycle(signs), parts))
