"""Read what python-calamine leaves out: links, percent signs, errors, text boxes and raised figures."""

import html
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree
from msgspec import Struct

from roamtui.convert.escaping import make_absolute_href
from roamtui.convert.xml_elements import get_attribute, join_text
from roamtui.convert.zip_package import Relation, ZipPackage

_XML_BYTES_MAX = 20_000_000
"""The tree of a larger part does not fit into the memory of the subprocess."""
_LINKED_CELLS_MAX = 10_000
"""Maximum number of cells of an area that has one link."""
_LINK = re.compile(r"<(?:\w+:)?hyperlink\s[^>]*>")
_LINK_FORMULA = re.compile(
    r'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3}[0-9]{1,7})"[^>]*>\s*<(?:\w+:)?f[^>]*>'
    r'HYPERLINK\((?:&quot;|")([^"<]{1,2000}?)(?:&quot;|")'
)
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
RAISED_START, RAISED_END = "\ue002", "\ue003"
"""Characters around a raised text, while it is in a cell."""
_ADDRESS = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_LITERAL = re.compile(r'"[^"]*"|[\\_*].')
"""Characters of a number format that are shown as they are, give the width of a space, or fill a cell."""
_PERCENT_FORMATS = ("9", "10")
"""The formats of Excel itself that show 0.05 as 5 %."""
_FORMULA = r"<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)"
_NOT_COMPUTED = re.compile(r"</f>(?:<v\s?/>|<v></v>)?</c>")
_VALUE = r"<v>(#[^<]{1,20}|-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[Ee][-+]?[0-9]{1,3})?)</v>"


class SheetExtras(Struct, frozen=True, kw_only=True):
    """What a sheet has besides the values of its cells. Cells are found by 0-based row and column."""

    links: dict[tuple[int, int], str] = {}
    """Link targets."""
    values: dict[tuple[int, int], str] = {}
    """Errors, such as `#DIV/0!`, and values with a percent sign."""
    not_computed: int = 0
    """Number of formulas without a saved value. Programs that cannot compute write such formulas."""
    boxes: tuple[str, ...] = ()
    """The paragraphs of its text boxes."""


def read_extras(package: ZipPackage) -> dict[str, SheetExtras]:
    """Return what each sheet of an Excel workbook has besides cells, by the name of the sheet."""
    parts = package.read_relations("xl/workbook.xml")
    shown_cell = _make_cell_pattern(package)
    extras: dict[str, SheetExtras] = {}
    for sheet in package.parse("xl/workbook.xml").iter("{*}sheet"):
        entry = parts.get(get_attribute(sheet, "id"))
        if entry:
            content = package.read(entry.target).decode("utf-8", "replace")
            relations = package.read_relations(entry.target)
            drawings = [package.parse(each.target) for each in relations.values() if each.kind == "drawing"]
            paragraphs = (text for each in drawings for text in each.iterfind(".//{*}txBody/{*}p"))
            extras[sheet.get("name", "")] = SheetExtras(
                links=dict(_iter_links(content, relations)),
                values=dict(_iter_values(shown_cell.findall(content))),
                not_computed=_count_not_computed(content),
                boxes=tuple(text for each in paragraphs if (text := join_text(each, "{*}t"))),
            )
    return extras


def _make_cell_pattern(package: ZipPackage) -> re.Pattern[str]:
    """Return a pattern for the cells that have an error or show a percent sign."""
    root = package.parse("xl/styles.xml")
    own = root.iter("{*}numFmt")
    codes = {each.get("numFmtId") for each in own if "%" in _LITERAL.sub("", each.get("formatCode", ""))}
    codes.update(_PERCENT_FORMATS)
    looks = (look.get("numFmtId") for look in root.iterfind("{*}cellXfs/{*}xf"))
    styles = (str(number) for number, code in enumerate(looks) if code in codes)
    kinds = rf'(?: s="(?:{"|".join(styles) or "-"})"(?: t="n")?|\s[^>]*\bt="e")'
    return re.compile(rf'<c r="([A-Z]{{1,3}}[0-9]{{1,7}})"{kinds}>(?:{_FORMULA})?{_VALUE}')


def _iter_values(cells: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[int, int], str]]:
    for address, value in cells:
        yield next(_iter_cells(address)), value if value[0] == "#" else f"{float(value) * 100:.15g}%"


def _count_not_computed(content: str) -> int:
    ends = [match.start() for match in _NOT_COMPUTED.finditer(content)]
    # The result of a formula may be an empty text.
    return sum('t="str"' not in content[content.rfind("<c ", 0, end) : end] for end in ends)


def _iter_links(content: str, relations: dict[str, Relation]) -> Iterator[tuple[tuple[int, int], str]]:
    targets = _LINK_FORMULA.findall(content) if "HYPERLINK(" in content else []
    for link in _LINK.findall(content):
        attributes = {name.rpartition(":")[2]: value for name, value in _ATTRIBUTE.findall(link)}
        relation = relations.get(attributes.get("id", ""))
        if relation and relation.is_external:
            targets.append((attributes.get("ref", ""), relation.target))
    for area, target in targets:
        if href := make_absolute_href(html.unescape(target), None):
            yield from ((cell, href) for cell in _iter_cells(area))


def _iter_cells(area: str) -> Iterator[tuple[int, int]]:
    """Yield the 0-based row and column of each cell in an area such as `B2:C5`."""
    corners = [(int(row) - 1, _read_column(column)) for column, row in _ADDRESS.findall(area)]
    if corners:
        top, left = corners[0]
        bottom, right = corners[-1]
        if (bottom - top + 1) * (right - left + 1) <= _LINKED_CELLS_MAX:
            yield from ((row, column) for row in range(top, bottom + 1) for column in range(left, right + 1))


def _read_column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def mark_raised(package: ZipPackage, data: bytes) -> bytes:
    """Return a workbook with marks around raised texts, which would join the text before them."""
    changed: dict[str, bytes] = {}
    for part in package.list_names("xl/sharedStrings.xml", "xl/worksheets/", "content.xml"):
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
