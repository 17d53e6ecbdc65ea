"""Convert a Word document to Markdown through HTML: all that a person sees, with Word's numbers."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from lxml.etree import tostring
from msgspec import Struct

from roamtui.convert.converted import ConvertedText, note_headers_and_footers
from roamtui.convert.decode import decode_html
from roamtui.convert.docx_styles import (
    BODY_LEVEL,
    Numbering,
    Style,
    StyleSheet,
    get_child_value,
    has_format,
    is_on,
    read_formatting,
)
from roamtui.convert.html import convert_office_html
from roamtui.convert.html_blocks import BlockWriter, escape_words
from roamtui.convert.html_tree import parse_html_tree
from roamtui.convert.list_numbers import PLAIN_NUMBER
from roamtui.convert.office_math import write_math_element
from roamtui.convert.symbol_fonts import translate_symbols
from roamtui.convert.xml_elements import get_attribute, get_local_name, is_true, list_paragraphs, parse_int
from roamtui.convert.zip_package import MAIN, ZIP_ERRORS, ZIP_START, ZipPackage
from roamtui.errors import SourceError
from roamtui.markdown.escaping import WITHOUT_NOTE_SIGNS, write_checkbox, write_note_mark

_PLAIN = frozenset(
    {"t", "tab", "ptab", "br", "cr", "noBreakHyphen", "sym", "footnoteReference", "endnoteReference"}
)
_DRAWINGS = frozenset({"drawing", "pict", "object"})
_REMOVED = frozenset({"del", "moveFrom", "pPr", "rPr", "sdtPr", "rubyPr", "instrText"})
"""Elements in a line that are not text, or that a tracked change took away."""
_END = "pPr/{*}rPr/{*}"
"""Where a paragraph says how its end is formatted, and what changed it."""
_TAGS_BY_STYLE = {
    "title$": "h1",
    "(?:source )?code|html preformatted": "pre",
    "(?:intense )?quote$": "blockquote",
}
_INLINE_CODE_STYLE = re.compile("code|verbatim char")
_TAGS_BY_LOOK = {"b": "b", "i": "i", "strike": "s", "dstrike": "s"}
_LINK_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]*)"')
_EQUATION = re.compile(r"\s*EQ\s+(.*?)(?:\\\*.*)?", re.DOTALL)
"""The instruction of a field that Word draws as an equation."""
_FRACTION = re.compile(r"\\f\s*\(([^(),;]*)[,;]([^(),;]*)\)")
_COLUMNS_MAX = 50
_FIRST_ROW_BIT = 0x20
_NAME_LENGTH_MAX = 60
_UNKNOWN_NUMBERS = "Word writes the numbers of some lists in another way than 1, 2, 3"
_LEVELS_MAX = 9
"""A list of Word has at most nine levels."""
_TaggedHtml = tuple[tuple[str, ...], str]
"""A part of a line: the names of the HTML elements to put around it, and its HTML."""


def convert_docx(data: bytes, name: str) -> ConvertedText:
    """Convert a Word document to Markdown."""
    package = ZipPackage(data, name)
    writer = _DocxHtmlWriter(package)
    html = writer.write_bodies()
    if html is None:
        raise SourceError(f"{name} is damaged, protected or not a Word document. Save it again as DOCX.")
    text = convert_office_html(html, writer.notes)
    problems = (f"{start}: {', '.join(names)}." for start, names in writer.problems.items())
    notes = (*problems, *package.list_damage())
    title = package.read_title() or writer.title
    converted = ConvertedText(text=text, title=title, notes=notes)
    return note_headers_and_footers(converted, writer.iter_headers_and_footers())


class _Field(Struct):
    """A field that is open. Its instruction is not text, but its result is."""

    instruction: str = ""
    is_in_result: bool = False
    link: str = ""


class _Cell(Struct):
    html: str
    tag: str
    columns: int = 1
    rows: int = 1


class _DocxHtmlWriter:
    def __init__(self, package: ZipPackage, around: "_DocxHtmlWriter | None" = None) -> None:
        """Prepare to write a document. If it is inside another one, `around` is the writer of that one."""
        main = package.resolve_part("", MAIN, "word/document.xml")
        self._bodies = package.parse(main).findall("{*}body")
        self._package = package
        self._is_inner = around is not None
        self._relations = package.read_relations(main)

        def resolve_part(kind: str) -> str:
            return package.resolve_part(main, kind, f"word/{kind}.xml")

        self._styles = StyleSheet(package.parse(resolve_part("styles")))
        self._numbering = Numbering(package.parse(resolve_part("numbering")), self._styles)
        note_parts = {kind: resolve_part(f"{kind}s") for kind in ("footnote", "endnote")}
        self._note_relations = {kind: package.read_relations(part) for kind, part in note_parts.items()}
        self._notes = {
            (kind, get_attribute(note, "id")): note
            for kind, part in note_parts.items()
            for note in package.parse(part).iter(f"{{*}}{kind}")
        }
        self._note_numbers: dict[tuple[str, str], int] = {}
        self._fields: list[_Field] = []
        self._boxes: list[str] = []
        """Text boxes in the paragraph that is being written. They follow this paragraph."""
        self.title = ""
        """The words of the first paragraph in the style of a title."""
        self.notes: list[str] = around.notes if around else []
        self.problems: dict[str, dict[str, None]] = around.problems if around else {}
        """Names of content that cannot be shown, by the start of the sentence that says so."""

    def write_bodies(self) -> str | None:
        """Write the whole document, or return None if there is none."""
        return "".join(map(self.write_blocks, self._bodies)) if self._bodies else None

    def iter_headers_and_footers(self) -> Iterator[str]:
        """Yield the words of the headers and footers of pages."""
        for each in self._relations.values():
            if each.kind in ("header", "footer"):
                yield from self._package.parse(each.target).itertext("{*}t")

    def write_blocks(self, parent: Any) -> str:
        """Write the paragraphs, lists and tables in an element."""
        boxes_around = self._boxes
        self._boxes = []
        blocks = BlockWriter()
        content = ""
        for element in _iter_children(parent, "p", "tbl", "altChunk"):
            if get_local_name(element) != "p":
                is_table = get_local_name(element) == "tbl"
                blocks.append(self._write_table(element) if is_table else self._write_chunk(element))
                continue
            style = self._styles.read_paragraph(element)
            content += _join_pieces(self._write_line(element, style.formatting))
            # so that a damaged field hides only a line
            self._fields = [field for field in self._fields if field.is_in_result]
            after = element.getnext()
            # a tracked change deletes or moves its end, or it is the large first letter of the next paragraph
            frame = element.find("{*}pPr/{*}framePr")
            is_initial = frame is not None and get_attribute(frame, "dropCap") in ("drop", "margin")
            is_continued = is_initial or is_on(element, f"{_END}del") or is_on(element, f"{_END}moveFrom")
            is_empty = not (content.strip() or self._boxes)
            is_gone = is_empty and (is_continued or is_on(element, f"{_END}vanish"))
            if is_gone or (is_continued and after is not None and get_local_name(after) == "p"):
                continue
            self._write_paragraph(element, style, content, blocks)
            content = ""
            for box in self._boxes:
                blocks.append(box, _LEVELS_MAX)
            self._boxes = []
        self._boxes = boxes_around
        return blocks.finish()

    def _write_paragraph(self, element: Any, style: Style, content: str, blocks: BlockWriter) -> None:
        number, level, has_bullet = self._numbering.count_paragraph(element, style)
        for kind in self._numbering.decimal_kinds:
            self._note_problem(_UNKNOWN_NUMBERS, kind)
        # a column of a table may have only numbers
        is_counted = number and get_local_name(element.getparent()) == "tc"
        if not (content.strip() or is_counted):
            return
        name = style.names[0] if style.names else ""
        numbered = f"{escape_words(number)} {content}" if number else content
        if style.level < BODY_LEVEL:
            tag = f"h{min(6, style.level + 1)}"
            blocks.append(f"<{tag}>{numbered}</{tag}>")
        elif has_bullet or PLAIN_NUMBER.fullmatch(number):
            blocks.add_item(f"<p>{content}</p>", number, level)
        else:
            tag = next((tag for pattern, tag in _TAGS_BY_STYLE.items() if re.match(pattern, name)), "p")
            if tag == "h1":
                self.title = self.title or " ".join("".join(element.itertext("{*}t")).split())
            blocks.append(f"<{tag}>{numbered}</{tag}>", level if number else 0)

    def _write_table(self, table: Any) -> str:
        """Write a table. A cell that continues the cell above it adds a row to that cell's span."""
        rows: list[list[_Cell]] = []
        above: dict[int, _Cell] = {}
        elements = [row for row in _iter_children(table, "tr") if row.find("{*}trPr/{*}del") is None]
        has_header = len(elements) > 1 and _has_first_row(table)
        for row in elements:
            tag = "th" if is_on(row, "trPr/{*}tblHeader") or (has_header and not rows) else "td"
            skipped = min(_COLUMNS_MAX, parse_int(get_child_value(row, "trPr/{*}gridBefore"), 0))
            cells = [_Cell("", tag)] * skipped
            column = skipped
            for element in _iter_children(row, "tc"):
                merge = element.find("{*}tcPr/{*}vMerge")
                span = parse_int(get_child_value(element, "tcPr/{*}gridSpan"), 1)
                columns = min(_COLUMNS_MAX, max(1, span))
                if merge is not None and get_attribute(merge, "val") != "restart" and column in above:
                    above[column].rows += 1
                else:
                    for covered in range(column, column + columns):
                        above.pop(covered, None)
                    above[column] = _Cell(self.write_blocks(element), tag, columns)
                    cells.append(above[column])
                column += columns
            rows.append(cells)
        lines = ("".join(map(_write_cell, cells)) for cells in rows)
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    def _write_line(  # noqa: PLR0912 - one for each kind
        self, parent: Any, formatting: Mapping[str, str], tags: tuple[str, ...] = ()
    ) -> Iterator[_TaggedHtml]:
        """Yield the parts of a line. `formatting` and `tags` belong to the text around them."""
        is_shown = not has_format(formatting, "vanish")
        size = _read_size(formatting)
        for child in parent:
            name = get_local_name(child)
            is_visible = is_shown and self._is_in_text()
            match name:
                case "r":
                    style = self._styles.get_style(get_child_value(child, "rPr/{*}rStyle"))
                    own = {**style.formatting, **read_formatting(child)}
                    inner = {**formatting, **own}
                    is_smaller = _read_size(inner) < size
                    if "position" not in inner:
                        size = _read_size(inner)
                    tags_of_run = _list_tags(own, inner, style, is_smaller=is_smaller)
                    yield from self._write_line(child, inner, tags_of_run)
                case "fldChar":
                    yield from self._follow_field(child, tags if is_shown else None)
                case "instrText" if self._fields:
                    self._fields[-1].instruction += child.text or ""
                case "hyperlink":
                    relation = self._relations.get(get_attribute(child, "id"))
                    yield from _wrap_link(
                        relation.target if relation else "", self._write_line(child, formatting)
                    )
                case "fldSimple":
                    link = _LINK_FIELD.match(get_attribute(child, "instr"))
                    yield from _wrap_link(link[1] if link else "", self._write_line(child, formatting))
                case "sdt" if (box := child.find("{*}sdtPr/{*}checkbox")) is not None:
                    yield (), write_checkbox(is_checked=is_true(get_child_value(box, "checked")))
                case "oMath" | "oMathPara":
                    yield (), write_math_element(child)
                case "ruby" | "rt":
                    yield (), f"<{name}>{_join_pieces(self._write_line(child, formatting))}</{name}>"
                case _ if name in _DRAWINGS:
                    yield (), "".join(self._write_drawing(child)) if is_visible else ""
                case _ if name in _PLAIN:
                    yield tags, self._write_text(name, child, formatting) if is_visible else ""
                case _:
                    yield from self._write_line(child, formatting, tags) if name not in _REMOVED else ()

    def _write_text(self, name: str, element: Any, formatting: Mapping[str, str]) -> str:
        text = ""
        match name:
            case "t":
                text = translate_symbols(element.text or "", formatting.get("rFonts", ""))
            case "tab" | "ptab":
                text = "\t"
            case "noBreakHyphen":
                text = "\N{NON-BREAKING HYPHEN}"
            case "sym":
                code = get_attribute(element, "char")
                character = chr(int(code, 16)) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else ""
                text = translate_symbols(character, get_attribute(element, "font"))
            case "footnoteReference" | "endnoteReference":
                return self._write_note_mark(name.removesuffix("Reference"), get_attribute(element, "id"))
            case _:
                return "<br>"
        return escape_words(text)

    def _is_in_text(self) -> bool:
        """Return whether text belongs to the line, and not to the instruction of a field."""
        return all(field.is_in_result for field in self._fields)

    def _note_problem(self, start: str, name: str) -> None:
        self.problems.setdefault(start, {})[name[:_NAME_LENGTH_MAX]] = None

    def _follow_field(self, character: Any, tags: tuple[str, ...] | None) -> Iterator[_TaggedHtml]:
        """Follow the start, the middle or the end of a field. The start of a form field has its value."""
        kind = get_attribute(character, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
            box = character.find("{*}ffData/{*}checkBox")
            choices = character.find("{*}ffData/{*}ddList")
            if box is not None:
                states = {get_local_name(each): get_attribute(each, "val") or "1" for each in box}
                yield (
                    (),
                    write_checkbox(
                        is_checked=has_format(states, "checked" if "checked" in states else "default")
                    ),
                )
            elif choices is not None:
                entries = [get_attribute(entry, "val") for entry in choices.iterfind("{*}listEntry")]
                chosen = parse_int(get_child_value(choices, "result"), 0)
                yield (), escape_words("".join(entries[chosen : chosen + 1]))
        elif self._fields and kind == "separate":
            field = self._fields[-1]
            link = _LINK_FIELD.match(field.instruction)
            field.is_in_result = True
            field.link = link[1] if link else ""
            if link:
                yield (), f'<a href="{escape_words(field.link)}">'
        elif self._fields and kind == "end":
            field = self._fields.pop()
            equation = _EQUATION.fullmatch(field.instruction)
            if equation and tags is not None and not field.is_in_result and self._is_in_text():
                yield tags, escape_words(_FRACTION.sub(r"\1/\2", equation[1].strip()))
            if field.link:
                yield (), "</a>"

    def _write_note_mark(self, kind: str, note_id: str) -> str:
        """Write a reference to a note, and the note at its first reference."""
        key = kind, note_id
        if key not in self._note_numbers:
            if key not in self._notes:
                self._note_problem("not in the file", "a note")
                return ""
            self.notes.append("")
            number = self._note_numbers[key] = len(self.notes)
            outer = self._relations
            self._relations = self._note_relations[kind]
            self.notes[number - 1] = self.write_blocks(self._notes[key])
            self._relations = outer
        return write_note_mark(self._note_numbers[key])

    def _resolve_part(self, relation_id: str, kind: str) -> str:
        relation = self._relations.get(relation_id)
        if relation is None or relation.is_external or not self._package.has(relation.target):
            self._note_problem("not in the file", kind)
            return ""
        return relation.target

    def _write_chunk(self, chunk: Any) -> str:
        """Write a web page or a Word document that Word shows in this one."""
        part = self._resolve_part(get_attribute(chunk, "id"), "an embedded document")
        html: str | None = None
        with suppress(*ZIP_ERRORS, SourceError):
            if not self._is_inner:
                data = self._package.read(part)
                if data.startswith(ZIP_START):
                    html = _DocxHtmlWriter(ZipPackage(data, part), self).write_bodies()
                elif data.lstrip().startswith((b"<", b"\xef\xbb\xbf<")):
                    root = parse_html_tree(decode_html(data)[0].translate(WITHOUT_NOTE_SIGNS))
                    root.tag = "div"
                    html = tostring(root, encoding="unicode", method="html")
        if part and html is None:
            self._note_problem("an embedded document cannot be read", part.rpartition("/")[2])
        return html or ""

    def _write_drawing(self, parent: Any, words: str = "") -> Iterator[str]:
        """Yield a drawing's pictures, with `words` as description. Keep its text boxes for later."""
        for child in parent:
            described = child.find("{*}docPr")
            words = get_attribute(child, "alt") or words
            if described is not None:
                words = get_attribute(described, "descr") or get_attribute(described, "title")
            match get_local_name(child):
                case "txbxContent":
                    self._boxes.append(self.write_blocks(child))
                case "txBody":
                    self._boxes += [f"<p>{escape_words(text)}</p>" for text in list_paragraphs(child)]
                case "textpath":
                    self._boxes.append(f"<p>{escape_words(get_attribute(child, 'string'))}</p>")
                case "blip" | "imagedata":
                    picture_id = get_attribute(child, "embed") or get_attribute(child, "id")
                    target = self._resolve_part(picture_id, "a picture")
                    shown = "" if self._is_inner else escape_words(target)
                    yield f'<img src="{shown}" alt="{escape_words(words)}">'
                case "chart" if words:
                    yield f'<img alt="{escape_words(words)}">'
                case "relIds":
                    diagram = self._package.parse(self._resolve_part(get_attribute(child, "dm"), "a diagram"))
                    items = [f"<li>{escape_words(text)}</li>" for text in list_paragraphs(diagram)]
                    self._boxes.append(f"<ul>{''.join(items)}</ul>")
                case _:
                    yield from self._write_drawing(child, words)


def _iter_children(parent: Any, *names: str) -> Iterator[Any]:
    """Yield the children with these names, also those inside controls and tracked insertions."""
    for child in parent:
        name = get_local_name(child)
        if name in names:
            yield child
        elif name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"):
            yield from _iter_children(child, *names)


def _has_first_row(table: Any) -> bool:
    """Return whether a table's look, by a name or a bit of a number, makes its first row a header."""
    look = table.find("{*}tblPr/{*}tblLook")
    if look is None:
        return False
    named = get_attribute(look, "firstRow")
    bits = get_attribute(look, "val")
    is_number = re.fullmatch("[0-9A-Fa-f]{1,8}", bits) is not None
    return is_true(named) if named else is_number and bool(int(bits, 16) & _FIRST_ROW_BIT)


def _read_size(formatting: Mapping[str, str]) -> float:
    """Return the size of letters in half points, or infinity if it is unknown."""
    size = formatting.get("sz", "")
    return int(size) if size.isdecimal() else math.inf


def _list_tags(
    own: Mapping[str, str], formatting: Mapping[str, str], style: Style, *, is_smaller: bool
) -> tuple[str, ...]:
    """List the HTML elements around a run. Only its `own` emphasis counts: a whole paragraph may be bold.

    Its `formatting` includes that of the paragraph. A raised or lowered position makes it a script only if it
    `is_smaller` than the letters before it.
    """
    emphasis = tuple(tag for look, tag in _TAGS_BY_LOOK.items() if has_format(own, look))
    align = formatting.get("vertAlign")
    position = formatting.get("position", "0") if is_smaller else "0"
    is_raised = align == "superscript" or position.strip("0").isdecimal()
    is_lowered = align == "subscript" or position.startswith("-")
    if is_raised or is_lowered:
        return (*emphasis, "sup" if is_raised else "sub")
    is_code = any(map(_INLINE_CODE_STYLE.match, style.names))
    return ("code",) if is_code else emphasis


def _wrap_link(target: str, pieces: Iterable[_TaggedHtml]) -> Iterator[_TaggedHtml]:
    yield from [((), f'<a href="{escape_words(target)}">'), *pieces, ((), "</a>")] if target else pieces


def _write_cell(cell: _Cell) -> str:
    return f'<{cell.tag} colspan="{cell.columns}" rowspan="{cell.rows}">{cell.html}</{cell.tag}>'


def _join_pieces(pieces: Iterator[_TaggedHtml]) -> str:
    """Join the parts of a line. Neighbours with the same tags share one element."""
    out: list[str] = []
    for tags, group in groupby(pieces, lambda piece: piece[0]):
        text = "".join(html for _, html in group)
        for tag in tags if text.strip() else ():
            text = f"<{tag}>{text}</{tag}>"
        out.append(text)
    return "".join(out)
