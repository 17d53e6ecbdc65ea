"""Convert a Word document to Markdown. Its styles show what is a heading, a list or code."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import mammoth

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.html import convert_noted
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_STYLE_RULES = r"""
p[style-name='Title'] => h1:fresh
p[style-name^='Code'] => pre:separator('\n')
p[style-name^='Source Code'] => pre:separator('\n')
r[style-name^='Code'] => code
r[style-name='Verbatim Char'] => code
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
"""
_NOTE_START = re.compile(r'(?:<ol>)?<li id="(?:foot|end)note-[^"]*">')
_BACKLINK = re.compile(r'<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_REFERENCE = re.compile(r'<sup><a href="#(?:foot|end)note-[^"]*" id="[^"]*">\[(\d+)\]</a></sup>')


def convert_docx(data: bytes, name: str) -> ConvertedText:
    """Convert a Word document to Markdown."""
    package = ZipPackage(data, name)
    source = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map="\n".join([*_list_heading_rules(package), _STYLE_RULES]),
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(_find_image_part),
        external_file_access=False,
    ).value
    body, *notes = _NOTE_START.split(_BACKLINK.sub("", source))
    text = convert_noted(_REFERENCE.sub("\ue000\\1\ue001", body), notes)
    return ConvertedText(text=text, title=package.read_title())


def _find_image_part(image: Any) -> dict[str, str]:
    """Return the `src` of an embedded image: the name of its part in the package."""
    with contextlib.suppress(Exception), image.open() as part:  # mammoth fails in many ways on damaged files
        return {"src": str(part.name)}
    return {}


def _list_heading_rules(package: ZipPackage) -> Iterator[str]:
    """Yield a mammoth rule for each style with an outline level, of its own or of the style that it is based on."""
    levels: dict[str, str] = {}
    for style in package.parse("word/styles.xml").iter("{*}style"):
        values = {get_local_name(child): get_attribute(child, "val") for child in style.iter()}
        name, base = values.get("name", ""), levels.get(values.get("basedOn", ""), "")
        heading = re.fullmatch("heading ([1-9])", name, re.IGNORECASE)
        level = heading[1] if heading else str(int(values["outlineLvl"]) + 1) if "outlineLvl" in values else base
        levels[get_attribute(style, "styleId")] = level
        if level in {*"123456789"} and name.isprintable():  # 10 is body text
            escaped = re.sub(r"['\\]", r"\\\g<0>", name)
            yield f"p[style-name='{escaped}'] => h{min(6, int(level))}:fresh"
