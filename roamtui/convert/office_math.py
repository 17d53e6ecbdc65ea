"""Write a formula of an office program (OMML) or a web page (MathML) as a line such as `A=πr^2`."""

import re
from itertools import cycle
from typing import Any

from roamtui.convert.xml_elements import get_attribute, get_local_name

_FORMS = {
    **dict.fromkeys(("f", "mfrac"), "{0}/{1}"),
    **dict.fromkeys(("sSup", "msup", "limUpp", "mover"), "{0}^{1}"),
    **dict.fromkeys(("sSub", "msub", "limLow", "munder"), "{0}_{1}"),
    **dict.fromkeys(("sSubSup", "msubsup", "munderover"), "{0}_{1}^{2}"),
    "sPre": "_{0}^{1}{2}",
    "mroot": "^{1}√{0}",
}
"""How each structure is written, with its parts by number. A part of several words gets brackets."""
_WORDS = frozenset({"t", "mi", "mn", "mo", "mtext", "ms"})
_STRUCTURES = frozenset({*_FORMS, "rad", "msqrt", "nary", "mmultiscripts", "mrow", "mstyle"})
"""Elements whose text could merge with the next part."""
_LEFT_OUT = frozenset({"del", "moveFrom", "annotation", "annotation-xml"})
_UNSEEN_SIGN = re.compile("[\u2061-\u2064]")
"""An invisible sign between two parts, such as the plus of a mixed number."""
_NO_THICKNESS = re.compile(r"\.?0[.0]*(?:[a-z%]|$)", re.IGNORECASE)
_HAT = "\N{COMBINING CIRCUMFLEX ACCENT}"
_BAR = "\N{COMBINING OVERLINE}"


def write_formula(element: Any) -> str:  # noqa: PLR0911, PLR0912 - one for each kind
    """Write a formula, or a part of one."""
    name = get_local_name(element)
    if name in _WORDS:
        words = "".join(element.itertext())
        return _UNSEEN_SIGN.sub(" ", words.strip("\r\n" if name == "t" else " \t\r\n"))
    looks = element.iterfind(f"{{*}}{name}Pr/*")
    signs = {get_local_name(look): get_attribute(look, "val") for look in looks}
    inner = [each for each in element if get_local_name(each) not in {f"{name}Pr", *_LEFT_OUT}]
    parts = [write_formula(each) for each in inner]
    # the numbers of a binomial have no bar between them
    thickness = get_attribute(element, "linethickness")
    has_bar = signs.get("type") != "noBar" and not _NO_THICKNESS.match(thickness)
    if name in _FORMS and has_bar:
        first = [_put_in_brackets(part, is_product_whole=True) for part in parts[:1]]
        return _FORMS[name].format(*first, *map(_put_in_brackets, parts[1:]), *("" for _ in range(3)))
    match name:
        case "rad" | "msqrt":
            degree = parts[0] if name == "rad" and len(parts) > 1 else ""
            return (f"^{_put_in_brackets(degree)}√" if degree else "√") + _put_in_brackets(
                "".join(parts).removeprefix(degree)
            )
        case "nary":
            return f"{signs.get('chr', '∫')}{_write_scripts(parts[:2])} {''.join(parts[2:])}"
        case "mmultiscripts":
            names = [*map(get_local_name, inner), "mprescripts"]
            end = names.index("mprescripts")
            return _write_scripts(parts[end + 1 :]) + "".join(parts[:1]) + _write_scripts(parts[1:end])
        case "d":
            return signs.get("begChr", "(") + signs.get("sepChr", "|").join(parts) + signs.get("endChr", ")")
        case "mfenced":
            separator = element.get("separators", ",").strip()[:1]
            return f"{element.get('open', '(')}{separator.join(parts)}{element.get('close', ')')}"
        case "acc" | "bar":
            return "".join(parts) + signs.get("chr", _HAT if name == "acc" else _BAR)
        case "m" | "mtable":
            return f"[{'; '.join(parts)}]"
        case "eqArr":
            return "; ".join(parts)
        case "mr" | "mtr":
            return ", ".join(parts)
        case "func" | "f" | "mfrac":
            return " ".join(parts)
        case "mspace":
            return " "
        case _:
            return _join(inner, parts)


def _write_scripts(parts: list[str]) -> str:
    """Write pairs of a lowered and a raised part. Each part may be empty."""
    return "".join(
        sign + _put_in_brackets(part) for sign, part in zip(cycle("_^"), parts, strict=False) if part
    )


def _join(elements: list[Any], parts: list[str]) -> str:
    """Join parts. A space keeps `2 1/2` from becoming `21/2`, and `πr^2 h` from becoming `πr^2h`."""
    text = ""
    was_structure = False
    for element, part in zip(elements, parts, strict=True):
        is_structure = get_local_name(element) in _STRUCTURES
        may_join = was_structure or (is_structure and part[:1].isdigit())
        is_joined = may_join and text[-1:].isalnum() and part[:1].isalnum()
        if is_joined or (text and is_structure and part.startswith(("^", "_"))):
            text += " "
        text += part
        was_structure = is_structure
    return text


def _put_in_brackets(text: str, *, is_product_whole: bool = False) -> str:
    """Put a text into brackets, unless it is one word, number or sign, or a product such as `2x` may stay."""
    text = text.strip()
    bare = text.replace(".", "")
    is_whole = len(text) <= 1 or bare.isalpha() or bare.isdecimal() or (is_product_whole and bare.isalnum())
    is_bracketed = text.startswith("(") and text.find(")") == len(text) - 1
    return text if is_whole or is_bracketed else f"({text})"
