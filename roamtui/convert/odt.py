"""Convert an OpenDocument text to Markdown through HTML. Levels and styles show headings and code."""

from typing import Any

from roamtui.convert.converted import ConvertedText, note_headers_and_footers
from roamtui.convert.html import convert_office_html
from roamtui.convert.html_blocks import BlockWriter, escape_words
from roamtui.convert.list_numbers import PLAIN_NUMBER
from roamtui.convert.odt_styles import OdtLists, OdtStyles, parse_positive_int
from roamtui.convert.office_math import write_math_element
from roamtui.convert.symbol_fonts import translate_symbols
from roamtui.convert.xml_elements import get_attribute, get_local_name, join_text
from roamtui.convert.zip_package import ZipPackage
from roamtui.errors import SourceError
from roamtui.markdown.escaping import write_checkbox, write_note_mark

_SKIPPED_NAMES = """
tracked-changes annotation -decls forms table-of-content -index bibliography-source note-citation
covered-table-cell
"""
_SKIPPED = tuple(_SKIPPED_NAMES.split())
"""Ends of the names of elements that are not text, or that repeat headings or the words of a cell."""
_REPEATED_MAX = 100
"""A row, cell or space is repeated at most this often. A sheet may end in a million empty rows."""
_HIDING_FIELDS = frozenset({"hidden-text", "hidden-paragraph"})
_TAGS = {"table": "table", "table-row": "tr", "ruby": "ruby", "ruby-text": "rt"}
_PARAGRAPHS_BY_STYLE = {"Title": "h1", "Preformatted_20_Text": "pre", "Quotations": "blockquote"}
_TAGS_BY_LOOK = {"code": "code", "bold": "b", "italic": "i", "struck": "s", "super": "sup", "sub": "sub"}


def convert_odt(data: bytes, name: str) -> ConvertedText:
    """Convert an OpenDocument text to Markdown. Sections that include other files are not followed."""
    package = ZipPackage(data, name)
    styles = package.parse("styles.xml")
    root = package.parse("content.xml")
    body = root.find("{*}body/{*}text")
    if body is None:
        raise SourceError(f"{name} is damaged, protected or not an OpenDocument text. Save it again as ODT.")
    writer = _OdtHtmlWriter(package, styles, root)
    text = convert_office_html(writer.write_content(body), writer.notes)
    converted = ConvertedText(text=text, title=package.read_title(), notes=package.list_damage())
    return note_headers_and_footers(converted, map(join_text, styles.iter("{*}master-page")))


class _OdtHtmlWriter:
    def __init__(self, package: ZipPackage, styles: Any, root: Any) -> None:
        self._package = package
        self._styles = OdtStyles(styles, root)
        self._lists = OdtLists(styles, root)
        self._number = ""
        """The number of a list item, to write at the start of the next paragraph."""
        self._font = ""
        self._boxes: list[str] | None = None
        """Text boxes in the paragraph that is being written, which they follow. None outside of one."""
        self.notes: list[str] = []

    def write_content(self, parent: Any) -> str:
        """Write the text of an element and the elements in it."""
        parts = [escape_words(translate_symbols(parent.text or "", self._font))]
        for child in parent:
            name = get_local_name(child)
            parts += [
                "" if name.endswith(_SKIPPED) else self._write_element(name, child),
                escape_words(translate_symbols(child.tail or "", self._font)),
            ]
        return "".join(parts)

    def _write_element(self, name: str, element: Any) -> str:  # noqa: PLR0911, PLR0912 - one for each kind
        match name:
            case "h" | "p":
                return self._write_paragraph(name, element)
            case "list":
                return self._write_list(element)
            case "span":
                return self._write_span(element)
            case "table-cell":
                tag = "th" if get_local_name(element.getparent().getparent()) == "table-header-rows" else "td"
                columns = parse_positive_int(element, "number-columns-spanned")
                rows = parse_positive_int(element, "number-rows-spanned")
                cell = f'<{tag} colspan="{columns}" rowspan="{rows}">{self.write_content(element)}</{tag}>'
                return cell * _parse_count(element, "number-columns-repeated")
            case "s" | "tab":
                return " " * _parse_count(element, "c")
            case "line-break":
                return "<br>"
            case "a" if get_attribute(element, "href").startswith(("http", "mailto:")):
                href = escape_words(get_attribute(element, "href"))
                return f'<a href="{href}">{self.write_content(element)}</a>'
            case "note":
                self.notes.append("".join(map(self.write_content, element.iterfind("{*}note-body"))))
                return write_note_mark(len(self.notes))
            case "frame":
                return self._write_frame(element)
            case "content-control" if get_attribute(element, "checkbox") == "true":
                return write_checkbox(is_checked=get_attribute(element, "checked") == "true")
            case _ if name in _HIDING_FIELDS or get_attribute(element, "display") == "none":
                return "" if get_attribute(element, "is-hidden") != "false" else self.write_content(element)
            case _ if element.find("{*}p") is not None:
                return self._write_box(element)
            case _:
                content = self.write_content(element)
                wrapper = _TAGS.get(name, "")
                row_count = _parse_count(element, "number-rows-repeated")
                return f"<{wrapper}>{content}</{wrapper}>" * row_count if wrapper else content

    def _write_paragraph(self, name: str, element: Any) -> str:
        style = self._styles.get_style("paragraph", get_attribute(element, "style-name"))
        hiding = element.iter("{*}hidden-paragraph")
        is_hidden = any(get_attribute(each, "is-hidden") == "true" for each in hiding)
        if is_hidden or "hidden" in style.formatting:
            return ""
        number = self._number
        self._number = ""
        boxes_around = self._boxes
        self._boxes = []
        content = self.write_content(element)
        boxes = "".join(self._boxes)
        self._boxes = boxes_around
        level = parse_positive_int(element, "outline-level") if name == "h" else style.outline_level
        if name == "h" and not number and not style.is_unnumbered:
            number = self._lists.count_heading(element, level)
        is_shown = content.strip() or next(element.iterancestors("{*}table-cell"), None) is not None
        numbered = f"{escape_words(number)} {content}" if number and is_shown else content
        tag = next((tag for each, tag in _PARAGRAPHS_BY_STYLE.items() if each in style.names), "p")
        if level:
            tag = f"h{min(6, level)}"
        if get_local_name(element.getparent()) == "p":  # not allowed, but some programs write it
            return f"<br>{numbered}<br>{boxes}"
        return f"<{tag}>{numbered}</{tag}>{boxes}"

    def _get_level(self, paragraph: Any) -> int:
        """Return the level that the style of a paragraph gives it as a heading, or 0."""
        return self._styles.get_style("paragraph", get_attribute(paragraph, "style-name")).outline_level

    def _write_box(self, box: Any) -> str:
        """Write a section or a text box. In a paragraph, keep it for later."""
        content = self.write_content(box)
        if self._boxes is None:
            return content
        self._boxes.append(content)
        return ""

    def _write_span(self, element: Any) -> str:
        style = self._styles.get_style("text", get_attribute(element, "style-name"))
        formatting = style.formatting
        font_around = self._font
        self._font = style.font or font_around
        content = self.write_content(element) if "hidden" not in formatting else ""
        self._font = font_around
        for look, tag in _TAGS_BY_LOOK.items():
            if look in formatting:
                content = f"<{tag}>{content}</{tag}>"
        return content

    def _write_list(self, element: Any) -> str:
        """Write a list. A heading, and an item whose number Markdown does not have, begin with the number."""
        blocks = BlockWriter()
        self._lists.enter(element)
        for item in element:
            names = [get_local_name(each) for each in item]
            # an item that begins with a list only gives that its level
            is_item = get_local_name(item) == "list-item" and names[:1] != ["list"]
            number = self._lists.count_item(item) if is_item else ""
            has_heading = "h" in names or any(map(self._get_level, item.iterfind("{*}p")))
            is_marked = is_item and not has_heading and (not number or PLAIN_NUMBER.fullmatch(number))
            self._number = "" if is_marked else number
            content = self.write_content(item)
            if is_marked:
                blocks.add_item(content, number)
            else:
                blocks.append(content)
        self._lists.leave()
        return blocks.finish()

    def _write_frame(self, frame: Any) -> str:
        parts = [*map(self._write_box, frame.iterfind("{*}text-box"))]
        child = frame.find("{*}object")
        if child is not None:
            formula = child.find("{*}math")
            if formula is None:
                formula = self._package.parse(f"{get_attribute(child, 'href')}/content.xml")
            if get_local_name(formula) == "math":
                parts.append(write_math_element(formula))
            return "".join(parts)
        titles = (*frame.iterfind("{*}title"), *frame.iterfind("{*}desc"))
        words = " ".join(map(join_text, titles))
        if frame.find("{*}image") is not None:
            parts.append(f'<img alt="{escape_words(words)}">')
        return "".join(parts)


def _parse_count(element: Any, name: str) -> int:
    return min(_REPEATED_MAX, parse_positive_int(element, name))
