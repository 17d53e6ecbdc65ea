"""Readers of other projects, with which `conversion.py` compares converters: pandoc, openpyxl and python-pptx.

What docs/sources.md leaves out is taken out of what they read, by rules of the XML, never by words.
"""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from lxml import etree

_TEX_COMMAND = re.compile(r"\\[A-Za-z]+")
_ENDS = {"Image": " ", "Para": "\n", "Plain": "\n", "Header": "\n"}
_HIDDEN_DOCX = (
    "//*[local-name()='r'][*[local-name()='rPr']/*[local-name()='vanish'][not(@*='0' or @*='false' or @*='off')]]"
    " | //*[local-name()='tblCaption' or local-name()='tblDescription']"
)
_HIDDEN_NAMES = "tracked-changes annotation annotation-end table-of-content bibliography hidden-text hidden-paragraph"
_HIDDEN_ODT = (
    f"//*[contains(' {_HIDDEN_NAMES} ', concat(' ', local-name(), ' '))]"
    " | //*[substring(local-name(), string-length(local-name()) - 5) = '-index']"
    " | //*[local-name()='section' and @*[local-name()='display']='none']"
    " | //*[@*[local-name()='style-name'] = //*[local-name()='style'][*/@*[local-name()='display']='none']"
    "/@*[local-name()='name']]"
)


def read_by_pandoc(data: bytes, kind: str) -> str:
    """Read a file by pandoc, with its notes at the end and the texts of merged cells in each row and column."""
    command = ["pandoc", "-f", kind, "-t", "json"]
    run = subprocess.run(command, input=data, capture_output=True, check=True, timeout=300)
    notes: list[Any] = []
    text = "".join(_walk(json.loads(run.stdout)["blocks"], notes))
    return text + "\n".join("".join(_walk(note, [])) for note in notes)


def _walk(node: Any, notes: list[Any]) -> Iterator[str]:  # noqa: ANN401 - JSON
    match node:
        case {"t": "Str" | "Space" | "SoftBreak" | "LineBreak"}:
            yield node.get("c", " ")
        case {"t": "RawInline", "c": [_, text]}:
            yield " " if text.startswith("<br") else ""
        case {"t": "RawBlock", "c": [_, text]}:
            yield re.sub("<[^>]*>", " ", text) + "\n"
        case {"t": "Code" | "CodeBlock" as kind, "c": [_, text]}:
            yield text + "\n" * (kind == "CodeBlock")
        case {"t": "Math", "c": [_, text]}:
            yield _TEX_COMMAND.sub(" ", text)
        case {"t": "Image", "c": [_, content, _]}:
            yield " "
            yield from _walk(content, notes)
            yield " "
        case {"t": "Note", "c": content}:
            notes.append(content)
        case {"t": kind, "c": content}:
            yield " " if kind == "Image" else ""
            yield from _walk(content, notes)
            yield _ENDS.get(kind, "")
        case list():
            for each in node:
                yield from _walk(each, notes)
        case _:  # attributes and measures
            pass


def parse_part(name: str, part: bytes) -> Any:  # noqa: ANN401 - lxml has no types
    """Parse a part of an archive. One that is not XML has no elements."""
    is_xml = name.endswith(("xml", ".rels")) and part.strip()
    return etree.fromstring(part, etree.XMLParser(recover=True)) if is_xml else etree.Element("empty")


def remove_elements(data: bytes, path: str) -> bytes:
    """Return an archive without the elements of its XML that an XPath finds."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(stream, "w") as changed:
        for name in archive.namelist():
            part = archive.read(name)
            root = parse_part(name, part)
            found = root.xpath(path)
            for each in found:
                each.clear(keep_tail=True)
            part = etree.tostring(root) if found else part
            changed.writestr(name, part)
    return stream.getvalue()


def read_docx(data: bytes) -> str:
    return read_by_pandoc(remove_elements(data, _HIDDEN_DOCX), "docx")


def read_odt(data: bytes) -> str:
    return read_by_pandoc(remove_elements(data, _HIDDEN_ODT), "odt")


def read_pptx(data: bytes) -> str:
    from pptx import Presentation  # noqa: PLC0415 - in an environment of its own

    lines: list[str] = []
    for slide in Presentation(io.BytesIO(data)).slides:
        lines += _list_shape_texts(slide.shapes)
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        lines += [notes.text] if notes is not None else []
    return "\n".join(lines)


def _list_shape_texts(shapes: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx
    for shape in shapes:
        is_edge = shape.is_placeholder and shape.placeholder_format.type in (13, 14, 15, 16)
        if shape.shape_type == 6:
            yield from _list_shape_texts(shape.shapes)
        elif shape.has_text_frame and not is_edge:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from (cell.text for row in shape.table.rows for cell in row.cells if not cell.is_spanned)
        elif shape._element.tag.endswith("}pic"):
            yield shape._element._nvXxPr.cNvPr.get("descr", "")


def read_xlsx(data: bytes) -> str:
    """Read the saved values of a workbook, without their formats but dates and percents."""
    from openpyxl import load_workbook  # noqa: PLC0415 - in an environment of its own
    from openpyxl.utils.escape import unescape  # noqa: PLC0415

    lines: list[str] = []
    for sheet in load_workbook(io.BytesIO(data), data_only=True).worksheets:
        lines.append(sheet.title if any(map(any, sheet.values)) else "")
        cells = (cell for row in sheet.iter_rows() for cell in row)
        lines += (unescape(_write_value(cell.value, cell.number_format)) for cell in cells)
    return "\n".join(lines)


def _write_value(value: object, number_format: str) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() | date() | time():
            return str(value).removesuffix(" 00:00:00")
        case timedelta():
            seconds = round(value.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        case int() | float():
            return f"{value * 100 if '%' in number_format else value:.15g}"
        case _:
            return str(value)


READERS: dict[str, Callable[[bytes], str]] = {
    "docx": read_docx,
    "odt": read_odt,
    "pptx": read_pptx,
    "xlsx": read_xlsx,
}
"""The independent reader of each format."""
