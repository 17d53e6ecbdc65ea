"""Convert a Word document to Markdown through HTML: all that a person sees in it, with the numbers that Word writes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

from msgspec import Struct

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.docx_styles import (
    LEVELS_MAX,
    Numbering,
    Style,
    StyleSheet,
    get_child_value,
    has_look,
    read_looks,
)
from roamtui.sources.convert.html import convert_noted
from roamtui.sources.convert.office_math import write_formula
from roamtui.sources.convert.symbols import translate_symbols
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_MAIN_PART = "word/document.xml"
_REMOVED = frozenset({"del", "moveFrom", "pPr"})
"""Elements in a line that are not text, or that a tracked change took away."""
_MARKER_CHARACTERS = {0xE000: None, 0xE001: None}
_CODE_STYLE = re.compile("(?:source )?code|html preformatted")
_INLINE_CODE_STYLE = re.compile("code|verbatim char")
_QUOTE_STYLES = ("quote", "intense quote")
_MARKS = {"b": "b", "i": "i", "strike": "s", "dstrike": "s"}
_PLAIN_NUMBER = re.compile(r"(\d+)\.")
_BOXES = {True: "[x]", False: "[ ]"}
_LINK_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]*)"')
_Piece = tuple[tuple[str, ...], str]
"""The names of the HTML elements around a part of a line, and its HTML."""


def convert_docx(data: bytes, name: str) -> ConvertedText:
    """Convert a Word document to Markdown."""
    package = ZipPackage(data, name)
    relations = _read_relations(package, "").values()
    main = next((each.target for each in relations if each.kind == "officeDocument"), _MAIN_PART)
    bodies = package.parse(main).findall("{*}body")
    if not bodies:
        raise SourceError(f"{name} is damaged, password-protected or not a Word document. Save it again as DOCX.")
    writer = _HtmlWriter(package, main)
    html = "".join(map(writer.write_blocks, bodies))
    text = convert_noted(re.sub(r"</pre>\s*<pre>", "\n", html), writer.notes)
    return ConvertedText(text=text, title=package.read_title())


class _Relation(Struct, frozen=True):
    """What an id in a part refers to: another part of the package, or an address outside of it."""

    target: str
    kind: str
    is_external: bool


def _read_relations(package: ZipPackage, part: str) -> dict[str, _Relation]:
    folder, name = posixpath.split(part)
    relations: dict[str, _Relation] = {}
    for each in package.parse(posixpath.join(folder, "_rels", f"{name}.rels")).iter("{*}Relationship"):
        target, is_external = each.get("Target", ""), each.get("TargetMode") == "External"
        if not is_external:
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        relations[each.get("Id", "")] = _Relation(target, each.get("Type", "").rpartition("/")[2], is_external)
    return relations


class _Field(Struct):
    """A field that is open. Its instruction is not text, but its result is."""

    instruction: str = ""
    is_in_result: bool = False
    is_link: bool = False


class _OpenList(Struct):
    """A list to which items are still added."""

    level: int
    tag: str
    number: int


class _HtmlWriter:
    """Writes the elements of a document as HTML."""

    def __init__(self, package: ZipPackage, main: str) -> None:
        self._package = package
        self._relations = _read_relations(package, main)
        parts = {each.kind: each.target for each in self._relations.values() if not each.is_external}
        self._styles = StyleSheet(package.parse(parts.get("styles", "word/styles.xml")))
        self._numbering = Numbering(package.parse(parts.get("numbering", "word/numbering.xml")), self._styles)
        self._note_parts = {kind: parts.get(f"{kind}s", f"word/{kind}s.xml") for kind in ("footnote", "endnote")}
        self._note_numbers: dict[tuple[str, str], int] = {}
        self._fields: list[_Field] = []
        self._boxes: list[str] = []
        """Text boxes in the paragraph that is being written, which follow it."""
        self.notes: list[str] = []

    def write_blocks(self, parent: Any) -> str:
        """Write the paragraphs, lists and tables in an element."""
        out: list[str] = []
        lists: list[_OpenList] = []
        joined: list[_Piece] = []
        for element in _iter_children(parent, "p", "tbl"):
            if get_local_name(element) == "tbl":
                _close_lists(lists, out, 0)
                out.append(self._write_table(element))
                continue
            style_id = get_child_value(element, "pPr/{*}pStyle")
            style = self._styles.get_paragraph_style(style_id)
            pieces = [*joined, *self._write_line(element, style.looks)]
            self._fields = [field for field in self._fields if field.is_in_result]
            is_joined = element.find("{*}pPr/{*}rPr/{*}del") is not None
            joined = pieces if is_joined else []
            if not is_joined:
                self._write_paragraph(element, style, _join_pieces(pieces), lists, out)
            out += self._boxes
            self._boxes = []
        out.append(f"<p>{_join_pieces(joined)}</p>")
        _close_lists(lists, out, 0)
        return "".join(out)

    def _write_paragraph(
        self, element: Any, style: Style, content: str, lists: list[_OpenList], out: list[str]
    ) -> None:
        """Write a paragraph, a heading or an item of a list."""
        own_outline = get_child_value(element, "pPr/{*}outlineLvl")
        outline = int(own_outline) if own_outline.isdecimal() else style.level
        number, level, has_bullet = self._count(element, style)
        if not content.strip():
            return
        heading = "h1" if style.name == "title" else ""
        if outline is not None and outline < LEVELS_MAX:
            heading = f"h{min(6, outline + 1)}"
        plain = _PLAIN_NUMBER.fullmatch(number)
        if not heading and (has_bullet or plain):
            _open_item(lists, out, _OpenList(level, "ol" if plain else "ul", int(plain[1]) if plain else 0))
            out.append(f"<p>{content}</p>")
            return
        _close_lists(lists, out, level if number and not heading else 0)
        numbered = f"{escape(number)} {content}" if number else content
        if heading:
            out.append(f"<{heading}>{numbered}</{heading}>")
        elif _CODE_STYLE.match(style.name):
            out.append(f"<pre>{numbered}</pre>")
        elif style.name in _QUOTE_STYLES:
            out.append(f"<blockquote><p>{numbered}</p></blockquote>")
        else:
            out.append(f"<p>{numbered}</p>")

    def _count(self, element: Any, style: Style) -> tuple[str, int, bool]:
        """Return the number of a paragraph as text, its level in the list, and whether it has a bullet."""
        number_id = get_child_value(element, "pPr/{*}numPr/{*}numId") or style.number_id
        own_level = get_child_value(element, "pPr/{*}numPr/{*}ilvl")
        level = int(own_level) if own_level.isdecimal() else style.number_level
        style_id = get_child_value(element, "pPr/{*}pStyle")
        return self._numbering.count_paragraph(number_id, level, style_id) or ("", 0, False)

    def _write_table(self, table: Any) -> str:
        rows: list[str] = []
        spans = _count_row_spans(table)
        for row in _iter_children(table, "tr"):
            if row.find("{*}trPr/{*}del") is not None:
                continue
            tag = "th" if row.find("{*}trPr/{*}tblHeader") is not None else "td"
            skipped = get_child_value(row, "trPr/{*}gridBefore")
            cells = ["<td></td>"] * min(50, int(skipped) if skipped.isdecimal() else 0)
            for cell in _iter_children(row, "tc"):
                if cell in spans:
                    span = f'colspan="{_read_columns(cell)}" rowspan="{spans[cell]}"'
                    cells.append(f"<{tag} {span}>{self.write_blocks(cell)}</{tag}>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def _write_line(self, parent: Any, looks: Mapping[str, str]) -> Iterator[_Piece]:
        """Yield the parts of a line. `looks` are those of its paragraph."""
        for child in parent:
            match get_local_name(child):
                case "r":
                    yield from self._write_run(child, looks)
                case "hyperlink":
                    relation = self._relations.get(get_attribute(child, "id"))
                    yield from self._write_link(relation.target if relation else "", child, looks)
                case "fldSimple":
                    link = _LINK_FIELD.match(get_attribute(child, "instr"))
                    yield from self._write_link(link[1] if link else "", child, looks)
                case "sdt":
                    box = child.find("{*}sdtPr/{*}checkbox")
                    if box is not None:
                        yield (), _BOXES[get_child_value(box, "checked") in ("1", "true")]
                    elif (content := child.find("{*}sdtContent")) is not None:
                        yield from self._write_line(content, looks)
                case "oMath" | "oMathPara":
                    yield (), escape(write_formula(child))
                case "ruby":
                    yield from self._write_ruby(child, looks)
                case "AlternateContent":
                    yield from self._write_line(_choose(child), looks)
                case name:
                    yield from self._write_line(child, looks) if name not in _REMOVED else ()

    def _write_link(self, target: str, element: Any, looks: Mapping[str, str]) -> Iterator[_Piece]:
        pieces = self._write_line(element, looks)
        yield from [((), f'<a href="{escape(target)}">'), *pieces, ((), "</a>")] if target else pieces

    def _write_ruby(self, ruby: Any, looks: Mapping[str, str]) -> Iterator[_Piece]:
        """Write words with their reading."""
        for name, tag in (("rubyBase", ""), ("rt", "rt")):
            part = ruby.find(f"{{*}}{name}")
            text = _join_pieces([*self._write_line(part, looks)]) if part is not None else ""
            yield (), f"<{tag}>{text}</{tag}>" if tag else f"<ruby>{text}"
        yield (), "</ruby>"

    def _write_run(self, run: Any, paragraph_looks: Mapping[str, str]) -> Iterator[_Piece]:
        """Write characters that look the same."""
        style = self._styles.get_style(get_child_value(run, "rPr/{*}rStyle"))
        own = {**style.looks, **read_looks(run)}
        looks = {**paragraph_looks, **own}
        marks = [tag for look, tag in _MARKS.items() if has_look(own, look)]
        if looks.get("vertAlign") == "superscript" or looks.get("position", "0").strip("0").isdecimal():
            marks.append("sup")
        elif _INLINE_CODE_STYLE.match(style.name):
            marks = ["code"]
        is_hidden = has_look(looks, "vanish")
        for child in run:
            name = get_local_name(child)
            if name == "fldChar":
                yield from self._follow_field(child)
            elif name == "instrText" and self._fields:
                self._fields[-1].instruction += child.text or ""
            elif not is_hidden and all(field.is_in_result for field in self._fields):
                html = self._write_part(name, child, looks)
                yield tuple(marks) if name not in ("drawing", "pict") else (), html

    def _write_part(self, name: str, part: Any, looks: Mapping[str, str]) -> str:  # noqa: PLR0911 - one for each kind
        match name:
            case "t":
                text = translate_symbols(part.text or "", looks.get("rFonts", ""))
                return escape(text.translate(_MARKER_CHARACTERS))
            case "tab" | "ptab":
                return "\t"
            case "br" if get_attribute(part, "type") not in ("page", "column"):
                return "<br>"
            case "cr":
                return "<br>"
            case "noBreakHyphen":
                return "\N{NON-BREAKING HYPHEN}"
            case "sym":
                code = get_attribute(part, "char")
                character = chr(int(code, 16)) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else ""
                return escape(translate_symbols(character, get_attribute(part, "font")))
            case "footnoteReference" | "endnoteReference":
                return self._write_note_mark(name.removesuffix("Reference"), get_attribute(part, "id"))
            case "drawing" | "pict" | "object":
                return "".join(self._write_drawing(part))
            case "AlternateContent":
                parts = ((get_local_name(child), child) for child in _choose(part))
                return "".join(self._write_part(kind, child, looks) for kind, child in parts)
            case "ruby":
                return _join_pieces([*self._write_ruby(part, looks)])
            case _:
                return ""

    def _follow_field(self, character: Any) -> Iterator[_Piece]:
        """Follow the start, the middle or the end of a field. A form's field has its value at the start."""
        kind = get_attribute(character, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
            box = character.find("{*}ffData/{*}checkBox")
            choices = character.find("{*}ffData/{*}ddList")
            if box is not None:
                values = [each for each in box if get_local_name(each) in ("default", "checked")]
                yield (), _BOXES[bool(values) and get_attribute(values[-1], "val") not in ("0", "false")]
            elif choices is not None:
                chosen = get_child_value(choices, "result")
                entries = [get_attribute(entry, "val") for entry in choices.iterfind("{*}listEntry")]
                number = int(chosen) if chosen.isdecimal() else 0
                yield (), escape("".join(entries[number : number + 1]))
        elif self._fields and kind == "separate":
            field = self._fields[-1]
            link = _LINK_FIELD.match(field.instruction)
            field.is_in_result, field.is_link = True, bool(link)
            if link:
                yield (), f'<a href="{escape(link[1])}">'
        elif self._fields and kind == "end" and self._fields.pop().is_link:
            yield (), "</a>"

    def _write_note_mark(self, kind: str, note_id: str) -> str:
        """Write a reference to a note, and the note at its first reference."""
        key = kind, note_id
        if key not in self._note_numbers:
            part = self._note_parts[kind]
            notes = self._package.parse(part).iter(f"{{*}}{kind}")
            note = next((each for each in notes if get_attribute(each, "id") == note_id), None)
            if note is None:
                return ""
            self.notes.append("")
            number = self._note_numbers[key] = len(self.notes)
            outer, self._relations = self._relations, _read_relations(self._package, part)
            boxes, self._boxes = self._boxes, []
            self.notes[number - 1] = self.write_blocks(note)
            self._relations, self._boxes = outer, boxes
        return f"\ue000{self._note_numbers[key]}\ue001"

    def _write_drawing(self, parent: Any) -> Iterator[str]:
        """Yield the pictures of a drawing. Its text boxes and diagrams follow the paragraph."""
        for child in parent:
            match get_local_name(child):
                case "txbxContent":
                    around, self._boxes = self._boxes, []
                    self._boxes = [*around, self.write_blocks(child)]
                case "txBody":
                    for paragraph in child.iterfind("{*}p"):
                        words = "".join(text.text or "" for text in paragraph.iter("{*}t"))
                        self._boxes.append(f"<p>{escape(words)}</p>")
                case "textpath":
                    self._boxes.append(f"<p>{escape(get_attribute(child, 'string'))}</p>")
                case "blip" | "imagedata":
                    yield self._write_picture(parent, child)
                case "relIds":
                    relation = self._relations.get(get_attribute(child, "dm"))
                    diagram = self._package.parse(relation.target if relation else "")
                    items = [f"<li>{escape(text.text or '')}</li>" for text in diagram.iter("{*}t")]
                    self._boxes.append(f"<ul>{''.join(items)}</ul>")
                case "AlternateContent":
                    yield from self._write_drawing(_choose(child))
                case _:
                    yield from self._write_drawing(child)

    def _write_picture(self, parent: Any, picture: Any) -> str:
        """Write a picture with its description, which is at the start of the drawing."""
        source = get_attribute(picture, "embed") or get_attribute(picture, "id")
        relation = self._relations.get(source)
        words = ""
        for element in [parent, *parent.iterancestors()]:
            if get_local_name(element) in ("inline", "anchor"):
                found = element.find("{*}docPr")
                words = get_attribute(found, "descr") or get_attribute(found, "title") if found is not None else ""
                break
            if get_local_name(element) in ("drawing", "pict", "p"):
                break
            words = words or get_attribute(element, "alt")
        target = relation.target if relation and not relation.is_external else ""
        return f'<img src="{escape(target)}" alt="{escape(words)}">'


def _iter_children(parent: Any, *names: str) -> Iterator[Any]:
    """Yield the elements with some names, also those in controls and tracked insertions around them."""
    for child in parent:
        name = get_local_name(child)
        if name in names:
            yield child
        elif name == "AlternateContent":
            yield from _iter_children(_choose(child), *names)
        elif name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"):
            yield from _iter_children(child, *names)


def _choose(alternatives: Any) -> Any:
    """Return the first of several forms of the same content, which is the one for the newest version of Word."""
    return next(iter(alternatives.iterfind("{*}Choice")), alternatives.find("{*}Fallback"))


def _count_row_spans(table: Any) -> dict[Any, int]:
    """Return how many rows each cell spans. A cell that continues the one above it is left out."""
    spans: dict[Any, int] = {}
    above: dict[int, Any] = {}
    for row in _iter_children(table, "tr"):
        before = get_child_value(row, "trPr/{*}gridBefore")
        column = int(before) if before.isdecimal() else 0
        for cell in _iter_children(row, "tc"):
            merge = cell.find("{*}tcPr/{*}vMerge")
            if merge is not None and get_attribute(merge, "val") != "restart" and column in above:
                spans[above[column]] += 1
            else:
                spans[cell] = 1
                above[column] = cell
            column += _read_columns(cell)
    return spans


def _read_columns(cell: Any) -> int:
    columns = get_child_value(cell, "tcPr/{*}gridSpan")
    return max(1, int(columns)) if re.fullmatch("[0-9]{1,4}", columns) else 1


def _join_pieces(pieces: list[_Piece]) -> str:
    """Join the parts of a line, and put neighbours that look the same into one element."""
    out: list[str] = []
    for marks, group in groupby(pieces, lambda piece: piece[0]):
        text = "".join(html for _, html in group)
        for mark in marks if text.strip() else ():
            text = f"<{mark}>{text}</{mark}>"
        out.append(text)
    return "".join(out)


def _open_item(lists: list[_OpenList], out: list[str], item: _OpenList) -> None:
    """Begin an item, in an open list if it continues one."""
    _close_lists(lists, out, item.level + 1)
    last = lists[-1] if lists else None
    if last and last.level == item.level:
        if last.tag == item.tag and item.number in (0, last.number + 1):
            last.number = item.number
            out.append("</li><li>")
            return
        _close_lists(lists, out, item.level)
    lists.append(item)
    out.append(f'<{item.tag} start="{item.number}"><li>')


def _close_lists(lists: list[_OpenList], out: list[str], level: int) -> None:
    """Close the lists from a level on."""
    while lists and lists[-1].level >= level:
        out.append(f"</li></{lists.pop().tag}>")
