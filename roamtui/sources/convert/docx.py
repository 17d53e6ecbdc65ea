"""A Word document into Markdown: its styles say what is a heading, a list or code."""

from __future__ import annotations

import io
import re

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import Converted
from roamtui.sources.convert.escaping import has_words
from roamtui.sources.convert.html import convert_html
from roamtui.sources.convert.html_tokens import Tag, read_tokens
from roamtui.sources.convert.package import Package

_MAIN_PART = "word/document.xml"
_TITLE_PART = "docProps/core.xml"
_STYLES = """
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
_DOCUMENT_TITLE = '<h1 class="title">'
_HEADING_TAG = re.compile("<(/?)h([1-5])>")
"""Of all headings but the document's title, which they stand below."""
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY", "<!DOCTYPE".encode("utf-16-le"), "<!DOCTYPE".encode("utf-16-be"))


def convert_docx(data: bytes, name: str) -> Converted:
    """Return a Word document as Markdown.

    Args:
        data: The file.
        name: What to call it in an error.

    Raises:
        SourceError: It is damaged, protected, too large, or holds no text.
        ImportError: The converters are not installed.
    """
    import mammoth  # noqa: PLC0415 - an extra

    package = Package(data, name)
    if package.read(_MAIN_PART) is None:
        raise SourceError(f"{name} is no Word document, or a damaged one. Save it anew as DOCX.")
    for part_name in package.list_parts():
        if part_name.endswith((".xml", ".rels")) and _declares(package.read(part_name) or b""):
            raise SourceError(f"{name} declares XML entities, which no Word document does. It was not opened.")
    page = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map=_STYLES,
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(lambda _: {}),
        external_file_access=False,
    )
    source = page.value
    if source.count(_DOCUMENT_TITLE) == 1:
        source = _HEADING_TAG.sub(lambda tag: f"<{tag[1]}h{int(tag[2]) + 1}>", source)
    text = convert_html(source).text
    if not has_words(text):
        raise SourceError(f"{name} holds no text; its pages may be pictures.")
    return Converted(text=text, title=_read_title(package.read(_TITLE_PART) or b""))


def _declares(part: bytes) -> bool:
    return any(mark in part for mark in _DECLARATIONS)


def _read_title(part: bytes) -> str:
    is_title = False
    for token in read_tokens(part.decode("utf-8", "replace")):
        if isinstance(token, Tag):
            is_title = token.name == "dc:title" and not token.is_end
        elif is_title and token.strip():
            return " ".join(token.split())[:300]
    return ""
