"""What the styles and lists of a Word document say about a paragraph: its outline level, looks and number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from roamtui.sources.convert.numbering import ListCounter, ListLevel
from roamtui.sources.convert.zip_package import get_attribute, get_local_name

LEVELS_MAX = 9
"""Number of outline levels. The level after the last is body text."""
_HEADING_NAME = re.compile("heading ?([1-9])", re.IGNORECASE)
_FALSE = frozenset({"0", "false", "off", "none"})
_BULLET = "bullet"


class Style(Struct, frozen=True, kw_only=True):
    """A style with what it inherits."""

    name: str = ""
    """In lower case."""
    level: int | None = None
    """0-based outline level."""
    number_id: str = ""
    number_level: int | None = None
    looks: Mapping[str, str]
    """The value of each property of its text, such as `b` for bold, by name."""


class StyleSheet:
    """Resolves the styles of a document by their ids. A style may be based on one that is listed later."""

    def __init__(self, root: Any) -> None:
        elements = [*root.iter("{*}style")]
        self._elements = {get_attribute(element, "styleId"): element for element in elements}
        self._styles: dict[str, Style] = {}
        defaults = (get_attribute(e, "styleId") for e in elements if get_attribute(e, "default") in ("1", "true"))
        self._paragraph_default = next(
            (key for key in defaults if get_attribute(self._elements[key], "type") == "paragraph"), ""
        )

    def get_paragraph_style(self, style_id: str) -> Style:
        """Return a style of paragraphs, or the default style if the paragraph names none."""
        return self.get_style(style_id or self._paragraph_default)

    def get_style(self, style_id: str) -> Style:
        """Return a style. One that is not defined has only its id as its name."""
        if style_id not in self._styles:
            self._styles[style_id] = self._resolve(style_id)
        return self._styles[style_id]

    def _resolve(self, style_id: str) -> Style:
        name, level, number_id, number_level = "", None, "", None
        looks: dict[str, str] = {}
        seen: set[str] = set()
        while style_id and style_id not in seen:
            seen.add(style_id)
            element = self._elements.get(style_id)
            own_name = get_child_value(element, "name") or style_id
            name = name or own_name.lower()
            heading = _HEADING_NAME.fullmatch(own_name)
            outline = get_child_value(element, "pPr/{*}outlineLvl")
            if level is None and (heading or outline.isdecimal()):
                level = int(heading[1]) - 1 if heading else int(outline)
            if not number_id:
                number_id = get_child_value(element, "pPr/{*}numPr/{*}numId")
                own_level = get_child_value(element, "pPr/{*}numPr/{*}ilvl")
                number_level = int(own_level) if own_level.isdecimal() else None
            looks = {**read_looks(element), **looks}
            style_id = get_child_value(element, "basedOn")
        return Style(name=name, level=level, number_id=number_id, number_level=number_level, looks=looks)


def get_child_value(element: Any, path: str) -> str:
    """Return the value of an element below another one, or an empty string."""
    found = element.find(f"{{*}}{path}") if element is not None else None
    return get_attribute(found, "val") if found is not None else ""


def read_looks(element: Any) -> dict[str, str]:
    """Return the values of the properties of text in the `rPr` of an element. One without a value is on."""
    found = element.find("{*}rPr") if element is not None else None
    if found is None:
        return {}
    looks = {get_local_name(child): get_attribute(child, "val") or "1" for child in found}
    fonts = found.find("{*}rFonts")
    if fonts is not None:
        looks["rFonts"] = get_attribute(fonts, "ascii")
    return looks


def has_look(looks: Mapping[str, str], name: str) -> bool:
    """Check whether a property such as `b` is on."""
    return looks.get(name, "0").lower() not in _FALSE


class Numbering:
    """Counts the numbered paragraphs of a document."""

    def __init__(self, root: Any, styles: StyleSheet) -> None:
        self._lists = {get_attribute(each, "abstractNumId"): each for each in root.iter("{*}abstractNum")}
        self._numbers = {get_attribute(each, "numId"): each for each in root.iter("{*}num")}
        self._styles = styles
        self._levels: dict[str, dict[int, ListLevel]] = {}
        self._counters: dict[str, ListCounter] = {}

    def count_paragraph(self, number_id: str, level: int | None, style_id: str) -> tuple[str, int, bool] | None:
        """Count a paragraph. Return its number, its level and whether it has a bullet, or None if it is in no list."""
        list_id = self._find_list(number_id)
        if list_id is None:
            return None
        if level is None:
            level = self._find_level(list_id, style_id)
        if number_id not in self._levels:
            self._begin(number_id, list_id)
        levels = self._levels[number_id]
        shape = levels.get(level, ListLevel())
        number = self._counters[list_id].count_item(level, levels)
        return ("", level, True) if shape.kind == _BULLET else (number, level, False)

    def _find_list(self, number_id: str) -> str | None:
        """Return the id of the list that defines the numbers, also if a style refers to it."""
        seen: set[str] = set()
        while number_id in self._numbers and number_id not in seen:
            seen.add(number_id)
            list_id = get_child_value(self._numbers[number_id], "abstractNumId")
            link = get_child_value(self._lists.get(list_id), "numStyleLink")
            if not link:
                return list_id if list_id in self._lists else None
            number_id = self._styles.get_style(link).number_id
        return None

    def _find_level(self, list_id: str, style_id: str) -> int:
        for level in self._lists[list_id].iterfind("{*}lvl"):
            if style_id and get_child_value(level, "pStyle") == style_id:
                return _read_number(get_attribute(level, "ilvl"), 0)
        return 0

    def _begin(self, number_id: str, list_id: str) -> None:
        """Read the levels of a list, and restart the levels for which this use of it says so."""
        counter = self._counters.setdefault(list_id, ListCounter())
        levels = dict(map(_read_level, self._lists[list_id].iterfind("{*}lvl")))
        for override in self._numbers[number_id].iterfind("{*}lvlOverride"):
            levels |= dict(map(_read_level, override.iterfind("{*}lvl")))
            start = get_child_value(override, "startOverride")
            if start:
                counter.restart(_read_number(get_attribute(override, "ilvl"), 0), _read_number(start, 1))
        self._levels[number_id] = levels


def _read_level(element: Any) -> tuple[int, ListLevel]:
    is_legal = element.find("{*}isLgl") is not None
    return _read_number(get_attribute(element, "ilvl"), 0), ListLevel(
        kind=get_child_value(element, "numFmt") or "decimal",
        pattern=get_child_value(element, "lvlText"),
        start=_read_number(get_child_value(element, "start"), 1),
        is_legal=is_legal and get_child_value(element, "isLgl") not in _FALSE,
    )


def _read_number(value: str, default: int) -> int:
    return int(value) if re.fullmatch("[0-9]{1,6}", value) else default
