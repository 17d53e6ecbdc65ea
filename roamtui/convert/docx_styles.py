"""Reads the level, formatting and number of paragraphs from the styles and lists of a Word document."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.list_numbers import ListCounter, ListLevel, is_known_kind
from roamtui.convert.xml_elements import get_attribute, get_local_name, is_true, parse_int

BODY_LEVEL = 9
"""Outline level of text that is not a heading."""
_HEADING_NAME = re.compile("heading ?([1-9])", re.IGNORECASE)


class Style(Struct, frozen=True, kw_only=True):
    """The properties of a style, or of a paragraph with its style."""

    names: tuple[str, ...] = ()
    """Its name and the names of the styles that it is based on, in lower case."""
    level: int = BODY_LEVEL
    """0-based outline level."""
    number_id: str = ""
    number_level: int = -1
    """0-based level in a list, or -1 if the list has a level for this style."""
    formatting: Mapping[str, str] = {}
    """The value of each property of its text, such as `b` for bold, by name."""


class StyleSheet:
    """Resolves the styles of a document by their ids. A style may be based on one that is listed later."""

    def __init__(self, root: Any) -> None:
        self._elements = {get_attribute(element, "styleId"): element for element in root.iter("{*}style")}
        self._styles: dict[str, Style] = {}
        self._paragraph_default = ""
        for key, element in reversed(self._elements.items()):
            is_default = is_true(get_attribute(element, "default"))
            if is_default and get_attribute(element, "type") == "paragraph":
                self._paragraph_default = key

    def get_style(self, style_id: str) -> Style:
        """Return a style with its inherited values. An undefined style has only a name, its id."""
        if style_id not in self._styles:
            chain: dict[str, Any] = {}
            key = style_id
            while key and key not in chain:
                chain[key] = self._elements.get(key)
                key = get_child_value(chain[key], "basedOn")
            style = Style()
            for key, element in reversed(chain.items()):
                style = _inherit(style, element, (get_child_value(element, "name") or key).lower())
            self._styles[style_id] = style
        return self._styles[style_id]

    def read_paragraph(self, paragraph: Any) -> Style:
        """Return the style of a paragraph, with the paragraph's own values."""
        style_id = get_child_value(paragraph, "pPr/{*}pStyle") or self._paragraph_default
        return _inherit(self.get_style(style_id), paragraph)


def _inherit(style: Style, element: Any, name: str = "") -> Style:
    heading = _HEADING_NAME.fullmatch(name)
    outline = str(int(heading[1]) - 1) if heading else get_child_value(element, "pPr/{*}outlineLvl")
    return Style(
        names=(name, *style.names) if name else style.names,
        level=max(0, parse_int(outline, style.level)),
        number_id=get_child_value(element, "pPr/{*}numPr/{*}numId") or style.number_id,
        number_level=parse_int(get_child_value(element, "pPr/{*}numPr/{*}ilvl"), style.number_level),
        formatting={**style.formatting, **read_formatting(element)} if name else style.formatting,
    )


def get_child_value(element: Any, path: str) -> str:
    """Return the `val` of the element at `path` below `element`, or an empty string."""
    child = element.find(f"{{*}}{path}") if element is not None else None
    return get_attribute(child, "val") if child is not None else ""


def read_formatting(element: Any) -> dict[str, str]:
    """Return the text properties in the `rPr` of an element. A property without a value gets "1", for on."""
    properties = element.find("{*}rPr") if element is not None else None
    if properties is None:
        return {}
    formatting = {get_local_name(child): get_attribute(child, "val") or "1" for child in properties}
    fonts = properties.find("{*}rFonts")
    if fonts is not None:
        formatting["rFonts"] = get_attribute(fonts, "ascii")
    return formatting


def has_format(formatting: Mapping[str, str], name: str) -> bool:
    """Return whether a property such as `b` is on."""
    return is_true(formatting.get(name))


def is_on(element: Any, path: str) -> bool:
    """Return whether `element` has an element at `path` that is not switched off."""
    child = element.find(f"{{*}}{path}") if element is not None else None
    return child is not None and is_true(get_attribute(child, "val") or "1")


class Numbering:
    """Counts the numbered paragraphs of a document."""

    def __init__(self, root: Any, styles: StyleSheet) -> None:
        self._lists = {get_attribute(each, "abstractNumId"): each for each in root.iter("{*}abstractNum")}
        self._numbers = {get_attribute(each, "numId"): each for each in root.iter("{*}num")}
        self._styles = styles
        self._levels: dict[str, dict[int, ListLevel]] = {}
        self._counters: dict[str, ListCounter] = {}
        self.decimal_kinds: dict[str, None] = {}
        """The kinds of numbers that this program writes as decimals, unlike Word."""

    def count_paragraph(self, paragraph: Any, style: Style) -> tuple[str, int, bool]:
        """Count a paragraph. Return its number, its level in the list from 0, and whether it has a bullet."""
        number = self._numbers.get(style.number_id)
        list_id = get_child_value(number, "abstractNumId")
        link = get_child_value(self._lists.get(list_id), "numStyleLink")
        if link:
            number = self._numbers.get(self._styles.get_style(link).number_id)
            list_id = get_child_value(number, "abstractNumId")
        if list_id not in self._lists:
            return "", 0, False
        counter = self._counters.setdefault(list_id, ListCounter())
        if style.number_id not in self._levels:
            self._levels[style.number_id] = self._read_levels(list_id, number, counter)
        levels = self._levels[style.number_id]
        level = style.number_level
        if level < 0:
            style_id = get_child_value(paragraph, "pPr/{*}pStyle")
            owners = self._lists[list_id].iterfind("{*}lvl/{*}pStyle")
            owner = next((each for each in owners if get_attribute(each, "val") == style_id), None)
            level = 0 if owner is None else parse_int(get_attribute(owner.getparent(), "ilvl"), 0)
        text = counter.count_item(level, levels)
        if level in levels and not is_known_kind(levels[level].kind):
            self.decimal_kinds[levels[level].kind] = None
        has_bullet = level in levels and levels[level].kind == "bullet"
        return "" if has_bullet else text, level, has_bullet

    def _read_levels(self, list_id: str, number: Any, counter: ListCounter) -> dict[int, ListLevel]:
        """Read the levels of a list. Restart the levels that this use of the list starts again."""
        levels = dict(map(_read_level, self._lists[list_id].iterfind("{*}lvl")))
        for override in number.iterfind("{*}lvlOverride"):
            levels |= dict(map(_read_level, override.iterfind("{*}lvl")))
            if start := get_child_value(override, "startOverride"):
                level = parse_int(get_attribute(override, "ilvl"), 0)
                levels[level] = replace(levels.get(level, ListLevel()), start=parse_int(start, 1))
                counter.restart(level, levels[level].start)
        return levels


def _read_level(element: Any) -> tuple[int, ListLevel]:
    index = parse_int(get_attribute(element, "ilvl"), 0)
    restart = parse_int(get_child_value(element, "lvlRestart"), index)
    shape = element.find("{*}numFmt")
    kind = "decimal" if shape is None else get_attribute(shape, "val")
    if kind == "custom":
        first = get_attribute(shape, "format").partition(",")[0].strip()
        kind = first if first.isdecimal() else kind
    return index, ListLevel(
        kind=kind,
        pattern=get_child_value(element, "lvlText"),
        start=parse_int(get_child_value(element, "start")),
        restart_level=min(index, restart),
        is_legal=is_on(element, "isLgl"),
    )
