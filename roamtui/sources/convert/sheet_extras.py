"""What python-calamine does not read of a workbook: links, text boxes and raised figures, from the XML itself."""

from __future__ import annotations

import html
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from lxml import etree
from msgspec import Struct

from roamtui.sources.convert.html_tree import make_absolute_href
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_XML_BYTES_MAX = 20_000_000
"""The tree of a larger part does not fit into the memory of the subprocess."""
_LINKED_CELLS_MAX = 10_000
"""Maximum number of cells of an area that has one link."""
_LINK = re.compile(r"<(?:\w+:)?hyperlink\s[^>]*>")
_LINK_FORMULA = re.compile(
    r'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3}[0-9]{1,7})"[^>]*>\s*<(?:\w+:)?f[^>]*>HYPERLINK\(&quot;([^&"]*)&quot;|'
    r'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3}[0-9]{1,7})"[^>]*>\s*<(?:\w+:)?f[^>]*>HYPERLINK\("([^"]*)"'
)
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_ADDRESS = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_RAISED_START, _RAISED_END = "\ue002", "\ue003"
MARKS = re.compile(f"[{_RAISED_START}{_RAISED_END}]")
"""Characters around a raised text, while it is in a cell."""


class SheetExtras(Struct, frozen=True, kw_only=True):
    """Links and text boxes of a sheet."""

    links: dict[tuple[int, int], str] = {}
    """Targets by 0-based row and column."""
    boxes: tuple[str, ...] = ()
    """The paragraphs of its text boxes."""


NO_EXTRAS = SheetExtras()


def unmark(text: str) -> str:
    """Write raised texts in Markdown."""
    return text.replace(_RAISED_START, "<sup>").replace(_RAISED_END, "</sup>")


def read_extras(package: ZipPackage) -> dict[str, SheetExtras]:
    """Return what each sheet of an Excel workbook has besides cells, by the name of the sheet."""
    targets = _read_targets(package, "xl/workbook.xml")
    extras: dict[str, SheetExtras] = {}
    for sheet in package.parse("xl/workbook.xml").iter("{*}sheet"):
        part = targets.get(get_attribute(sheet, "id"), "")
        content = package.read(part).decode("utf-8", "replace")
        own_targets = _read_targets(package, part)
        drawings = [target for target in own_targets.values() if "/drawings/drawing" in target]
        extras[sheet.get("name", "")] = SheetExtras(
            links=dict(_iter_links(content, own_targets)),
            boxes=tuple(text for drawing in drawings for text in _iter_box_texts(package, drawing)),
        )
    return extras


def _read_targets(package: ZipPackage, part: str) -> dict[str, str]:
    """Return the part or URL that each id in a part refers to."""
    folder, name = posixpath.split(part)
    targets: dict[str, str] = {}
    for each in package.parse(f"{folder}/_rels/{name}.rels").iter("{*}Relationship"):
        target = each.get("Target", "")
        is_external = each.get("TargetMode") == "External"
        inside = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        targets[each.get("Id", "")] = target if is_external else inside
    return targets


def _iter_links(content: str, targets: dict[str, str]) -> Iterator[tuple[tuple[int, int], str]]:
    for link in _LINK.findall(content):
        attributes = {name.rpartition(":")[2]: value for name, value in _ATTRIBUTE.findall(link)}
        target = make_absolute_href(html.unescape(targets.get(attributes.get("id", ""), "")), None)
        if target:
            yield from ((cell, target) for cell in _iter_cells(attributes.get("ref", "")))
    for groups in _LINK_FORMULA.findall(content):
        reference, target = (first or second for first, second in zip(groups[:2], groups[2:], strict=True))
        if target := make_absolute_href(html.unescape(target), None):
            yield from ((cell, target) for cell in _iter_cells(reference))


def _iter_cells(area: str) -> Iterator[tuple[int, int]]:
    """Yield the 0-based row and column of each cell in an area such as `B2:C5`."""
    corners = [(int(row) - 1, _read_column(column)) for column, row in _ADDRESS.findall(area)]
    if corners:
        (top, left), (bottom, right) = corners[0], corners[-1]
        if (bottom - top + 1) * (right - left + 1) <= _LINKED_CELLS_MAX:
            yield from ((row, column) for row in range(top, bottom + 1) for column in range(left, right + 1))


def _read_column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _iter_box_texts(package: ZipPackage, drawing: str) -> Iterator[str]:
    for body in package.parse(drawing).iter("{*}txBody"):
        for paragraph in body.iterfind("{*}p"):
            text = " ".join("".join(part.text or "" for part in paragraph.iter("{*}t")).split())
            if text:
                yield text


def mark_raised(package: ZipPackage, data: bytes) -> bytes:
    """Return a workbook with marks around its raised texts, which would otherwise join the text before them."""
    changed: dict[str, bytes] = {}
    for part in package.list_names("xl/sharedStrings.xml", "content.xml"):
        content = package.read(part)
        if len(content) <= _XML_BYTES_MAX and (b'"superscript"' in content or b'text-position="' in content):
            root = package.parse(part)
            for text in _iter_raised(root):
                text.text = f"{_RAISED_START}{text.text}{_RAISED_END}" if text.text else text.text
            changed[part] = etree.tostring(root)
    if not changed:
        return data
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in package.list_names(""):
            archive.writestr(name, changed.get(name) or package.read(name))
    return stream.getvalue()


def _iter_raised(root: Any) -> Iterator[Any]:  # noqa: ANN401 - lxml has no types
    """Yield the elements that have a raised text in their cell."""
    for look in root.iter("{*}vertAlign"):
        if look.get("val") == "superscript":
            yield from look.getparent().getparent().iterfind("{*}t")
    raised = {
        get_attribute(style, "name")
        for style in root.iter("{*}style")
        for look in style.iterfind("{*}text-properties")
        if get_attribute(look, "text-position").startswith("super")
    }
    for span in root.iter("{*}span"):
        if get_attribute(span, "style-name") in raised and get_local_name(span) == "span":
            yield span
