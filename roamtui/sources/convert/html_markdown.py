"""The simple HTML of `html_cleaning` as Markdown, in which only headings begin like headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from roamtui.sources.convert.escaping import escape_line_starts, escape_marks, write_code, write_heading
from roamtui.sources.convert.html_elements import HEADINGS, VOID
from roamtui.sources.convert.html_tokens import Tag

_BRACKETS = re.compile(r"[\[\]\\]")
_LINES = re.compile("^(?=.)", re.MULTILINE)
_WHOLE_LINE = re.compile("^(.*)", re.MULTILINE)
_TICKS = re.compile("`+")
_CODE = frozenset({"pre", "code", "kbd", "samp", "tt"})
_IN_ONE_LINE = HEADINGS | {"td"}
_MARKS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}


@dataclass(slots=True)
class _Element:
    name: str
    attributes: dict[str, str]
    children: list[_Element | str] = field(default_factory=list)


class _Place(NamedTuple):
    """Where an element stands."""

    around: frozenset[str]
    """Names of all elements around it."""
    parent: str
    following: str
    """Name of the element right after it, empty where none is."""


def write_markdown(pieces: Iterable[Tag | str]) -> str:
    """Return simple HTML as Markdown, at most one empty line between its blocks."""
    return _write_children(_build(pieces), frozenset()).strip()


def _build(pieces: Iterable[Tag | str]) -> _Element:
    """Return an element of all; what ends in them without a start is passed over."""
    opened = [_Element("", {})]
    for piece in pieces:
        children = opened[-1].children
        if isinstance(piece, str):
            before = children.pop() if children and isinstance(children[-1], str) else ""
            children.append(f"{before}{piece}")
        elif not piece.is_end:
            element = _Element(piece.name, piece.attributes)
            children.append(element)
            if piece.name not in VOID:
                opened.append(element)
        elif any(element.name == piece.name for element in opened[1:]):
            while opened.pop().name != piece.name:
                pass
    return opened[0]


def _write_children(element: _Element, around: frozenset[str]) -> str:
    parts: list[str] = []
    ends = 0
    for child, following in pairwise([*element.children, ""]):
        if isinstance(child, str):
            parts.append(child if around & _CODE else escape_marks(child))
            ends = 0
            continue
        name = following.name if isinstance(following, _Element) else ""
        part = _write(child, _Place(around, element.name, name))
        if not part:
            continue
        begins = len(part) - len(part.lstrip("\n"))
        if ends and begins:
            part = part[min(ends, begins) :]
        ends = len(part) - len(part.rstrip("\n"))
        parts.append(part)
    return "".join(parts)


def _write(element: _Element, place: _Place) -> str:
    text = _write_children(element, place.around | {element.name})
    if element.name in HEADINGS:
        return f"\n\n{write_heading(int(element.name[1]), text)}\n\n"
    if element.name in _MARKS or element.name in _WRITERS_IN_LINES:
        return _write_in_line(element, text, place)
    return _WRITERS[element.name](element, text, place)


def _write_in_line(element: _Element, text: str, place: _Place) -> str:
    """Return an element within a line, blanks at the ends of its text outside of its marks."""
    inner = text.strip()
    if place.around & _CODE or not inner:
        return text if place.around & _CODE else ""
    mark = _MARKS.get(element.name)
    if mark is None:
        inner = _WRITERS_IN_LINES[element.name](element, inner)
    elif not any(_MARKS.get(name) == mark for name in place.around):
        inner = f"{mark}{inner}{mark}"
    else:
        return text
    return " " * text.startswith(" ") + inner + " " * text.endswith(" ")


def _write_link(element: _Element, text: str) -> str:
    address = element.attributes["href"]
    return f"<{address}>" if text.replace(r"\_", "_") == address else f"[{text}]({address})"


def _write_code_words(_element: _Element, text: str) -> str:
    ticks = max(map(len, _TICKS.findall(text)), default=0)
    fence, blank = "`" * (ticks + 1), " " * bool(ticks)
    return f"{fence}{blank}{text}{blank}{fence}"


def _write_line(_element: _Element, text: str, place: _Place) -> str:
    """Return a line of text as a paragraph, close to the list that it introduces."""
    text = escape_line_starts("\n".join(line.strip() for line in text.strip().split("\n")))
    if place.parent == "tr":
        return f" {text} |"
    return f"\n\n{text}\n" if place.parent == "li" and place.following in ("ul", "ol") else f"\n\n{text}\n\n"


def _write_quote(_element: _Element, text: str, _place: _Place) -> str:
    quoted = _WHOLE_LINE.sub(lambda line: f"> {line[1]}" if line[1] else ">", text.strip())
    return f"\n{quoted}\n\n" if text.strip() else "\n"


def _write_list(_element: _Element, text: str, place: _Place) -> str:
    if "li" in place.around:
        return "\n" + text.rstrip()
    return f"\n\n{text}" + "\n" * (place.following not in ("", "ul", "ol"))


def _write_item(element: _Element, text: str, _place: _Place) -> str:
    text = text.strip()
    mark = f"{element.attributes.get('mark', '-')} "
    return mark + _LINES.sub(" " * len(mark), text)[len(mark) :] + "\n" if text else ""


def _write_cell(_element: _Element, text: str, _place: _Place) -> str:
    bar = r"\|"
    return f" {' '.join(text.split()).replace('|', bar)} |"


def _write_row(element: _Element, text: str, _place: _Place) -> str:
    """Return a row of a table, the first with the rule that makes it one."""
    row = f"|{text}\n"
    columns = int(element.attributes.get("columns", "0"))
    if not columns:
        return row
    rule = f"|{' --- |' * columns}\n"
    return row + rule if "is-head" in element.attributes else f"|{' |' * columns}\n{rule}{row}"


def _write_code_block(element: _Element, text: str, _place: _Place) -> str:
    text = text.strip("\n")
    return f"\n\n{write_code(text.rstrip(), element.attributes.get('language', ''))}\n\n" if text.strip() else ""


def _write_image(element: _Element, _text: str, _place: _Place) -> str:
    alt = _BRACKETS.sub(r"\\\g<0>", element.attributes["alt"])
    return f"![{alt}]({element.attributes['src']})"


_WRITERS_IN_LINES: dict[str, Callable[[_Element, str], str]] = {
    "a": _write_link,
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _write_code_words),
}
_WRITERS: dict[str, Callable[[_Element, str, _Place], str]] = {
    "line": _write_line,
    "blockquote": _write_quote,
    "ul": _write_list,
    "ol": _write_list,
    "li": _write_item,
    "table": lambda _element, text, _place: f"\n\n{text.strip()}\n\n",
    "tr": _write_row,
    "td": _write_cell,
    "pre": _write_code_block,
    "img": _write_image,
    "q": lambda _element, text, _place: f'"{text}"',
    "br": lambda _element, _text, place: " " if place.around & _IN_ONE_LINE else "\\\n",
    "hr": lambda _element, _text, _place: "\n\n***\n\n",  # no front matter, nor the underline of a heading
}
