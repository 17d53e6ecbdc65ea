"""Convert a Word document to Markdown. Its styles show what is a heading, a list or code."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import MACROS_LOST, ConvertedText, format_lost
from roamtui.sources.convert.footnotes import insert_notes
from roamtui.sources.convert.html import convert_html
from roamtui.sources.convert.html_tree import read_tokens
from roamtui.sources.convert.zip_package import ZipPackage

_MAIN_PART = "word/document.xml"
_COMMENTS_PART, _MACROS_PART = "word/comments.xml", "word/vbaProject.bin"
_CHART_PART = re.compile(r"word/charts/chart\d+\.xml")
_STYLE_RULES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='heading 7'] => h6:fresh
p[style-name='heading 8'] => h6:fresh
p[style-name='heading 9'] => h6:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name^='Code'] => pre:separator('\\n')
p[style-name^='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Plain Text'] => p:fresh
r[style-name^='Code'] => code
r[style-name='Verbatim Char'] => code
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
"""
_STYLES_PART = "word/styles.xml"
_NEEDS_ESCAPE = re.compile(r"['\\]")
_ESCAPED = r"\\\g<0>"
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_HEADING_STYLES_MAX = 200
_BASES_MAX = 20
_BODY_LEVEL = 9
"""Outline level of body text; headings have 0 to 8."""
_NOTE_LIST_START = re.compile(r'<ol>(?=<li id="(?:foot|end)note-)')
_NOTE_START = re.compile(r'<li id="(?:foot|end)note-[^"]*">')
_BACKLINK = re.compile(r'<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_REFERENCE = re.compile(r'<sup><a href="#(?:foot|end)note-[^"]*" id="[^"]*">\[(\d+)\]</a></sup>')
_IMAGE = re.compile(r"!\[(?:\\.|[^\[\]\\\n])*\]\([^()\n]*\)")
_DOCUMENT_TITLE = '<h1 class="title">'
_HEADING_TAG = re.compile("<(/?)h([1-5])>")
"""Tags of headings, which move one level down if the document has a title."""


def convert_docx(data: bytes, name: str) -> ConvertedText:
    """Convert a Word document to Markdown."""
    import mammoth  # noqa: PLC0415 - an extra

    package = ZipPackage(data, name)
    if package.read(_MAIN_PART) is None:
        raise SourceError(f"{name} is damaged or not a Word document. Save it again as DOCX.")
    for part_name in package.parts:
        if part_name.endswith((".xml", ".rels")):
            package.read_xml(part_name)  # raises if it declares entities, which mammoth would expand
    page = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map="\n".join([*_list_heading_styles(package.read(_STYLES_PART) or b""), _STYLE_RULES]),
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(_find_image_part),
        external_file_access=False,
    )
    source = page.value
    if source.count(_DOCUMENT_TITLE) == 1:
        source = _HEADING_TAG.sub(lambda tag: f"<{tag[1]}h{int(tag[2]) + 1}>", source)
    body, *note_lists = _NOTE_LIST_START.split(source)
    notes = [
        " ".join(convert_html(_BACKLINK.sub("", note)).text.split())
        for note in _NOTE_START.split("".join(note_lists))[1:]
    ]
    text = insert_notes(convert_html(_REFERENCE.sub("\ue000\\1\ue001", body)).text, notes)
    if not any(map(str.isalnum, _IMAGE.sub("", text))):
        raise SourceError(f"{name} contains no text; its pages may be images.")
    lost = Counter(chart=sum(map(bool, map(_CHART_PART.fullmatch, package.parts))))
    lost["comment"] = (package.read(_COMMENTS_PART) or b"").count(b"<w:comment ")
    return ConvertedText(
        text=text,
        lost=format_lost(lost, *((MACROS_LOST,) if _MACROS_PART in package.parts else ())),
        title=package.read_title(),
    )


def _find_image_part(image: Any) -> dict[str, str]:  # noqa: ANN401 - mammoth has no types
    """Return the `src` of an embedded image: the name of its part in the package."""
    with contextlib.suppress(Exception), image.open() as part:  # mammoth fails in many ways on damaged files
        return {"src": str(part.name)}
    return {}


def _list_heading_styles(styles: bytes) -> Iterator[str]:
    """Yield a mammoth style rule for each custom heading style.

    A style without an outline level inherits the level of its base style. Built-in heading styles need no rule, because
    mammoth knows them.
    """
    styles_by_id: dict[str, _Style] = {}
    style = _Style()
    for token in read_tokens(styles.decode("utf-8", "replace")):
        if isinstance(token, str) or token.is_end:
            continue
        value = token.attributes.get("w:val", "")
        match token.name:
            case "w:style":
                style = styles_by_id[token.attributes.get("w:styleid", "")] = _Style()
            case "w:name":
                style.name = value
            case "w:basedon":
                style.base = value
            case "w:outlinelvl" if value.isdigit() and len(value) == 1:
                style.level = int(value)
    count = 0
    for style in styles_by_id.values():
        base, level = style, None
        for _ in range(_BASES_MAX):
            level = base.level
            if level is None and (heading := _HEADING_NAME.fullmatch(base.name)):
                level = int(heading[1]) - 1
            if level is not None or base.base not in styles_by_id:
                break
            base = styles_by_id[base.base]
        if level is None or level >= _BODY_LEVEL or _HEADING_NAME.fullmatch(style.name):
            continue
        count += 1
        if count <= _HEADING_STYLES_MAX and style.name.isprintable():
            yield f"p[style-name='{_NEEDS_ESCAPE.sub(_ESCAPED, style.name)}'] => h{min(6, level + 1)}:fresh"


@dataclass(slots=True)
class _Style:
    """A style of the document, without what it inherits."""

    name: str = ""
    base: str = ""
    """Id of the style that it inherits from; empty if there is none."""
    level: int | None = None
    """Outline level, from 0; None if the style sets none."""
