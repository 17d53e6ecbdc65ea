"""Convert a presentation (PPTX) to Markdown: each slide with its text in order, tables and notes."""

import io
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.oxml import parse_xml

from roamtui.convert.converted import ConvertedText
from roamtui.convert.escaping import (
    escape_inline,
    escape_line_starts,
    make_absolute_href,
    write_heading,
    write_script,
)
from roamtui.convert.numbering import PLAIN_NUMBER, format_number
from roamtui.convert.office_math import write_formula
from roamtui.convert.tables import MarkdownCell, write_table
from roamtui.convert.xml_elements import get_attribute, get_local_name
from roamtui.convert.zip_package import ZipPackage

_DEFAULT_TITLES = frozenset({"", "PowerPoint Presentation", "Slide 1"})
_SKIPPED_TYPES = {PP_PLACEHOLDER[name] for name in ("DATE", "FOOTER", "HEADER", "SLIDE_NUMBER")}
_LIST_TYPES = {PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT}
"""Types of placeholders whose paragraphs are list items, unless a paragraph says otherwise."""
_LETTERS_BY_KIND = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_ROW_HEIGHT = 457_200
"""Shapes in the same half inch of a slide are side by side. The unit of slides is 1/914,400 of an inch."""


def convert_pptx(data: bytes, name: str) -> ConvertedText:
    """Convert a presentation to Markdown. Each slide is a page, so that citations name it."""
    ZipPackage(data, name)  # checks its limits
    deck = Presentation(io.BytesIO(data))
    slides = [_read_slide(slide) for slide in deck.slides]
    sections = {
        slide.get("id"): escape_inline(section.get("name", ""))
        for section in deck.element.iter("{*}section")
        for slide in islice(section.iter("{*}sldId"), 1)
    }
    texts: list[str] = []
    for number, (slide, (heading, body, note)) in enumerate(zip(deck.slides, slides, strict=True), start=1):
        section = sections.get(str(slide.slide_id))
        words = body.partition("\n")[0].strip("-# |")[:60].strip()
        title = heading or f"Slide {number}" + (f": {words}" if words else "")
        headings = [write_heading(1, section)] if section else []
        headings.append(write_heading(2 if sections else 1, title + note))
        texts.append("\n\n".join([*headings, body]).rstrip() + "\n\n")
    title = deck.core_properties.title
    return ConvertedText(
        text="".join(texts).rstrip("\n") + "\n",
        title=slides[0][0] if slides and title in _DEFAULT_TITLES else title,
        page_starts=tuple(accumulate(map(len, texts[:-1]), initial=0)),
    )


def _read_slide(slide: Any) -> tuple[str, str, str]:
    """Return a slide's title, the rest as Markdown, and words if it is hidden; all may be empty."""
    # A choice is, for example, a formula, whose other form is a picture.
    for choice in [*slide.element.iter("{*}Choice")]:
        for child in [*choice]:
            choice.getparent().addprevious(child)
    title = slide.shapes.title
    title_id = title.shape_id if title is not None else None
    blocks = [*_write_shapes(shape for shape in slide.shapes if shape.shape_id != title_id)]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) and frame.text.strip():
        blocks += ["**Notes:**", *_write_paragraphs(frame.paragraphs, is_list=False)]
    heading = _write_line(title.text_frame) if title is not None else ""
    return heading, "\n\n".join(blocks), " (hidden)" if slide.element.get("show") == "0" else ""


def _write_shapes(shapes: Iterable[Any]) -> Iterator[str]:
    """Yield the text of shapes in reading order."""
    for shape in sorted(shapes, key=lambda shape: ((shape.top or 0) // _ROW_HEIGHT, shape.left or 0)):
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if hasattr(shape, "shapes"):  # a group
            yield from _write_shapes(shape.shapes)
        elif shape.has_text_frame and kind not in _SKIPPED_TYPES:
            yield from _write_paragraphs(shape.text_frame.paragraphs, is_list=kind in _LIST_TYPES)
        elif getattr(shape, "has_table", False):
            rows = [
                [MarkdownCell(_write_line(cell.text_frame)) for cell in row.cells] for row in shape.table.rows
            ]
            heads = rows.pop(0) if shape.table.first_row else [""] * len(rows[0])
            yield from write_table(heads, rows)
        elif hasattr(shape, "image") and (words := shape.element.nvPicPr.cNvPr.get("descr", "").strip()):
            yield f"![{escape_inline(' '.join(words.split()))}]()"
        for diagram in shape.element.iter("{*}relIds"):
            part = shape.part.related_part(get_attribute(diagram, "dm"))
            texts = parse_xml(part.blob).iter("{*}t")
            yield "\n".join(f"- {escape_inline(text.text or '')}" for text in texts)


def _write_paragraphs(paragraphs: Iterable[Any], *, is_list: bool) -> list[str]:
    """Write paragraphs. Those with bullets or numbers become nested lists."""
    blocks: list[str] = []
    depth = -1
    numbers: dict[int, tuple[str, str, int]] = {}
    for paragraph in paragraphs:
        words = escape_line_starts(_write_runs(paragraph))
        properties = paragraph._p.pPr  # noqa: SLF001 - bullets have no other name
        marks = {get_local_name(mark): mark for mark in properties} if properties is not None else {}
        if not words:
            continue
        is_marked = not marks.keys().isdisjoint(("buChar", "buAutoNum", "buBlip"))
        is_item = is_marked or (is_list and "buNone" not in marks)
        before = blocks.pop() + "\n" if is_item and depth >= 0 else ""
        depth = min(paragraph.level, depth + 1) if is_item else -1
        end = paragraph.level + ("buAutoNum" in marks)
        numbers = {level: last for level, last in numbers.items() if level < end}
        mark = "- " if is_item else ""
        if "buAutoNum" in marks:
            kind = marks["buAutoNum"].get("type", "")
            start = marks["buAutoNum"].get("startAt", "1")
            last = numbers.get(paragraph.level)
            count = last[-1] + 1 if last and last[:2] == (kind, start) else int(start)
            numbers[paragraph.level] = kind, start, count
            number = _format_number(count, kind)
            mark = f"{number} " if PLAIN_NUMBER.fullmatch(number) else f"- {number} "
        blocks.append(f"{before}{'   ' * depth}{mark}{words}")
    return blocks


def _format_number(number: int, kind: str) -> str:
    """Format a number as PowerPoint does, such as `a)` for the kind `alphaLcParenR`."""
    letter = next((letter for start, letter in _LETTERS_BY_KIND.items() if kind.startswith(start)), "1")
    text = format_number(number, letter)
    ends = {"Period": f"{text}.", "ParenR": f"{text})", "ParenBoth": f"({text})"}
    return next((ends[end] for end in ends if kind.endswith(end)), text)


def _write_line(frame: Any) -> str:
    return " ".join(filter(None, map(_write_runs, frame.paragraphs)))


def _write_runs(paragraph: Any) -> str:
    words: list[str] = []
    links = {run._r: run.hyperlink.address for run in paragraph.runs}  # noqa: SLF001 - fields are no runs
    for child in paragraph._p:  # noqa: SLF001
        if get_local_name(child) in ("r", "fld", "m", "br"):
            is_formula = get_local_name(child) == "m"
            plain = write_formula(child) if is_formula else "".join(child.itertext("{*}t"))
            text = escape_inline(plain) or " "
            properties = child.find("{*}rPr")
            baseline = properties.get("baseline", "0") if properties is not None else "0"
            if not baseline.startswith(("0", "-")):
                text = write_script(text, "sup")
            elif baseline.startswith("-") and words and words[-1][-1:].isdigit():
                text = write_script(text, "sub")
            words.append(f"[{text}]({make_absolute_href(links[child], None)})" if links.get(child) else text)
    return " ".join("".join(words).split())
