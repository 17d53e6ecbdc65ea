"""Write the formulas of Word and PowerPoint as one line of text, such as `A=πr^2`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from roamtui.sources.convert.zip_package import get_attribute, get_local_name

_FORMS = {
    "f": "{num_}/{den_}",
    "sSup": "{e}^{sup_}",
    "sSub": "{e}_{sub_}",
    "sSubSup": "{e}_{sub_}^{sup_}",
    "sPre": "_{sub_}^{sup_}{e}",
    "limLow": "{e}_{lim_}",
    "limUpp": "{e}^{lim_}",
    "func": "{fName} {e}",
}
"""How a structure of a formula is written, by the names of its parts. `_` puts a long part into brackets."""
_ROOTS = {"": "√", "3": "∛", "4": "∜"}
_HAT = "\N{COMBINING CIRCUMFLEX ACCENT}"


def write_formula(element: Any) -> str:
    """Write what is in an element of a formula."""
    return "".join(map(_write_structure, element))


def _write_structure(element: Any) -> str:  # noqa: PLR0911 - one for each kind
    name = get_local_name(element)
    if name == "t":
        return element.text or ""
    if name in ("del", "moveFrom"):
        return ""
    signs = {get_local_name(sign): get_attribute(sign, "val") for sign in element.iterfind(f"{{*}}{name}Pr/*")}
    parts = defaultdict[str, str](str)
    cells = [write_formula(cell) for cell in element.iterfind("{*}e")]
    for part in element:
        text = write_formula(part)
        parts[get_local_name(part)] = text
        parts[f"{get_local_name(part)}_"] = _bracket(text)
    if name == "f" and signs.get("type") == "noBar":
        return f"({parts['num']} {parts['den']})"
    if name in _FORMS:
        return _FORMS[name].format_map(parts)
    match name:
        case "rad":
            return _ROOTS.get(parts["deg"], f"^{parts['deg_']}√") + parts["e_"]
        case "nary":
            limits = [f"{sign}{parts[limit]}" for sign, limit in (("_", "sub_"), ("^", "sup_")) if parts[limit]]
            return f"{signs.get('chr', '∫')}{''.join(limits)} {parts['e']}"
        case "d":
            inner = signs.get("sepChr", "|").join(cells)
            return f"{signs.get('begChr', '(')}{inner}{signs.get('endChr', ')')}"
        case "acc":
            return parts["e"] + signs.get("chr", _HAT)
        case "m":
            rows = [", ".join(map(write_formula, row.iterfind("{*}e"))) for row in element.iterfind("{*}mr")]
            return f"[{'; '.join(rows)}]"
        case "eqArr":
            return "; ".join(cells)
        case _:
            return write_formula(element)


def _bracket(text: str) -> str:
    """Put a text into brackets, unless it is one word, number or sign."""
    is_whole = len(text) <= 1 or text.replace(".", "").isalnum()
    is_bracketed = text.startswith("(") and text.find(")") == len(text) - 1
    return text if is_whole or is_bracketed else f"({text})"
