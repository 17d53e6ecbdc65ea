"""Convert a Word document to Markdown. Its styles show what is a heading, a list or code."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import mammoth

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.html import convert_noted
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute

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
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_BASES_MAX = 20
_BODY_LEVEL = 9
"""Outline level of body text; headings have 0 to 8."""
_NEEDS_ESCAPE = re.compile(r"['\\]")
_NOTE_LIST = re.compile(r'<ol>(?=<li id="(?:foot|end)note-)')
_NOTE_START = re.compile(r'<li id="(?:foot|end)note-[^"]*">')
_BACKLINK = re.compile(r'<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_REFERENCE = re.compile(r'<sup><a href="#(?:foot|end)note-[^"]*" id="[^"]*">\[(\d+)\]</a></sup>')
_IMAGE = re.compile(r"!\[(?:\\.|[^\[\]\\\n])*\]\([^()\n]*\)")


def convert_docx(data: bytes, name: str) -> ConvertedText:
    """Convert a Word document to Markdown."""
    package = ZipPackage(data, name)
    source = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map="\n".join([*_list_heading_styles(package), _STYLE_RULES]),
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(_find_image_part),
        external_file_access=False,
    ).value
    body, *note_lists = _NOTE_LIST.split(source)
    notes = _NOTE_START.split(_BACKLINK.sub("", "".join(note_lists)))[1:]
    text = convert_noted(_REFERENCE.sub("\ue000\\1\ue001", body), notes)
    if not any(map(str.isalnum, _IMAGE.sub("", text))):
        raise SourceError(f"{name} contains no text; its pages may be images.")
    return ConvertedText(text=text, title=package.read_title(), lost=package.list_lost())


def _find_image_part(image: Any) -> dict[str, str]:
    """Return the `src` of an embedded image: the name of its part in the package."""
    with contextlib.suppress(Exception), image.open() as part:  # mammoth fails in many ways on damaged files
        return {"src": str(part.name)}
    return {}


def _list_heading_styles(package: ZipPackage) -> Iterator[str]:
    """Yield a mammoth rule for each style with an outline level, of its own or of the style that it is based on."""
    root = package.parse("word/styles.xml")
    styles = {get_attribute(style, "styleId"): style for style in (root.iter("{*}style") if root is not None else ())}
    for style in styles.values():
        base, level = style, ""
        for _ in range(_BASES_MAX):
            values = {child.tag.rpartition("}")[2]: get_attribute(child, "val") for child in base.iter()}
            heading = _HEADING_NAME.fullmatch(values.get("name", ""))
            level = values.get("outlineLvl") or (str(int(heading[1]) - 1) if heading else "")
            if level or values.get("basedOn") not in styles:
                break
            base = styles[values["basedOn"]]
        name = get_attribute(style.find("{*}name"), "val") if style.find("{*}name") is not None else ""
        if level.isdigit() and int(level) < _BODY_LEVEL and not _HEADING_NAME.fullmatch(name) and name.isprintable():
            escaped = _NEEDS_ESCAPE.sub(r"\\\g<0>", name)
            yield f"p[style-name='{escaped}'] => h{min(6, int(level) + 1)}:fresh"
