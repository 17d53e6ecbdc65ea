"""Convert a presentation (PPTX) to Markdown through HTML: each slide with its text in order, and notes."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import accumulate
from typing import Any

from roamtui.convert.converted import ConvertedText, note_headers_and_footers
from roamtui.convert.html import write_blocks
from roamtui.convert.html_blocks import BlockWriter
from roamtui.convert.html_tree import read_page
from roamtui.convert.list_numbers import PLAIN_NUMBER, format_list_number
from roamtui.convert.office_math import write_math_element
from roamtui.convert.symbol_fonts import translate_symbols
from roamtui.convert.xml_elements import get_attribute, get_local_name, is_true, list_paragraphs, parse_int
from roamtui.convert.zip_package import MAIN, Relation, ZipPackage
from roamtui.errors import SourceError
from roamtui.markdown.escaping import escape_inline, write_heading
from roamtui.markdown.units import read_visible_line
from roamtui.text import shorten

_DEFAULT_TITLES = frozenset({"", "PowerPoint Presentation", "Slide 1"})
_TITLE_KINDS = frozenset({"title", "ctrTitle"})
_EDGE_KINDS = frozenset({"dt", "ftr", "hdr", "sldNum"})
"""Kinds of placeholders at the edge of each slide, which are left out."""
_LIST_KINDS = frozenset({"body", "obj"})
"""Kinds of placeholders whose paragraphs are list items, unless a paragraph says otherwise."""
_LETTERS_BY_KIND = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_ROW_HEIGHT = 457_200
"""Shapes in the same half inch of height are side by side. Slides are measured in 1/914,400 of an inch."""
_TITLE_LENGTH_MAX = 60
"""Maximum length of the first words of a slide without a title, in characters."""
_LEVEL_MAX = 8
"""A paragraph has at most the ninth level. Levels count from 0."""
_OFFSETS = ("{*}spPr/{*}xfrm/{*}off", "{*}xfrm/{*}off", "{*}grpSpPr/{*}xfrm/{*}off")


def convert_pptx(data: bytes, name: str) -> ConvertedText:
    """Convert a presentation to Markdown. Each slide is a page, so that citations name it."""
    package = ZipPackage(data, name)
    main = package.resolve_part("", MAIN, "ppt/presentation.xml")
    deck = package.parse(main)
    slides = _list_slides(package, main, deck)
    if not slides and get_local_name(deck) != "presentation":
        raise SourceError(f"{name} is damaged, protected or not a presentation. Save it again as PPTX.")
    reader = _SlideReader(package)
    texts: list[str] = []
    first_title = ""
    for number, part in enumerate(slides, start=1):
        title, body, note = reader.read_slide(part)
        heading = f"<h1>{title}{note}</h1>" if title else ""
        blocks = write_blocks(read_page(heading + body)[0])
        words = read_visible_line(blocks[0].partition("\n")[0]) if blocks else ""
        if not title:
            shown = f": {escape_inline(shorten(words, _TITLE_LENGTH_MAX))}" if words else ""
            blocks.insert(0, write_heading(1, f"Slide {number}{shown}{note}"))
        elif number == 1:
            first_title = words
        texts.append("\n\n".join(blocks) + "\n\n")
    title = package.read_title()
    converted = ConvertedText(
        text="".join(texts).rstrip("\n") + "\n",
        title=first_title if title in _DEFAULT_TITLES else title,
        page_starts=tuple(accumulate(map(len, texts[:-1]), initial=0)),
        notes=package.list_damage(),
    )
    return note_headers_and_footers(converted, reader.edges)


def _list_slides(package: ZipPackage, main: str, deck: Any) -> list[str]:
    relations = package.read_relations(main)
    slides: list[str] = []
    for entry in deck.iterfind("{*}sldIdLst/{*}sldId"):
        relation = relations.get(next((value for key, value in entry.items() if key.endswith("}id")), ""))
        slides.append(relation.target if relation else "")
    if any(slides):
        return slides
    return sorted(package.list_names("ppt/slides/slide"), key=lambda name: (len(name), name))


class _SlideReader:
    """Reads the slides of a deck, one after the other. A missing part does not affect the other parts."""

    def __init__(self, package: ZipPackage) -> None:
        self._package = package
        self._relations: Mapping[str, Relation] = {}
        self.edges: list[str] = []
        """The texts at the edges of the slides, such as footers. They are left out."""

    def read_slide(self, part: str) -> tuple[str, str, str]:
        """Return a slide's title, the rest as HTML, and " (hidden)" if it is hidden. Each may be empty."""
        slide = self._package.parse(part, is_needed=bool(part))
        self._relations = self._package.read_relations(part)
        shapes = [shape for tree in slide.iterfind("{*}cSld/{*}spTree") for shape in tree]
        title = next((shape for shape in shapes if _get_kind(shape) in _TITLE_KINDS), None)
        others = (shape for shape in shapes if shape is not title)
        body = "".join(self._write_shapes(others))
        heading = self._write_line(title) if title is not None else ""
        if notes := self._package.resolve_part(part, "notesSlide"):
            self._relations = self._package.read_relations(notes)
            frames = (
                each
                for each in self._package.parse(notes, is_needed=True).iter("{*}sp")
                if _get_kind(each) not in _EDGE_KINDS
            )
            written = "".join(self._write_paragraphs(frame, is_list=False) for frame in frames)
            body += f"<p><b>Notes:</b></p>{written}" if written else ""
        return heading, body, " (hidden)" if not is_true(slide.get("show", "1")) else ""

    def _write_shapes(self, shapes: Iterable[Any]) -> Iterator[str]:
        """Yield the HTML of shapes in reading order. Shapes without a position come first."""
        for shape in sorted(shapes, key=_compute_reading_position):
            kind = _get_kind(shape)
            if is_true(next((each.get("hidden") for each in shape.iterfind("*/{*}cNvPr")), None)):
                continue
            match get_local_name(shape):
                case "grpSp":
                    yield from self._write_shapes(shape)
                case "sp" if kind in _EDGE_KINDS:
                    self.edges += shape.itertext("{*}t")
                case "sp":
                    yield self._write_paragraphs(shape, is_list=kind in _LIST_KINDS)
                case "pic" | "graphicFrame":
                    yield self._write_frame(shape)
                case _:
                    pass

    def _write_frame(self, frame: Any) -> str:
        """Write a table, a diagram, or the description of a picture or chart."""
        table = frame.find("{*}graphic/{*}graphicData/{*}tbl")
        if table is not None:
            return self._write_table(table)
        diagram = next(frame.iter("{*}relIds"), None)
        if diagram is not None:
            relation = self._relations.get(get_attribute(diagram, "dm"))
            root = self._package.parse(relation.target if relation else "")
            return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in list_paragraphs(root))}</ul>"
        properties = frame.find("*/{*}cNvPr")
        words = "" if properties is None else properties.get("descr", "")
        return f'<p><img alt="{escape(words)}"></p>' if words else ""

    def _write_table(self, table: Any) -> str:
        """Write a table without the cells that a merged cell covers."""
        properties = table.find("{*}tblPr")
        has_header = properties is not None and is_true(properties.get("firstRow"))
        rows: list[str] = []
        for row in table.iterfind("{*}tr"):
            tag = "td" if rows or not has_header else "th"
            cells = [
                f'<{tag} colspan="{cell.get("gridSpan", "1")}" rowspan="{cell.get("rowSpan", "1")}">'
                f"{self._write_paragraphs(cell, is_list=False)}</{tag}>"
                for cell in row.iterfind("{*}tc")
                if not (is_true(cell.get("hMerge")) or is_true(cell.get("vMerge")))
            ]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def _write_paragraphs(self, shape: Any, *, is_list: bool) -> str:
        """Write the paragraphs of a shape. Those with bullets or numbers become nested lists."""
        blocks = BlockWriter()
        numbers: dict[int, tuple[str, int, int]] = {}
        for paragraph in shape.iterfind("{*}txBody/{*}p"):
            content = self._write_runs(paragraph)
            properties = paragraph.find("{*}pPr")
            marks = {get_local_name(mark): mark for mark in properties} if properties is not None else {}
            if not content.strip():
                continue
            level = parse_int(properties.get("lvl")) if properties is not None else 0
            level = min(max(0, level), _LEVEL_MAX)
            is_marked = not marks.keys().isdisjoint(("buChar", "buAutoNum", "buBlip"))
            end = level + ("buAutoNum" in marks)
            numbers = {each: last for each, last in numbers.items() if each < end}
            number = ""
            if "buAutoNum" in marks:
                kind = marks["buAutoNum"].get("type", "")
                start = parse_int(marks["buAutoNum"].get("startAt"), 1)
                last = numbers.get(level)
                count = last[-1] + 1 if last and last[:2] == (kind, start) else start
                numbers[level] = kind, start, count
                number = _format_number(count, kind)
            if number and not PLAIN_NUMBER.fullmatch(number):
                content = f"{number} {content}"
            if is_marked or (is_list and "buNone" not in marks):
                blocks.add_item(f"<p>{content}</p>", number, level)
            else:
                blocks.append(f"<p>{content}</p>")
        return blocks.finish()

    def _write_line(self, shape: Any) -> str:
        return " ".join(map(self._write_runs, shape.iterfind("{*}txBody/{*}p"))).strip()

    def _write_runs(self, paragraph: Any) -> str:
        words: list[str] = []
        for run in paragraph.iterchildren("{*}r", "{*}fld", "{*}m", "{*}br"):
            if get_local_name(run) == "m":  # in OMML, it is a matrix
                words += map(write_math_element, run)
                continue
            text = "".join(run.itertext("{*}t"))
            fonts = {get_local_name(each): each.get("typeface", "") for each in run.iterfind("{*}rPr/*")}
            text = escape(translate_symbols(text, fonts.get("latin", ""), fonts.get("sym", "")))
            if get_local_name(run) == "br":
                text = " "
            looks: Mapping[str, str] = next((each.attrib for each in run.iterfind("{*}rPr")), {})
            if looks.get("strike", "noStrike") != "noStrike":
                text = f"<s>{text}</s>"
            baseline = looks.get("baseline", "0")
            if not baseline.startswith("0"):
                tag = "sub" if baseline.startswith("-") else "sup"
                text = f"<{tag}>{text}</{tag}>"
            link = run.find("{*}rPr/{*}hlinkClick")
            relation = self._relations.get(get_attribute(link, "id")) if link is not None else None
            if relation and relation.is_external:
                text = f'<a href="{escape(relation.target)}">{text}</a>'
            words.append(text)
        return "".join(words)


def _get_kind(shape: Any) -> str:
    placeholder = shape.find("*/{*}nvPr/{*}ph")
    return "" if placeholder is None else placeholder.get("type", "obj")


def _compute_reading_position(shape: Any) -> tuple[int, int]:
    offset = next((each for path in _OFFSETS for each in shape.iterfind(path)), None)
    return (
        (0, 0) if offset is None else (parse_int(offset.get("y")) // _ROW_HEIGHT, parse_int(offset.get("x")))
    )


def _format_number(number: int, kind: str) -> str:
    letter = next((letter for start, letter in _LETTERS_BY_KIND.items() if kind.startswith(start)), "1")
    text = format_list_number(number, letter)
    ends = {"Period": f"{text}.", "ParenR": f"{text})", "ParenBoth": f"({text})"}
    return next((ends[end] for end in ends if kind.endswith(end)), text)
