"""Convert a presentation (PPTX) to Markdown: each slide with its text in order, tables and notes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from roamtui.convert.converted import ConvertedText, note_page_edges
from roamtui.convert.html_elements import make_absolute_href
from roamtui.convert.list_numbers import PLAIN_NUMBER, format_list_number
from roamtui.convert.markdown_table import REPEATED_LENGTH_MAX, MarkdownCell, write_table
from roamtui.convert.office_math import write_formula
from roamtui.convert.xml_elements import (
    choose_alternative,
    get_attribute,
    get_local_name,
    is_true,
    list_paragraphs,
    read_number,
)
from roamtui.convert.zip_package import Relation, ZipPackage
from roamtui.errors import SourceError
from roamtui.markdown.escaping import (
    escape_inline,
    escape_line_starts,
    is_set_off,
    write_heading,
    write_link,
    write_script,
)
from roamtui.markdown.formulas import write_plain_script
from roamtui.markdown.inline import extract_words
from roamtui.plain import shorten

_DEFAULT_TITLES = frozenset({"", "PowerPoint Presentation", "Slide 1"})
_TITLE_KINDS = frozenset({"title", "ctrTitle"})
_EDGE_KINDS = frozenset({"dt", "ftr", "hdr", "sldNum"})
"""Kinds of placeholders at the edge of each slide, which are left out."""
_LIST_KINDS = frozenset({"body", "obj"})
"""Kinds of placeholders whose paragraphs are list items, unless a paragraph says otherwise."""
_LETTERS_BY_KIND = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_ROW_HEIGHT = 457_200
"""Shapes in the same half inch of a slide are side by side. The unit of slides is 1/914,400 of an inch."""
_TITLE_LENGTH_MAX = 60
"""Maximum length of the first words of a slide without a title, in characters."""
_LEVEL_MAX = 8
"""The level of a paragraph is at most the ninth."""
_SCRIPT = re.compile(r"<(su[bp])>(.*?)</\1>")
_OFFSETS = ("{*}spPr/{*}xfrm/{*}off", "{*}xfrm/{*}off", "{*}grpSpPr/{*}xfrm/{*}off")


def convert_pptx(data: bytes, name: str) -> ConvertedText:
    """Convert a presentation to Markdown. Each slide is a page, so that citations name it."""
    package = ZipPackage(data, name)
    main = package.find_main_part("ppt/presentation.xml")
    deck = package.parse(main)
    slides = _list_slides(package, main, deck)
    if not slides and get_local_name(deck) != "presentation":
        raise SourceError(f"{name} is damaged, protected or not a presentation. Save it again as PPTX.")
    reader = _SlideReader(package)
    texts: list[str] = []
    first_heading = ""
    for number, part in enumerate(slides, start=1):
        heading, body, note = reader.read_slide(part)
        first_heading = heading if number == 1 else first_heading
        words = shorten(_read_words(body.partition("\n")[0]).strip("-# |"), _TITLE_LENGTH_MAX)
        title = heading or f"Slide {number}" + (f": {escape_inline(words)}" if words else "")
        texts.append(f"{write_heading(1, title + note)}\n\n{body}".rstrip() + "\n\n")
    title = package.read_title()
    converted = ConvertedText(
        text="".join(texts).rstrip("\n") + "\n",
        title=_read_words(first_heading) if title in _DEFAULT_TITLES else title,
        page_starts=tuple(accumulate(map(len, texts[:-1]), initial=0)),
        notes=package.list_damage(),
    )
    return note_page_edges(converted, reader.edges)


def _read_words(heading: str) -> str:
    return extract_words(_SCRIPT.sub(lambda script: write_plain_script(script[2], script[1]), heading))


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
        """The words at the edges of the slides."""

    def read_slide(self, part: str) -> tuple[str, str, str]:
        """Return a slide's title, the rest as Markdown, and words if it is hidden; all may be empty."""
        slide = self._parse(part)
        self._relations = self._package.read_relations(part)
        shapes = [shape for tree in slide.iterfind("{*}cSld/{*}spTree") for shape in tree]
        title = next((shape for shape in shapes if _get_kind(shape) in _TITLE_KINDS), None)
        others = (shape for shape in shapes if shape is not title)
        blocks = [*self._write_shapes(others)]
        heading = self._write_line(title) if title is not None else ""
        if notes := self._find_part("notesSlide"):
            self._relations = self._package.read_relations(notes)
            frames = (each for each in self._parse(notes).iter("{*}sp") if _get_kind(each) not in _EDGE_KINDS)
            written = [text for frame in frames for text in self._write_paragraphs(frame, is_list=False)]
            blocks += ["**Notes:**", *written] if written else []
        return heading, "\n\n".join(blocks), " (hidden)" if not is_true(slide.get("show", "1")) else ""

    def _parse(self, part: str) -> Any:
        """Parse a part. Content in several forms, such as a formula and its picture, gets its first form."""
        root = self._package.parse(part, is_needed=bool(part))
        for alternatives in [*root.iter("{*}AlternateContent")]:
            for child in choose_alternative(alternatives):
                alternatives.addprevious(child)
        return root

    def _find_part(self, kind: str) -> str:
        return next((each.target for each in self._relations.values() if each.kind == kind), "")

    def _write_shapes(self, shapes: Iterable[Any]) -> Iterator[str]:
        """Yield the text of shapes in reading order. Those without places of their own come first."""
        for shape in sorted(shapes, key=_find_place):
            kind = _get_kind(shape)
            match get_local_name(shape):
                case "grpSp":
                    yield from self._write_shapes(shape)
                case "sp" if kind in _EDGE_KINDS:
                    self.edges += shape.itertext("{*}t")
                case "sp":
                    yield from self._write_paragraphs(shape, is_list=kind in _LIST_KINDS)
                case "pic" | "graphicFrame":
                    yield from self._write_frame(shape)
                case _:
                    pass

    def _write_frame(self, frame: Any) -> Iterator[str]:
        """Yield a table, a diagram, or the description of a picture or chart."""
        for table in frame.iterfind("{*}graphic/{*}graphicData/{*}tbl"):
            yield from self._write_table(table)
            return
        for diagram in frame.iter("{*}relIds"):
            relation = self._relations.get(get_attribute(diagram, "dm"))
            root = self._parse(relation.target if relation else "")
            yield "\n".join(f"- {escape_inline(text)}" for text in list_paragraphs(root))
            return
        properties = frame.find("*/{*}cNvPr")
        words = "" if properties is None else " ".join(properties.get("descr", "").split())
        if words:
            yield f"!{write_link(escape_inline(words), '')}"

    def _write_table(self, table: Any) -> Iterator[str]:
        """Yield a table. A short text of a merged cell is in each row and column that it covers."""
        rows: list[list[MarkdownCell]] = []
        for row in table.iterfind("{*}tr"):
            own = [MarkdownCell(self._write_line(cell)) for cell in row.iterfind("{*}tc")]
            is_title = sum(map(bool, own)) == 1
            cells: list[MarkdownCell] = []
            for cell, text in zip(row.iterfind("{*}tc"), own, strict=True):
                covering = text
                if is_true(cell.get("vMerge")):
                    covering = rows[-1][len(cells)] if rows and len(cells) < len(rows[-1]) else text
                elif is_true(cell.get("hMerge")) and cells and not is_title:
                    covering = cells[-1]
                cells.append(covering if len(covering) <= REPEATED_LENGTH_MAX else text)
            rows.append(cells)
        if not rows:
            return
        properties = table.find("{*}tblPr")
        has_heads = properties is not None and is_true(properties.get("firstRow"))
        yield from write_table(rows.pop(0) if has_heads else [""] * len(rows[0]), rows)

    def _write_paragraphs(self, shape: Any, *, is_list: bool) -> list[str]:
        """Write the paragraphs of a shape. Those with bullets or numbers become nested lists."""
        blocks: list[str] = []
        depth = -1
        numbers: dict[int, tuple[str, int, int]] = {}
        for paragraph in shape.iterfind("{*}txBody/{*}p"):
            words = escape_line_starts(self._write_runs(paragraph))
            properties = paragraph.find("{*}pPr")
            marks = {get_local_name(mark): mark for mark in properties} if properties is not None else {}
            if not words:
                continue
            level = read_number(properties.get("lvl")) if properties is not None else 0
            level = min(max(0, level), _LEVEL_MAX)
            is_marked = not marks.keys().isdisjoint(("buChar", "buAutoNum", "buBlip"))
            is_item = is_marked or (is_list and "buNone" not in marks)
            before = blocks.pop() + "\n" if is_item and depth >= 0 else ""
            depth = min(level, depth + 1) if is_item else -1
            end = level + ("buAutoNum" in marks)
            numbers = {each: last for each, last in numbers.items() if each < end}
            mark = "- " if is_item else ""
            if "buAutoNum" in marks:
                kind = marks["buAutoNum"].get("type", "")
                start = read_number(marks["buAutoNum"].get("startAt"), 1)
                last = numbers.get(level)
                count = last[-1] + 1 if last and last[:2] == (kind, start) else start
                numbers[level] = kind, start, count
                number = _format_number(count, kind)
                mark = f"{number} " if PLAIN_NUMBER.fullmatch(number) else f"- {number} "
            blocks.append(f"{before}{'   ' * depth}{mark}{words}")
        return blocks

    def _write_line(self, shape: Any) -> str:
        return " ".join(filter(None, map(self._write_runs, shape.iterfind("{*}txBody/{*}p"))))

    def _write_runs(self, paragraph: Any) -> str:
        runs = [child for child in paragraph if get_local_name(child) in ("r", "fld", "m", "br")]
        plain = [
            write_formula(run) if get_local_name(run) == "m" else "".join(run.itertext("{*}t"))
            for run in runs
        ]
        words: list[str] = []
        for child, before, own, after in zip(runs, ["", *plain], plain, [*plain[1:], ""], strict=False):
            text = escape_inline(own) or " "
            properties = child.find("{*}rPr")
            baseline = properties.get("baseline", "0") if properties is not None else "0"
            tag = "sub" if baseline.startswith("-") else "sup"
            if not baseline.startswith("0") and is_set_off(tag, before, after):
                text = write_script(text, tag)
            link = child.find("{*}rPr/{*}hlinkClick")
            relation = self._relations.get(get_attribute(link, "id")) if link is not None else None
            address = make_absolute_href(relation.target, None) if relation and relation.is_external else ""
            words.append(write_link(text, address) if address else text)
        return " ".join("".join(words).split())


def _get_kind(shape: Any) -> str:
    placeholder = shape.find("*/{*}nvPr/{*}ph")
    return "" if placeholder is None else placeholder.get("type", "obj")


def _find_place(shape: Any) -> tuple[int, int]:
    offset = next((each for path in _OFFSETS for each in shape.iterfind(path)), None)
    return (
        (0, 0)
        if offset is None
        else (read_number(offset.get("y")) // _ROW_HEIGHT, read_number(offset.get("x")))
    )


def _format_number(number: int, kind: str) -> str:
    letter = next((letter for start, letter in _LETTERS_BY_KIND.items() if kind.startswith(start)), "1")
    text = format_list_number(number, letter)
    ends = {"Period": f"{text}.", "ParenR": f"{text})", "ParenBoth": f"({text})"}
    return next((ends[end] for end in ends if kind.endswith(end)), text)
