"""What python-calamine does not read of a workbook: text boxes and raised figures."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from lxml import etree

from roamtui.sources.convert.xml_elements import get_attribute, join_text
from roamtui.sources.convert.zip_package import ZipPackage

_XML_BYTES_MAX = 20_000_000
"""The tree of a larger part does not fit into the memory of the subprocess."""
RAISED_START, RAISED_END = "\ue002", "\ue003"
"""Characters around a raised text, while it is in a cell."""


def read_text_boxes(package: ZipPackage) -> dict[str, list[str]]:
    """Return the paragraphs in the text boxes of each sheet of an Excel workbook, by the sheet's name."""
    parts = package.read_relations("xl/workbook.xml")
    boxes: dict[str, list[str]] = {}
    for sheet in package.parse("xl/workbook.xml").iter("{*}sheet"):
        entry = parts.get(get_attribute(sheet, "id"))
        relations = package.read_relations(entry.target).values() if entry else ()
        drawings = [package.parse(each.target) for each in relations if each.kind == "drawing"]
        paragraphs = (text for each in drawings for text in each.iterfind(".//{*}txBody/{*}p"))
        boxes[sheet.get("name", "")] = [text for each in paragraphs if (text := join_text(each, "{*}t"))]
    return boxes


def mark_raised(package: ZipPackage, data: bytes) -> bytes:
    """Return a workbook with marks around raised texts, which would join the text before them."""
    changed: dict[str, bytes] = {}
    for part in package.list_names("xl/sharedStrings.xml", "content.xml"):
        content = package.read(part)
        if len(content) <= _XML_BYTES_MAX and (b'"superscript"' in content or b'text-position="' in content):
            root = package.parse(part)
            for element in _iter_raised(root):
                element.text = f"{RAISED_START}{element.text}{RAISED_END}" if element.text else None
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
        get_attribute(look.getparent(), "name")
        for look in root.iterfind(".//{*}style/{*}text-properties")
        if get_attribute(look, "text-position").startswith("super")
    }
    for span in root.iter("{*}span"):
        if get_attribute(span, "style-name") in raised:
            yield span
