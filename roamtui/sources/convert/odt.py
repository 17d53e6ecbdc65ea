"""Convert an OpenDocument text to Markdown through HTML. Outline levels and styles show what is a heading or code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.html import convert_noted
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name, join_text

_SKIPPED = (
    *("tracked-changes", "annotation", "-decls", "forms", "table-of-content", "-index", "bibliography-source"),
    *("note-citation", "covered-table-cell"),
)
"""Ends of the names of elements that are not text, or repeat headings or the words of a cell."""
_TAGS = {"list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr"}
_PARAGRAPHS_BY_STYLE = {"Title": "h1", "Preformatted_20_Text": "pre", "Quotations": "blockquote"}
_SPANS_BY_STYLE = {"Source_20_Text": "code", "bold": "b", "italic": "i"}


def convert_odt(data: bytes, name: str) -> ConvertedText:
    """Convert an OpenDocument text to Markdown. Sections that include other files are not followed."""
    package = ZipPackage(data, name)
    styles, root = package.parse("styles.xml"), package.parse("content.xml")
    body = root.find("{*}body/{*}text")
    if body is None:
        raise SourceError(f"{name} is damaged, password-protected or not an OpenDocument text. Save it again as ODT.")
    writer = _HtmlWriter(package, [*styles.iter("{*}style"), *root.iter("{*}style")])
    text = convert_noted(re.sub(r"</pre>\s*<pre>", "\n", writer.write_content(body)), writer.notes)
    return ConvertedText(text=text, title=package.read_title())


class _HtmlWriter:
    """Writes the elements of a text as HTML."""

    def __init__(self, package: ZipPackage, styles: Iterable[Any]) -> None:
        self._package = package
        self._styles: dict[str, set[str]] = {}
        """By name: the names of the style and of those that it inherits from, and their font weights and slants."""
        self.notes: list[str] = []
        for style in styles:
            fonts = style.iterfind("{*}text-properties")
            looks = {get_attribute(font, look) for font in fonts for look in ("font-weight", "font-style")}
            name, parent = get_attribute(style, "name"), get_attribute(style, "parent-style-name")
            self._styles[name] = {name, parent, *looks, *self._styles.get(parent, ())}

    def write_content(self, parent: Any) -> str:
        """Write the text of an element and the elements in it."""
        parts = [escape(parent.text or "")]
        for child in parent:
            name = get_local_name(child)
            parts += ["" if name.endswith(_SKIPPED) else self._write_element(name, child), escape(child.tail or "")]
        return "".join(parts)

    def _write_element(self, name: str, element: Any) -> str:
        content = "" if name in ("note", "frame") else self.write_content(element)
        looks = self._styles.get(get_attribute(element, "style-name"), {get_attribute(element, "style-name")})
        match name:
            case "h":
                level = min(6, _read_count(element, "outline-level"))
                content = f"<h{level}>{content}</h{level}>"
            case "p":
                tag = next((tag for look, tag in _PARAGRAPHS_BY_STYLE.items() if look in looks), "p")
                content = f"<{tag}>{content}</{tag}>"
            case "span":
                for tag in (_SPANS_BY_STYLE[look] for look in _SPANS_BY_STYLE if look in looks):
                    content = f"<{tag}>{content}</{tag}>"
            case "table-cell":
                tag = "th" if get_local_name(element.getparent().getparent()) == "table-header-rows" else "td"
                columns, rows = (_read_count(element, f"number-{kind}-spanned") for kind in ("columns", "rows"))
                content = f'<{tag} colspan="{columns}" rowspan="{rows}">{content}</{tag}>'
            case "s" | "tab":
                content = " " * min(100, _read_count(element, "c"))
            case "line-break":
                content = "<br>"
            case "a" if get_attribute(element, "href").startswith(("http", "mailto:")):
                content = f'<a href="{escape(get_attribute(element, "href"))}">{content}</a>'
            case "note":
                self.notes.extend(map(self.write_content, element.iterfind("{*}note-body")))
                content = f"\ue000{len(self.notes)}\ue001"
            case "frame":
                content = self._write_frame(element)
            case _:
                wrapper = _TAGS.get(name, "")
                content = f"<{wrapper}>{content}</{wrapper}>" if wrapper else content
        return content

    def _write_frame(self, frame: Any) -> str:
        """Write a text box, a picture's description or a formula."""
        parts = [*map(self.write_content, frame.iterfind("{*}text-box"))]
        for child in frame.iterfind("{*}object"):
            formula = self._package.parse(f"{get_attribute(child, 'href').removeprefix('./')}/content.xml")
            parts += [f"<code>{escape(join_text(text))}</code>" for text in formula.iter("{*}annotation")]
            return "".join(parts)  # the picture beside it shows the same
        words = " ".join(join_text(child) for name in ("title", "desc") for child in frame.iterfind(f"{{*}}{name}"))
        return "".join(parts) + f'<img alt="{escape(words)}">' * (frame.find("{*}image") is not None)


def _read_count(element: Any, name: str) -> int:
    value = get_attribute(element, name)
    return max(1, int(value)) if re.fullmatch("[0-9]{1,9}", value) else 1
