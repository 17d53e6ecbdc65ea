"""Reads formatting, outline levels and list numbers from the styles of an OpenDocument text."""

import re
from typing import Any

from msgspec import Struct

from roamtui.convert.list_numbers import ListCounter, ListLevel
from roamtui.convert.xml_elements import get_attribute, get_local_name, parse_int

_KINDS = (
    "font-weight",
    "font-style",
    "text-position",
    "text-line-through-style",
    "display",
    "font-name",
    "default-outline-level",
)
_POSITION = re.compile(r"(?P<super>super\b|[1-9]\d*%\s)|(?P<sub>sub\b|-[1-9])")
"""A raised or lowered text position. A number is a percentage of the height."""

_HEADING = re.compile(r"Heading_20_(\d+)")
"""The name of a heading's style. In a text that was made from HTML, only the name has the level."""


class OdtStyle(Struct, frozen=True, kw_only=True):
    """A style with its inherited values."""

    names: frozenset[str] = frozenset()
    """Its name and those of the styles that it inherits from."""
    formatting: frozenset[str] = frozenset()
    """Names such as `bold` or `super`."""
    font: str = ""
    outline_level: int = 0
    """1-based outline level, or 0 for body text."""
    is_unnumbered: bool = False
    """Whether a heading in this style has no number."""


class OdtStyles:
    """Resolves styles by family and name. A style may inherit from one that is listed later."""

    def __init__(self, *roots: Any) -> None:
        self._elements = {
            (get_attribute(style, "family"), get_attribute(style, "name")): style
            for root in roots
            for style in root.iter("{*}style")
        }
        self._styles: dict[tuple[str, str], OdtStyle] = {}

    def get_style(self, family: str, name: str) -> OdtStyle:
        """Return a style. An undefined style has only its name."""
        if (family, name) not in self._styles:
            self._styles[family, name] = self._resolve(family, name)
        return self._styles[family, name]

    def _resolve(self, family: str, name: str) -> OdtStyle:
        chain: dict[str, Any] = {}
        while name and name not in chain:
            chain[name] = self._elements.get((family, name))
            name = get_attribute(chain[name], "parent-style-name") if chain[name] is not None else ""
        values: dict[str, str] = {}
        for element in reversed([each for each in chain.values() if each is not None]):
            for part in (element, *element.iterfind("{*}text-properties")):
                values |= {kind: value for kind in _KINDS if (value := get_attribute(part, kind))}
            lists = [value for key, value in element.attrib.items() if key.endswith("}list-style-name")]
            values |= {"list-style-name": lists[0]} if lists else {}
        usual_level = next((match[1] for match in map(_HEADING.fullmatch, chain) if match), "")
        level = values.get("default-outline-level", usual_level)
        formatting = {values.get("font-weight"), values.get("font-style")}
        position = _POSITION.match(values.get("text-position", ""))
        formatting.add(position.lastgroup if position else None)
        formatting.add("struck" if values.get("text-line-through-style", "none") != "none" else None)
        formatting.add("hidden" if values.get("display") == "none" else None)
        formatting.add("code" if "Source_20_Text" in chain else None)
        return OdtStyle(
            names=frozenset(chain),
            formatting=frozenset(filter(None, formatting)),
            font=values.get("font-name", ""),
            outline_level=max(0, parse_int(level)),
            is_unnumbered=values.get("list-style-name") == "",
        )


class OdtLists:
    """Counts headings, and the items of the lists that are open."""

    def __init__(self, *roots: Any) -> None:
        self._levels = {
            get_attribute(style, "name"): _read_levels(style)
            for root in roots
            for style in root.iter("{*}list-style")
        }
        outlines = (style for root in roots for style in root.iter("{*}outline-style"))
        self._outline = _read_levels(next(outlines, None))
        self._headings = ListCounter()
        self._counters: dict[str, ListCounter] = {}
        """The counters of lists, by the name of the list style and by the id of the list."""
        self._open: list[tuple[str, ListCounter, int]] = []
        """Style, counter and level of each list that is open."""

    def count_heading(self, heading: Any, level: int) -> str:
        """Count a heading. Return its number, or "" if headings have none."""
        if get_attribute(heading, "is-list-header") == "true" or not self._outline:
            return ""
        if get_attribute(heading, "restart-numbering") == "true":
            self._headings.restart(level - 1, parse_positive_int(heading, "start-value"))
        return self._headings.count_item(level - 1, self._outline)

    def enter(self, element: Any) -> None:
        """Open a list. One inside an item of another list is a level of that, but not one in a box of it."""
        name = get_attribute(element, "style-name")
        if self._open and get_local_name(element.getparent()) in ("list-item", "list-header"):
            around, counter, level = self._open[-1]
            self._open.append((name or around, counter, level + 1))
            return
        continued = get_attribute(element, "continue-list")
        if not continued and get_attribute(element, "continue-numbering") == "true":
            continued = name
        counter = (self._counters.get(continued) if continued else None) or ListCounter()
        self._counters |= {name: counter, get_attribute(element, "id"): counter}
        self._open.append((name, counter, 0))

    def leave(self) -> None:
        """Close the innermost list."""
        self._open.pop()

    def count_item(self, item: Any) -> str:
        """Count an item of the innermost list. Return its number, or "" if it has a bullet."""
        name, counter, level = self._open[-1]
        if get_attribute(item, "start-value"):
            counter.restart(level, parse_positive_int(item, "start-value"))
        return counter.count_item(level, self._levels.get(name, {}))


def _read_levels(style: Any) -> dict[int, ListLevel]:
    """Return the levels of a list style by their 0-based number."""
    levels: dict[int, ListLevel] = {}
    for element in style if style is not None else ():
        kind = get_attribute(element, "num-format")
        level = parse_positive_int(element, "level") - 1
        if not kind or get_local_name(element) not in ("list-level-style-number", "outline-level-style"):
            continue
        first = max(0, level + 1 - parse_positive_int(element, "display-levels"))
        shown = [f"%{each + 1}" for each in range(first, level + 1) if each in levels or each == level]
        prefix = get_attribute(element, "num-prefix")
        levels[level] = ListLevel(
            kind=kind,
            pattern=f"{prefix}{'.'.join(shown)}{get_attribute(element, 'num-suffix')}",
            start=parse_positive_int(element, "start-value"),
        )
    return levels


def parse_positive_int(element: Any, name: str) -> int:
    """Return the number in an attribute, or 1 if it is missing, not a number, or less than 1."""
    return max(1, parse_int(get_attribute(element, name), 1))
