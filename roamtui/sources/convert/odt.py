"""Convert an OpenDocument text to Markdown. Its outline levels and styles show what is a heading, a list or code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.footnotes import insert_notes
from roamtui.sources.convert.html import write_elements
from roamtui.sources.convert.html_tree import Element
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
        *("table-of-content", "alphabetical-index", "illustration-index", "table-index", "object-index", "user-index"),
        *("note-citation", "change", "change-start", "change-end", "bookmark", "bookmark-start", "bookmark-end"),
    }
)
"""Elements that are not text, or repeat headings."""
_BOXES = ("{*}text-box", "{*}custom-shape")
_BASES_MAX = 20
_LISTS_MAX = 16
"""Maximum depth of nested lists. Items of deeper lists move up to this depth."""
_SPACES_MAX = 100
_COLUMNS_MAX = 50
_ROWS_REPEATED_MAX = 100
_LINK_SCHEMES = ("http://", "https://", "mailto:")


def convert_odt(data: bytes, name: str) -> ConvertedText:
    """Convert an OpenDocument text to Markdown. Sections that include other files are not followed."""
    package = ZipPackage(data, name)
    if _ENCRYPTED in (package.read(_MANIFEST_PART) or b""):
        raise SourceError(f"{name} is password-protected. Save it again without a password.")
    root = package.parse(_CONTENT_PART)
    body = (
        next((text for text in root.iter("{*}text") if get_local_name(text.getparent()) == "body"), None)
        if (root is not None)
        else None
    )
    if body is None:
        raise SourceError(f"{name} is damaged or not an OpenDocument text. Save it again as ODT.")
    reader = _TextReader(package)
    for part in (package.parse(_STYLES_PART), root):
        reader.read_styles(part)
    blocks = reader.read_blocks(body)
    if sum(block.name == "h1" and "is-title" in block.attributes for block in blocks) != 1:
        reader.level_shift = 0
    for block in blocks:
        if "level" in block.attributes:
            block.name = f"h{min(6, int(block.attributes['level']) + reader.level_shift)}"
    text = insert_notes(write_elements([*_join_code(blocks)]) + "\n", reader.notes)
    if not any(map(str.isalnum, text)):
        raise SourceError(f"{name} contains no text; its pages may be images.")
    return ConvertedText(text=text, title=package.read_title(), lost=package.list_lost())


def _join_code(blocks: list[Element]) -> Iterator[Element]:
    """Join paragraphs of code that follow each other."""
    code: Element | None = None
    for block in blocks:
        if code is not None and block.name == "pre":
            code.children.append("\n")
            code.children += block.children
            continue
        yield block
        code = block if block.name == "pre" else None


@dataclass(slots=True)
class _Style:
    """A style of the document, without what it inherits."""

    base: str
    """Name of the style that it inherits from; empty if there is none."""
    is_bold: bool
    is_italic: bool


class _TextReader:
    """Reads the elements of a text into the elements that Markdown can express."""

    def __init__(self, package: ZipPackage) -> None:
        self._package = package
        self._styles: dict[str, _Style] = {}
        self._list_depth = 0
        self.level_shift = 1
        """1 if the document has a title above all headings, whose levels are then one deeper; else 0."""
        self.notes: list[str] = []

    def read_styles(self, root: Any) -> None:
        """Add the styles of a part."""
        for style in root.iter("{*}style") if root is not None else ():
            fonts = [*style.iterfind("{*}text-properties")]
            self._styles[get_attribute(style, "name")] = _Style(
                get_attribute(style, "parent-style-name"),
                any(get_attribute(font, "font-weight") == "bold" for font in fonts),
                any(get_attribute(font, "font-style") == "italic" for font in fonts),
            )

    def _list_style_names(self, element: Any) -> list[str]:
        """List the names of an element's style and of those that it inherits from."""
        names = [get_attribute(element, "style-name")]
        while names[-1] in self._styles and len(names) < _BASES_MAX:
            names.append(self._styles[names[-1]].base)
        return names

    def read_blocks(self, parent: Any) -> list[Element]:
        """Read paragraphs, headings, lists and tables."""
        blocks: list[Element] = []
        for child in parent:
            name = get_local_name(child)
            if name == "h":
                level = get_attribute(child, "outline-level")
                attributes = {"level": level if level.isdigit() and len(level) == 1 else "1"}
                blocks.append(Element("h1", attributes, self._read_inline(child)))
                blocks += self._read_boxes(child)
            elif name == "p":
                blocks.append(self._read_paragraph(child))
                blocks += self._read_boxes(child)
            elif name == "list":
                self._list_depth += 1
                items = [
                    Element("li", {}, [*self.read_blocks(item)])
                    for item in child
                    if get_local_name(item) in ("list-item", "list-header")
                ]
                self._list_depth -= 1
                blocks += [Element("ul", {}, [*items])] if self._list_depth < _LISTS_MAX else items
            elif name == "table":
                blocks.append(Element("table", {}, [*self._read_rows(child, is_head=False)]))
            elif name not in _SKIPPED:
                blocks += self.read_blocks(child)
        return blocks

    def _read_paragraph(self, element: Any) -> Element:
        styles = self._list_style_names(element)
        children = self._read_inline(element)
        if "Title" in styles:
            return Element("h1", {"is-title": ""}, children)
        if "Preformatted_20_Text" in styles:
            return Element("pre", {"language": ""}, [_flatten(children)])
        if "Quotations" in styles:
            return Element("blockquote", {}, [Element("p", {}, children)])
        return Element("p", {}, children)

    def _read_boxes(self, paragraph: Any) -> list[Element]:
        """Read the text boxes that are anchored in a paragraph, but not those in the paragraphs inside them."""
        boxes = paragraph.iter(*_BOXES)
        own = [box for box in boxes if next(box.iterancestors(*_BOXES, "{*}p", "{*}h")) is paragraph]
        return [block for box in own for block in self.read_blocks(box)]

    def _read_rows(self, parent: Any, *, is_head: bool) -> Iterator[Element]:
        for child in parent:
            name = get_local_name(child)
            if name == "table-row":
                cells = [*self._read_cells(child, "th" if is_head else "td")]
                for _ in range(_read_count(child, "number-rows-repeated", _ROWS_REPEATED_MAX)):
                    yield Element("tr", {}, [*cells])
            elif name in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._read_rows(child, is_head=is_head or name == "table-header-rows")

    def _read_cells(self, row: Any, name: str) -> Iterator[Element]:
        for cell in row.iterfind("{*}table-cell"):
            children: list[Element | str | None] = []
            for block in self.read_blocks(cell):
                children += [*block.children, None] if block.name in ("p", "h1") else [block, None]
            spans = {
                "colspan": str(_read_count(cell, "number-columns-spanned", _COLUMNS_MAX)),
                "rowspan": get_attribute(cell, "number-rows-spanned"),
            }
            for _ in range(_read_count(cell, "number-columns-repeated", _COLUMNS_MAX)):
                yield Element(name, spans, children)

    def _read_inline(self, parent: Any) -> list[Element | str | None]:
        inline: list[Element | str | None] = [parent.text or ""]
        for child in parent:
            inline += self._read_inline_element(child)
            inline.append(child.tail or "")
        return inline

    def _read_inline_element(  # noqa: PLR0911 - one for each kind
        self,
        element: Any,
    ) -> list[Element | str | None]:
        name = get_local_name(element)
        match name:
            case "s":
                return [" " * _read_count(element, "c", _SPACES_MAX)]
            case "tab":
                return ["\t"]
            case "line-break":
                return [Element("br")]
            case "a":
                target = get_attribute(element, "href")
                children = self._read_inline(element)
                return [Element("a", {"href": target}, children)] if target.startswith(_LINK_SCHEMES) else children
            case "note":
                for body in element.iterfind("{*}note-body"):
                    self.notes.append(" ".join(write_elements([*self.read_blocks(body)]).split()))
                    return [f"\ue000{len(self.notes)}\ue001"]
                return []
            case "frame":
                return self._read_frame(element)
            case "text-box" | "custom-shape":
                return []  # a block of its own
            case "span":
                return self._read_span(element)
            case _:
                return [] if name in _SKIPPED else self._read_inline(element)

    def _read_span(self, element: Any) -> list[Element | str | None]:
        children = self._read_inline(element)
        names = self._list_style_names(element)
        styles = [self._styles[name] for name in names if name in self._styles]
        if "Source_20_Text" in names:
            return [Element("code", {}, children)]
        if any(style.is_italic for style in styles):
            children = [Element("i", {}, children)]
        return [Element("b", {}, children)] if any(style.is_bold for style in styles) else children

    def _read_frame(self, frame: Any) -> list[Element | str | None]:
        """Read a picture's description or a formula. Text boxes in frames become blocks of their own."""
        for child in frame:
            if get_local_name(child) == "object":
                part = f"{get_attribute(child, 'href').removeprefix('./')}/{_CONTENT_PART}"
                try:
                    root = self._package.parse(part)
                except SourceError:
                    root = None  # such as a formula of OpenOffice 3, which declares a document type
                formula = next(root.iter("{*}annotation"), None) if root is not None else None
                if formula is not None and formula.text:
                    return [Element("code", {}, [formula.text])]
                return []
        if frame.find("{*}image") is None:
            return []
        words = " ".join(text for name in ("title", "desc") for text in frame.xpath(f"*[local-name()='{name}']/text()"))
        return [Element("img", {"alt": words, "src": ""})] if words.strip() else []


def _read_count(element: Any, name: str, count_max: int) -> int:
    """Return the value of an attribute that is a number from 1 to `count_max`; 1 if there is none."""
    value = get_attribute(element, name)
    return max(1, min(int(value), count_max)) if value.isdigit() and len(value) < 10 else 1


def _flatten(children: list[Element | str | None]) -> str:
    """Return the text of inline elements, for a code block."""
    return "".join(
        child if isinstance(child, str) else "\n" if child.name == "br" else _flatten(child.children)
        for child in children
        if child is not None
    )
