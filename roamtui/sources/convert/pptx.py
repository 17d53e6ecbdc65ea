"""Convert a PowerPoint presentation to Markdown: each slide with its text in reading order, tables and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import MACROS_LOST, ConvertedText, PageReport, format_lost
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import write_elements
from roamtui.sources.convert.html_tree import Element
from roamtui.sources.convert.office_parts import MACROS_PART, get_relationship_id, read_relationship_targets
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_PRESENTATION_PART = "ppt/presentation.xml"
_DEFAULT_TITLES = frozenset({"PowerPoint Presentation", "Slide 1"})
_SLIDES_MAX = 5_000
_TITLE_TYPES = frozenset({"title", "ctrTitle"})
_SKIPPED_TYPES = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
"""Types of placeholders that are left out: date, footer, header, slide number, and the slide's picture in the notes."""
_LIST_TYPES = frozenset({"", "body", "obj"})
"""Types of placeholders whose paragraphs are list items, unless a paragraph says otherwise."""
_LEVELS_MAX = 9
_GROUPS_MAX = 50
_FIRST_WORDS_LENGTH = 60
_ROW_OVERLAP_MIN = 0.5
"""Shapes are side by side if they overlap vertically by at least this share of the height of the lower one."""
_LINK_SCHEMES = ("http://", "https://", "mailto:")


class _Box(NamedTuple):
    """Position of a shape on its slide, in any unit."""

    x: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape with text."""

    box: _Box
    kind: str
    """Type of the placeholder. Empty if the shape is no placeholder, or one without a type."""
    blocks: Sequence[Element]


def convert_pptx(data: bytes, name: str, *, report: PageReport | None = None) -> ConvertedText:
    """Convert a presentation to Markdown. Each slide is a page, so that citations name it."""
    package = ZipPackage(data, name)
    presentation = package.parse(_PRESENTATION_PART)
    if presentation is None:
        raise SourceError(f"{name} is damaged or not a PowerPoint presentation. Save it again as PPTX.")
    targets = read_relationship_targets(package, _PRESENTATION_PART)
    slides = [*presentation.iterfind("{*}sldIdLst/{*}sldId")][:_SLIDES_MAX]
    sections = {
        entry.get("id"): section.get("name", "")
        for section in presentation.iter("{*}section")
        for entry in [*section.iter("{*}sldId")][:1]
    }
    reader = _SlideReader(package)
    pieces: list[str] = []
    page_starts: list[int] = []
    length, has_text, title = 0, False, ""
    for number, slide in enumerate(slides, start=1):
        if report is not None:
            report(number - 1, len(slides), "")
        slide_title, body = reader.read_slide(targets.get(get_relationship_id(slide), ""))
        has_text = has_text or bool(slide_title or body)
        title = title or slide_title
        section = sections.get(slide.get("id"), "")
        words = slide_title or f"Slide {number}" + (f": {_take_first_words(body)}" if body else "")
        blocks = [write_heading(1, escape_inline(section))] if section else []
        text = "\n\n".join(filter(None, (*blocks, write_heading(2 if sections else 1, words), body))) + "\n\n"
        page_starts.append(length)
        pieces.append(text)
        length += len(text)
    if not has_text:
        raise SourceError(f"{name} contains no text; its slides may be images.")
    own_title = package.read_title()
    has_macros = any(part.endswith(MACROS_PART) for part in package.parts)
    return ConvertedText(
        text="".join(pieces).rstrip("\n") + "\n",
        title=own_title if own_title not in _DEFAULT_TITLES else title,
        page_starts=tuple(page_starts),
        lost=format_lost(reader.lost, *((MACROS_LOST,) if has_macros else ())),
    )


def _take_first_words(text: str) -> str:
    words = " ".join(text.partition("\n")[0].replace("|", " ").lstrip("-# ").split())
    return words if len(words) <= _FIRST_WORDS_LENGTH else f"{words[:_FIRST_WORDS_LENGTH].rpartition(' ')[0]} …"


class _SlideReader:
    """Reads slides into their titles and their text as Markdown."""

    def __init__(self, package: ZipPackage) -> None:
        self._package = package
        self._targets: Mapping[str, str] = {}
        self._links: Mapping[str, str] = {}
        self._list_types = _LIST_TYPES
        self._inherited: dict[tuple[str, str], _Box] = {}
        """Positions of the layout's placeholders, by type and index."""
        self.lost: Counter[str] = Counter()

    def read_slide(self, part: str) -> tuple[str, str]:
        """Return the title of a slide, as Markdown on one line, and the rest as Markdown; both may be empty."""
        root = self._package.parse(part)
        tree = root.find("{*}cSld/{*}spTree") if root is not None else None
        if tree is None:
            return "", ""
        self._targets = read_relationship_targets(self._package, part)
        self._links = read_relationship_targets(self._package, part, is_external=True)
        self._inherited, self._list_types = self._read_layout(), _LIST_TYPES
        shapes = [*self._read_shapes(tree, _identity, 0)]
        titles = [shape for shape in shapes if shape.kind in _TITLE_TYPES]
        others = [shape for shape in shapes if shape.kind not in _TITLE_TYPES]
        blocks = [block for shape in _sort_shapes(others) for block in shape.blocks]
        notes = [block for shape in self._read_notes() for block in shape.blocks]
        if notes:
            blocks += [Element("p", {}, [Element("b", {}, ["Notes:"])]), *notes]
        title = " ".join(write_elements(shape.blocks) for shape in titles)
        if root.get("show") == "0":
            title = f"{' '.join(title.split())} (hidden)".strip()
        return " ".join(title.split()), write_elements(blocks)

    def _read_layout(self) -> dict[tuple[str, str], _Box]:
        boxes: dict[tuple[str, str], _Box] = {}
        part = next((target for target in self._targets.values() if "/slideLayouts/" in target), "")
        root = self._package.parse(part)
        for shape in root.iter("{*}sp") if root is not None else ():
            box, key = _read_box(shape), _read_placeholder(shape)
            if box and key:
                boxes[key] = boxes[key[0], ""] = box
        return boxes

    def _read_notes(self) -> Iterator[_Shape]:
        part = next((target for target in self._targets.values() if "/notesSlides/" in target), "")
        root = self._package.parse(part)
        tree = root.find("{*}cSld/{*}spTree") if root is not None else None
        if tree is not None:
            self._links, self._list_types = {}, frozenset()
            yield from (shape for shape in self._read_shapes(tree, _identity, 0) if shape.kind == "body")

    def _read_shapes(self, tree: Any, to_slide: Any, depth: int) -> Iterator[_Shape]:  # noqa: ANN401 - lxml has no types
        """Yield the shapes with text in a group. `to_slide` converts its positions to those of the slide."""
        for element in tree:
            name = get_local_name(element)
            key = _read_placeholder(element)
            kind = key[0] if key else ""
            if kind in _SKIPPED_TYPES:
                continue
            box = _read_box(element) or (key and (self._inherited.get(key) or self._inherited.get((kind, ""))))
            box = to_slide(box) if box else _Box(0, 0, 0)
            if name == "grpSp" and depth < _GROUPS_MAX:
                yield from self._read_shapes(element, _make_group_converter(to_slide, element), depth + 1)
            elif name == "AlternateContent":
                for choice in [*element.iterfind("{*}Choice"), *element.iterfind("{*}Fallback")][:1]:
                    yield from self._read_shapes(choice, to_slide, depth + 1)
            elif name == "pic":
                self.lost["picture"] += 1
                words = " ".join(entry.get("descr", "") for entry in element.iterfind("{*}nvPicPr/{*}cNvPr"))
                if words.strip():
                    yield _Shape(box, "", [Element("p", {}, [Element("img", {"alt": words, "src": ""})])])
            elif blocks := [*self._read_content(element, name, is_list=bool(key) and kind in self._list_types)]:
                yield _Shape(box, kind, blocks)

    def _read_content(self, element: Any, name: str, *, is_list: bool) -> Iterator[Element]:  # noqa: ANN401 - as above
        if name == "sp":
            for body in element.iterfind("{*}txBody"):
                yield from self._read_paragraphs(body, is_list=is_list)
        elif name == "graphicFrame":
            for data in element.iterfind("{*}graphic/{*}graphicData"):
                for child in data:
                    kind = get_local_name(child)
                    if kind == "tbl":
                        yield self._read_table(child)
                    elif kind == "relIds":  # a diagram
                        yield from self._read_diagram(self._targets.get(get_attribute(child, "dm"), ""))
                    else:
                        self.lost["chart" if kind == "chart" else "embedded object"] += 1

    def _read_paragraphs(self, body: Any, *, is_list: bool) -> Iterator[Element]:  # noqa: ANN401 - as above
        """Yield paragraphs. Those with bullets become nested lists."""
        lists: list[Element] = []
        for paragraph in body.iterfind("{*}p"):
            children = self._read_runs(paragraph)
            if not any(isinstance(child, Element) or child.strip() for child in children):
                continue
            properties = paragraph.find("{*}pPr")
            marks = {get_local_name(child) for child in properties} if properties is not None else set[str]()
            if marks & {"buChar", "buAutoNum", "buBlip"} or (is_list and "buNone" not in marks):
                value = properties.get("lvl", "0") if properties is not None else "0"
                level = min(int(value) if value.isdigit() else 0, _LEVELS_MAX - 1, len(lists))
                item = Element("li", {}, [*children])
                if level == len(lists):
                    lists.append(Element("ol" if "buAutoNum" in marks else "ul"))
                    if level:
                        last = lists[level - 1].children[-1]
                        assert isinstance(last, Element)
                        last.children.append(lists[level])
                del lists[level + 1 :]
                lists[level].children.append(item)
                if level == 0 and len(lists[0].children) == 1:
                    yield lists[0]
            else:
                lists.clear()
                yield Element("p", {}, [*children])

    def _read_runs(self, paragraph: Any) -> list[Element | str]:  # noqa: ANN401 - as above
        runs: list[Element | str] = []
        for child in paragraph:
            name = get_local_name(child)
            if name == "br":
                runs.append(Element("br"))
            elif name in ("r", "fld"):
                text = "".join(part.text or "" for part in child.iterfind("{*}t"))
                click = child.find("{*}rPr/{*}hlinkClick")
                target = self._links.get(get_relationship_id(click), "") if click is not None else ""
                is_link = target.startswith(_LINK_SCHEMES)
                runs.append(Element("a", {"href": target}, [text]) if is_link else text)
            elif name == "m":  # a formula
                runs.append("".join(part.text or "" for part in child.iter("{*}t")))
        return runs

    def _read_table(self, table: Any) -> Element:  # noqa: ANN401 - as above
        properties = table.find("{*}tblPr")
        has_head = properties is not None and properties.get("firstRow") in ("1", "true")
        rows = []
        for number, row in enumerate(table.iterfind("{*}tr")):
            cells = []
            for cell in row.iterfind("{*}tc"):
                if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                    continue
                children: list[Element | str | None] = []
                for body in cell.iterfind("{*}txBody"):
                    for block in [*self._read_paragraphs(body, is_list=False)]:
                        children += [*block.children, None]
                spans = {"colspan": cell.get("gridSpan", "1"), "rowspan": cell.get("rowSpan", "1")}
                cells.append(Element("th" if has_head and not number else "td", spans, children))
            rows.append(Element("tr", {}, [*cells]))
        return Element("table", {}, [*rows])

    def _read_diagram(self, part: str) -> Iterator[Element]:
        root = self._package.parse(part)
        for body in root.iter("{*}t") if root is not None else ():
            if body.find("{*}p") is not None:
                yield from self._read_paragraphs(body, is_list=True)


def _read_placeholder(shape: Any) -> tuple[str, str] | None:  # noqa: ANN401 - lxml has no types
    """Return the type and index of a placeholder, or None for any other shape."""
    placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return None if placeholder is None else (placeholder.get("type", ""), placeholder.get("idx", ""))


def _read_box(shape: Any) -> _Box | None:  # noqa: ANN401 - as above
    frame = next(
        (frame for path in ("{*}spPr/{*}xfrm", "{*}xfrm", "{*}grpSpPr/{*}xfrm") for frame in shape.iterfind(path)), None
    )
    offset, size = (frame.find(f"{{*}}{name}") if frame is not None else None for name in ("off", "ext"))
    if offset is None or size is None:
        return None
    return _Box(_parse_emu(offset.get("x")), _parse_emu(offset.get("y")), _parse_emu(size.get("cy")))


def _identity(box: _Box) -> _Box:
    return box


def _make_group_converter(to_slide: Any, group: Any) -> Any:  # noqa: ANN401 - as above
    """Return a function that converts positions in a group to those of the slide."""
    frame = group.find("{*}grpSpPr/{*}xfrm")
    parts = {get_local_name(part): part for part in frame} if frame is not None else {}
    if not {"off", "ext", "chOff", "chExt"} <= parts.keys():
        return to_slide
    x, y = (_parse_emu(parts["off"].get(axis)) for axis in "xy")
    inner_x, inner_y = (_parse_emu(parts["chOff"].get(axis)) for axis in "xy")
    wide, high = (
        _parse_emu(parts["ext"].get(axis)) / (_parse_emu(parts["chExt"].get(axis)) or 1.0) for axis in ("cx", "cy")
    )
    return lambda box: to_slide(_Box(x + (box.x - inner_x) * wide, y + (box.y - inner_y) * high, box.height * high))


def _parse_emu(value: str | None) -> float:
    """Parse a length in English Metric Units, or return 0 if there is none."""
    return float(value) if value and value.lstrip("-").isdigit() and len(value) < 20 else 0.0


def _sort_shapes(shapes: Sequence[_Shape]) -> Iterator[_Shape]:
    """Yield shapes in reading order: from top to bottom, and those side by side from left to right."""
    row: list[_Shape] = []
    for shape in sorted(shapes, key=lambda shape: (shape.box.y, shape.box.x)):
        if row:
            first = row[0].box
            shared = min(first.y + first.height, shape.box.y + shape.box.height) - shape.box.y
            if shared < _ROW_OVERLAP_MIN * shape.box.height or not shape.box.height:
                yield from sorted(row, key=lambda shape: shape.box.x)
                row = []
        row.append(shape)
    yield from sorted(row, key=lambda shape: shape.box.x)
