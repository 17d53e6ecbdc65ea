"""Convert an OpenDocument text to Markdown through HTML. Outline levels and styles show what is a heading or code."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.html import TITLE_TAG, convert_noted
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_CONTENT_PART = "content.xml"
_MANIFEST_PART = "META-INF/manifest.xml"
_STYLES_PART = "styles.xml"
_ENCRYPTED = b"encryption-data"
_SKIPPED = frozenset(
    {
        *(
            "tracked-changes",
            "annotation",
            "annotation-end",
            "sequence-decls",
            "variable-decls",
            "user-field-decls",
            "forms",
        ),
        *(
            "table-of-content",
            "alphabetical-index",
            "bibliography-source",
            "illustration-index",
            "table-index",
            "object-index",
            "user-index",
        ),
        *("note-citation", "change", "change-start", "change-end", "bookmark", "bookmark-start", "bookmark-end"),
    }
)
"""Elements that are not text, or repeat headings."""
_LISTS = {"list": "ul", "list-item": "li", "list-header": "li"}
_BASES_MAX = 20
_SPACES_MAX = 100
_COLUMNS_MAX = 50
_ROWS_REPEATED_MAX = 100
_LEVEL = re.compile("[1-6]")
_LINK_SCHEMES = ("http://", "https://", "mailto:")
_CODE_GAP = re.compile(r"</pre>\s*<pre>")


def convert_odt(data: bytes, name: str) -> ConvertedText:
    """Convert an OpenDocument text to Markdown. Sections that include other files are not followed."""
    package = ZipPackage(data, name)
    if _ENCRYPTED in (package.read(_MANIFEST_PART) or b""):
        raise SourceError(f"{name} is password-protected. Save it again without a password.")
    root = package.parse(_CONTENT_PART)
    body = root.find("{*}body/{*}text") if root is not None else None
    if body is None:
        raise SourceError(f"{name} is damaged or not an OpenDocument text. Save it again as ODT.")
    writer = _HtmlWriter(package)
    for part in (package.parse(_STYLES_PART), root):
        writer.read_styles(part)
    html = _CODE_GAP.sub("\n", writer.write_content(body))
    text = convert_noted(html, writer.notes)
    if not any(map(str.isalnum, text)):
        raise SourceError(f"{name} contains no text; its pages may be images.")
    return ConvertedText(text=text, title=package.read_title(), lost=package.list_lost())


class _HtmlWriter:
    """Writes the elements of a text as HTML."""

    def __init__(self, package: ZipPackage) -> None:
        self._package = package
        self._styles: dict[str, tuple[str, set[str]]] = {}
        """By name: the style that it inherits from, if any, and its own font weights and slants."""
        self._boxes: list[str] | None = None
        """Text boxes in the open paragraph, after which they are written; None outside paragraphs."""
        self._cell_tag = ""
        """Tag of the cells in the open row; empty outside tables. A heading or code in a cell is a plain paragraph."""
        self.notes: list[str] = []

    def read_styles(self, root: Any) -> None:
        """Add the styles of a part."""
        for style in root.iter("{*}style") if root is not None else ():
            fonts = [*style.iterfind("{*}text-properties")]
            looks = {get_attribute(font, name) for font in fonts for name in ("font-weight", "font-style")}
            self._styles[get_attribute(style, "name")] = get_attribute(style, "parent-style-name"), looks

    def _list_style_names(self, element: Any) -> list[str]:
        """List the names of an element's style and of those that it inherits from."""
        names = [get_attribute(element, "style-name")]
        while names[-1] in self._styles and len(names) < _BASES_MAX:
            names.append(self._styles[names[-1]][0])
        return names

    def write_content(self, parent: Any) -> str:
        """Write the text of an element and the elements in it."""
        parts = [escape(parent.text or "")]
        for child in parent:
            name = get_local_name(child)
            parts += ["" if name in _SKIPPED else self._write_element(name, child), escape(child.tail or "")]
        return "".join(parts)

    def _write_element(self, name: str, element: Any) -> str:  # noqa: PLR0911 - one for each kind
        match name:
            case "h" | "p":
                return self._write_paragraph(name, element)
            case "list" | "list-item" | "list-header":
                return f"<{_LISTS[name]}>{self.write_content(element)}</{_LISTS[name]}>"
            case "table" | "table-header-rows" | "table-row" | "table-cell" | "covered-table-cell":
                return self._write_table_part(name, element)
            case "s":
                return " " * _read_count(element, "c", _SPACES_MAX)
            case "tab":
                return "\t"
            case "line-break":
                return "<br>"
            case "a" if get_attribute(element, "href").startswith(_LINK_SCHEMES):
                return f'<a href="{escape(get_attribute(element, "href"))}">{self.write_content(element)}</a>'
            case "note":
                boxes, self._boxes = self._boxes, None
                self.notes.extend(map(self.write_content, element.iterfind("{*}note-body")))
                self._boxes = boxes
                return f"\ue000{len(self.notes)}\ue001"
            case "frame":
                return self._write_frame(element)
            case "text-box" | "custom-shape" if self._boxes is not None:
                self._boxes.append(self.write_content(element))
                return ""
            case "span":
                return self._write_span(element)
            case _:
                return self.write_content(element)

    def _write_paragraph(self, name: str, element: Any) -> str:
        outer_boxes, self._boxes = self._boxes, []
        content = self.write_content(element)
        boxes, self._boxes = "".join(self._boxes), outer_boxes
        styles = self._list_style_names(element)
        if self._cell_tag:
            start, end = "<p>", "</p>"
        elif name == "h":
            level = get_attribute(element, "outline-level")
            tag = f"h{level}" if _LEVEL.fullmatch(level) else "h6" if level.isdigit() else "h1"
            start, end = f"<{tag}>", f"</{tag}>"
        elif "Title" in styles:
            start, end = TITLE_TAG, "</h1>"
        elif "Preformatted_20_Text" in styles:
            start, end = "<pre>", "</pre>"
        elif "Quotations" in styles:
            start, end = "<blockquote><p>", "</p></blockquote>"
        else:
            start, end = "<p>", "</p>"
        return f"{start}{content}{end}{boxes}"

    def _write_table_part(self, name: str, element: Any) -> str:
        if name == "covered-table-cell":
            return ""  # the cell that covers it has its words
        outer_tag = self._cell_tag
        self._cell_tag = "th" if name == "table-header-rows" else outer_tag or "td"
        content = self.write_content(element)
        tag, self._cell_tag = self._cell_tag, outer_tag
        if name == "table-cell":
            columns = _read_count(element, "number-columns-spanned", _COLUMNS_MAX)
            spans = f'colspan="{columns}" rowspan="{escape(get_attribute(element, "number-rows-spanned"))}"'
            cell = f"<{tag} {spans}>{content}</{tag}>"
            return cell * _read_count(element, "number-columns-repeated", _COLUMNS_MAX)
        if name == "table-row":
            return f"<tr>{content}</tr>" * _read_count(element, "number-rows-repeated", _ROWS_REPEATED_MAX)
        return f"<table>{content}</table>" if name == "table" else content

    def _write_span(self, element: Any) -> str:
        content = self.write_content(element)
        names = self._list_style_names(element)
        if "Source_20_Text" in names:
            return f"<code>{content}</code>"
        looks = {look for name in names if name in self._styles for look in self._styles[name][1]}
        for look, tag in (("italic", "i"), ("bold", "b")):
            content = f"<{tag}>{content}</{tag}>" if look in looks else content
        return content

    def _write_frame(self, frame: Any) -> str:
        """Write a text box, a picture's description or a formula."""
        for child in frame.iterfind("{*}object"):
            part = f"{get_attribute(child, 'href').removeprefix('./')}/{_CONTENT_PART}"
            try:
                root = self._package.parse(part)
            except SourceError:
                root = None  # such as a formula of OpenOffice 3, which declares a document type
            formula = next(root.iter("{*}annotation"), None) if root is not None else None
            return f"<code>{escape(formula.text)}</code>" if formula is not None and formula.text else ""
        boxes = "".join(self._write_element("text-box", box) for box in frame.iterfind("{*}text-box"))
        if frame.find("{*}image") is None:
            return boxes
        words = " ".join(text for name in ("title", "desc") for text in frame.xpath(f"*[local-name()='{name}']/text()"))
        return f'{boxes}<img alt="{escape(words.strip())}" src="">'


def _read_count(element: Any, name: str, count_max: int) -> int:
    """Return the value of an attribute that is a number from 1 to `count_max`; 1 if there is none."""
    value = get_attribute(element, name)
    return max(1, min(int(value), count_max)) if value.isdigit() and len(value) < 10 else 1
