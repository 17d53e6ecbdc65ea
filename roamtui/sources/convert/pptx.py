"""Convert a PowerPoint presentation to Markdown: each slide with its text in reading order, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from html import escape
from itertools import accumulate
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.oxml import parse_xml

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import convert_fragment
from roamtui.sources.convert.zip_package import ZipPackage, get_local_name

_DEFAULT_TITLES = frozenset({"", "PowerPoint Presentation", "Slide 1"})
_SKIPPED_TYPES = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER, PP_PLACEHOLDER.SLIDE_NUMBER}
_LIST_TYPES = {PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT}
"""Types of placeholders whose paragraphs are list items, unless a paragraph says otherwise."""
_FIRST_WORDS_LENGTH = 60
_ROW_OVERLAP_MIN = 0.5
"""Shapes are side by side if they overlap vertically by at least this share of the height of the lower one."""


def convert_pptx(data: bytes, name: str) -> ConvertedText:
    """Convert a presentation to Markdown. Each slide is a page, so that citations name it."""
    package = ZipPackage(data, name)
    deck = Presentation(io.BytesIO(data))
    sections = {
        entry.get("id"): section.get("name", "")
        for section in deck.element.iter("{*}section")
        for entry in [*section.iter("{*}sldId")][:1]
    }
    slides = [*deck.slides]
    texts: list[str] = []
    has_text, title = False, deck.core_properties.title
    for number, slide in enumerate(slides, start=1):
        heading, body = _read_slide(slide)
        has_text = has_text or bool(heading or body)
        title = heading if title in _DEFAULT_TITLES else title
        section = sections.get(str(slide.slide_id), "")
        heading = heading or f"Slide {number}" + (f": {_take_first_words(body)}" if body else "")
        heading += " (hidden)" * (slide.element.get("show") == "0")
        blocks = [write_heading(1, escape_inline(section))] if section else []
        texts.append("\n\n".join(filter(None, (*blocks, write_heading(2 if sections else 1, heading), body))) + "\n\n")
    if not has_text:
        raise SourceError(f"{name} contains no text; its slides may be images.")
    return ConvertedText(
        text="".join(texts).rstrip("\n") + "\n",
        title=title,
        page_starts=tuple(accumulate(map(len, texts[:-1]), initial=0)),
        lost=package.list_lost(),
    )


def _take_first_words(text: str) -> str:
    words = " ".join(text.partition("\n")[0].replace("|", " ").lstrip("-# ").split())
    return words if len(words) <= _FIRST_WORDS_LENGTH else f"{words[:_FIRST_WORDS_LENGTH].rpartition(' ')[0]} …"


def _read_slide(slide: Any) -> tuple[str, str]:
    """Return the title of a slide, and the rest as Markdown; both may be empty."""
    for alternative in [*slide.element.iter("{*}AlternateContent")]:  # such as a formula and its picture
        for choice in [*alternative.iterfind("{*}Choice")][:1]:
            for child in [*choice]:
                alternative.addprevious(child)
    title = slide.shapes.title
    html = "".join(_write_shapes(shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id))
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame):
        notes = "".join(_write_paragraphs(frame.paragraphs, is_list=False))
        html += f"<p><b>Notes:</b></p>{notes}" if notes else ""
    return escape_inline(" ".join(title.text_frame.text.split())) if title is not None else "", convert_fragment(html)


def _write_shapes(shapes: Iterable[Any]) -> Iterator[str]:
    """Yield the text of shapes as HTML, in reading order."""
    for shape in _sort_shapes(shapes):
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if hasattr(shape, "shapes"):  # a group
            yield from _write_shapes(shape.shapes)
        elif shape.has_text_frame and kind not in _SKIPPED_TYPES:
            yield from _write_paragraphs(shape.text_frame.paragraphs, is_list=kind in _LIST_TYPES)
        elif getattr(shape, "has_table", False):
            yield _write_table(shape.table)
        elif hasattr(shape, "image") and (words := shape.element.nvPicPr.cNvPr.get("descr", "").strip()):
            yield f'<p><img alt="{escape(words)}"></p>'
        for diagram in shape.element.iter("{*}relIds"):
            part = shape.part.related_part(next(value for key, value in diagram.items() if key.endswith("}dm")))
            yield "".join(f"<ul><li>{escape(text.text or '')}</ul>" for text in parse_xml(part.blob).iter("{*}t"))


def _sort_shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes in reading order: from top to bottom, and those side by side from left to right."""
    row: list[Any] = []
    bottom = 0
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        top, height = shape.top or 0, shape.height or 0
        if row and (not height or min(bottom, top + height) - top < _ROW_OVERLAP_MIN * height):
            yield from sorted(row, key=lambda shape: shape.left or 0)
            row = []
        bottom = bottom if row else top + height
        row.append(shape)
    yield from sorted(row, key=lambda shape: shape.left or 0)


def _write_paragraphs(paragraphs: Iterable[Any], *, is_list: bool) -> Iterator[str]:
    """Yield paragraphs as HTML. Those with bullets become nested lists."""
    lists: list[str] = []
    for paragraph in paragraphs:
        words = _write_runs(paragraph)
        if not words.strip():
            continue
        properties = paragraph._p.pPr  # noqa: SLF001 - bullets have no other name
        marks = {get_local_name(mark) for mark in properties} if properties is not None else set[str]()
        is_item = bool(marks & {"buChar", "buAutoNum", "buBlip"}) or (is_list and "buNone" not in marks)
        depth = min(paragraph.level, len(lists)) + 1 if is_item else 0
        while len(lists) > depth:
            yield f"</{lists.pop()}>"
        if depth > len(lists):
            lists.append("ol" if "buAutoNum" in marks else "ul")
            yield f"<{lists[-1]}>"
        yield f"<li>{words}" if is_item else f"<p>{words}</p>"
    yield "".join(f"</{name}>" for name in reversed(lists))


def _write_runs(paragraph: Any) -> str:
    words: list[str] = []
    links = {run._r: run.hyperlink.address for run in paragraph.runs}  # noqa: SLF001 - fields are no runs
    for child in paragraph._p:  # noqa: SLF001
        if get_local_name(child) == "br":
            words.append("<br>")
        elif get_local_name(child) in ("r", "fld", "m"):
            text = escape("".join(part.text or "" for part in child.iter("{*}t")))
            words.append(f'<a href="{escape(links[child])}">{text}</a>' if links.get(child) else text)
    return "".join(words)


def _write_table(table: Any) -> str:
    html = "<table>"
    for number, row in enumerate(table.rows):
        name = "th" if table.first_row and not number else "td"
        html += "<tr>"
        for cell in row.cells:
            if not cell.is_spanned:
                words = "<br>".join(map(_write_runs, cell.text_frame.paragraphs))
                html += f'<{name} colspan="{cell.span_width}" rowspan="{cell.span_height}">{words}</{name}>'
    return f"{html}</table>"
