"""Decode a web page and convert its main text to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, escape_line_starts, write_code, write_heading
from roamtui.sources.convert.html_tree import BLOCKS, CELLS, HEADINGS, INLINE, LISTS, Element, is_anchor_sign, read_page
from roamtui.sources.decode import decode_html

_SHELL_LENGTH_MAX = 1_500
"""Maximum length, in characters, of a shell: a page without content that waits for JavaScript or a captcha."""
_SHELL_TEXT = re.compile(
    r"enable javascript|javascript is (?:required|disabled|not enabled)|requires javascript|without javascript enabled"
    r"|checking your browser|checking if the site connection is secure|just a moment|verif(?:y|ying) (?:that )?you are"
    r"|are you (?:a )?(?:human|robot)|complete the (?:security check|captcha)|attention required|ddos protection by"
    r"|unsupported browser|^\W*loading\W*$",
    re.IGNORECASE,
)
_REAL_HEADINGS_MIN = 2
"""A page with at least this many headings below its first line is not a shell."""
_SPACES = re.compile("[ \t\r\n\f\v\N{NO-BREAK SPACE}]+")
_BRACKETS = re.compile(r"[\[\]\\]")
_ESCAPED = r"\\\g<0>"
_LINE_START = re.compile("^(?=.)", re.MULTILINE)
_ITEM_START = re.compile(r"- |\d+\. ")
_WHOLE_LINE = re.compile("^(.*)", re.MULTILINE)
_TICKS = re.compile("`+")
_LINE_BREAK = "\\\n"
_MARKS_BY_NAME = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}
_CODE_NAMES = frozenset({"code", "kbd", "samp", "tt"})
_COLUMNS_MAX = 50
"""Maximum number of columns of a table that `colspan` and `rowspan` may fill."""
TITLE_TAG = '<h1 class="title">'
"""Start of the title of a document, in HTML that a program wrote."""
_LOWERED_TAG = re.compile("<(/?)h([1-5])>")
_NOTE_NUMBER = re.compile("\ue000(\\d+)\ue001")
_Nodes = Sequence[Element | str | None]


def convert_html(html: str, *, base_url: str | None = None) -> ConvertedText:
    """Convert a page to Markdown. The text is empty if the page has none, or only asks for JavaScript or a captcha.

    Headings keep their levels, code blocks their language, and images their alternative text. Navigation and hidden
    elements are left out. The title comes from the element `title`, and is not part of the text.
    """
    root, title = read_page(html, base_url)
    text = _join_blocks(_write_main_blocks(root))
    is_short = len(text) <= _SHELL_LENGTH_MAX and text.count("\n#") < _REAL_HEADINGS_MIN
    if is_short and (_SHELL_TEXT.search(text) or _SHELL_TEXT.search(title)):
        text = ""
    return ConvertedText(text=text + "\n" if text else "", title=title)


def convert_blocks(html: str, *, image_base: str, marks: Mapping[str, str]) -> list[str]:
    """Convert a page in a package to blocks of Markdown.

    Image URLs are resolved against `image_base`, the path of the page. `marks` are texts to insert, by the id of the
    element where.
    """
    return _write_main_blocks(read_page(html, None, image_base, marks)[0])


def convert_fragment(html: str) -> str:
    """Convert HTML that a program wrote to Markdown, without a line end. Nothing is left out as navigation."""
    return _join_blocks(_write_blocks(read_page(html, None)[0].children))


def convert_noted(html: str, notes: Sequence[str]) -> str:
    """Convert HTML that a program wrote, and add each note at the end of the section that first refers to it.

    `notes` are HTML too. A reference is the number of a note between U+E000 and U+E001. A single heading that starts
    with `TITLE_TAG` is the title of the document, and all others are one level deeper.
    """
    out: list[str] = []
    pending: dict[int, None] = {}
    written: set[int] = set()
    if html.count(TITLE_TAG) == 1:
        html = _LOWERED_TAG.sub(lambda tag: f"<{tag[1]}h{int(tag[2]) + 1}>", html)
    for block in [*_write_blocks(read_page(html, None)[0].children), "#"]:
        if block.startswith("#"):
            out += [f"[^{number}]: {' '.join(convert_fragment(notes[number - 1]).split())}" for number in pending]
            written.update(pending)
            pending.clear()
        numbers = map(int, _NOTE_NUMBER.findall(block))
        pending.update(dict.fromkeys(n for n in numbers if n not in written and 1 <= n <= len(notes)))
        out.append(_NOTE_NUMBER.sub(r"[^\1]", block))
    return "\n\n".join(out[:-1]) + "\n"


def convert_html_file(data: bytes, name: str) -> ConvertedText:
    """Convert a saved web page to Markdown."""
    text, notes = decode_html(data)
    page = convert_html(text)
    if not page.text:
        raise SourceError(f"{name} is a web page without text; it needs JavaScript. Save it from a browser.")
    return replace(page, notes=notes)


def _write_main_blocks(root: Element) -> list[str]:
    """Write the `main` elements of a page. If there are none, write its only `article`; otherwise, the whole page."""
    for name in ("main", "article"):
        chosen = [element for element in root.walk() if element.name == name]
        body = [block for element in chosen for block in _write_blocks(element.children)]
        if not body or (name == "article" and len(chosen) > 1):
            continue
        # Many sites put the page's h1 in a header above `main`.
        if not any(inner.name == "h1" for element in chosen for inner in element.walk()):
            before = takewhile(lambda element: element is not chosen[0], root.walk())  # noqa: B023 - used at once
            heads = [element for element in before if element.name == "h1" and _write_line(element.children)]
            body = [*_write_blocks(heads[-1:]), *body]
        return body
    return _write_blocks(root.children)


def _join_blocks(blocks: Iterable[str], *, is_item: bool = False) -> str:
    """Join blocks with empty lines. Inside a list item, there is no empty line before a nested list."""
    text = ""
    for block in blocks:
        is_tight = is_item and _ITEM_START.match(block)
        text += ("\n" if is_tight else "\n\n") * bool(text) + block
    return text


def _write_blocks(children: _Nodes, wrapper_tag: str = "") -> list[str]:
    """Write nodes as blocks. Inline nodes between two blocks become a paragraph.

    `wrapper_tag` is the tag to wrap the paragraph in, such as ``b``; empty for none.
    """
    blocks: list[str] = []
    line: list[Element | str] = []
    for child in [*children, None]:
        if isinstance(child, str) or (child is not None and (child.name in INLINE or child.name in ("br", "img"))):
            line.append(child)
            continue
        blocks.append(_write_paragraph([Element(wrapper_tag, children=[*line])] if wrapper_tag else line))
        line = []
        if child is not None:
            blocks.extend(_write_block(child))
    return [*filter(None, blocks)]


def _write_block(element: Element) -> Iterator[str]:
    name, children = element.name, element.children
    if name in HEADINGS:
        title = _write_line(children)
        yield write_heading(int(name[1]), title) if title else ""
    elif name in LISTS:
        yield from _write_list(element)
    elif name == "pre":
        code = "".join(map(str, children)).strip("\n").rstrip()
        yield write_code(code, element.attributes["language"]) if code.strip() else ""
    elif name == "blockquote":
        text = _join_blocks(_write_blocks(children))
        yield _WHOLE_LINE.sub(lambda line: f"> {line[1]}" if line[1] else ">", text) if text else ""
    elif name == "hr":
        yield "***"  # "---" could be read as front matter or a heading's underline
    elif name == "table":
        yield from _write_table(element)
    else:
        yield from _write_blocks(children, "b" if name == "dt" else "")


def _write_list(element: Element) -> Iterator[str]:
    """Yield a list, or several if an item only arranges blocks."""
    number = _parse_number(element.attributes.get("start", ""), 1) - 1
    items: list[str] = []
    stray: list[Element | str | None] = []
    for child in [*element.children, Element("li")]:
        if not isinstance(child, Element) or child.name != "li":
            stray.append(child)
            continue
        blocks = _write_blocks(stray)
        stray = []
        if blocks and items:  # a list within a list, outside of its items, belongs to the item before it
            items[-1] += f"\n{_LINE_START.sub('  ', _join_blocks(blocks))}"
        elif blocks:
            items.append(_write_item("- ", blocks))
        number = _parse_number(child.attributes.get("value", ""), number + 1)
        blocks = _write_blocks(child.children)
        if child.is_layout:
            yield "\n".join(items)
            yield from blocks
            items = []
        elif blocks:
            items.append(_write_item(f"{number}. " if element.name == "ol" else "- ", blocks))
    yield "\n".join(items)


def _write_item(mark: str, blocks: Iterable[str]) -> str:
    return mark + _LINE_START.sub(" " * len(mark), _join_blocks(blocks, is_item=True))[len(mark) :]


def _write_table(element: Element) -> Iterator[str]:
    """Yield text outside the rows, such as a caption, then the rows as a table. A row that arranges blocks ends it."""
    yield from _write_blocks(
        [child for child in element.children if not (isinstance(child, Element) and child.name == "tr")]
    )
    lines: list[str] = []
    filled: dict[int, int] = {}
    for row in [*element.children, Element("tr", is_layout=True)]:
        if not isinstance(row, Element) or row.name != "tr":
            continue
        if row.is_layout:
            yield "\n".join(lines) if any(line.strip("|- ") for line in lines) else ""
            yield from _write_blocks(row.children)
            lines, filled = [], {}
        elif cells := _list_cells(row, filled):
            line = "".join(f" {cell} |" for cell in cells)
            if not lines:
                heads = {cell.name for cell in row.children if isinstance(cell, Element)}
                # Markdown needs a header row, so a table without one gets an empty header.
                rule = f"|{' --- |' * len(cells)}"
                lines = [f"|{line}", rule] if heads == {"th"} else [f"|{' |' * len(cells)}", rule, f"|{line}"]
            else:
                lines.append(f"|{line}")


def _list_cells(row: Element, filled: dict[int, int]) -> list[str]:
    """List the cells of a row, with empty cells for the columns and rows that another cell spans.

    `filled` is updated. It maps a column to the number of further rows that a cell above spans.
    """
    cells: list[str] = []

    def fill() -> None:
        while filled.get(len(cells)) and len(cells) < _COLUMNS_MAX:
            filled[len(cells)] -= 1
            cells.append("")

    for cell in row.children:
        if not isinstance(cell, Element) or cell.name not in CELLS:
            continue
        fill()
        columns = max(1, min(_parse_number(cell.attributes.get("colspan", ""), 1), _COLUMNS_MAX - len(cells)))
        rows = _parse_number(cell.attributes.get("rowspan", ""), 1)
        if rows > 1:
            filled |= dict.fromkeys(range(len(cells), len(cells) + columns), rows - 1)
        cells += [_write_line(cell.children).replace("|", r"\|"), *[""] * (columns - 1)]
    if cells:
        fill()
    return cells


def _parse_number(value: str, default: int) -> int:
    """Parse an attribute, or return `default` if it is not a number of at most nine digits."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default


def _write_line(nodes: _Nodes) -> str:
    """Write a heading or a cell on one line."""
    return " ".join(_write_words(nodes, frozenset(), end=" ").split())


def _write_paragraph(nodes: _Nodes) -> str:
    lines = [line.strip() for line in _write_words(nodes, frozenset()).split(_LINE_BREAK)]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return escape_line_starts(_LINE_BREAK.join(_SPACES.sub(" ", line) for line in lines))


def _write_words(nodes: _Nodes, around: frozenset[str], end: str = _LINE_BREAK) -> str:
    """Write inline content. A `<br>` becomes `end`. Marks that are already open `around` the content are omitted."""
    parts = []
    for node in nodes:
        if node is None:
            parts.append(" ")
        elif isinstance(node, str):
            text = _SPACES.sub(" ", node)
            parts.append(text if "code" in around else escape_inline(text))
        elif node.name == "br":
            parts.append(" " if "code" in around else end)
        elif node.name in BLOCKS:
            parts.append(f" {_write_words(node.children, around, end)} ")
        elif node.name == "img":
            alt = _SPACES.sub(" ", node.attributes["alt"]).strip()
            # A heading or a cell keeps only the words of an image.
            image = f"![{_BRACKETS.sub(_ESCAPED, alt)}]({node.attributes['src']})"
            parts.append(escape_inline(alt) if end == " " else image)
        else:
            parts.append(_write_inline(node, around, end))
    return "".join(parts)


def _write_inline(element: Element, around: frozenset[str], end: str) -> str:
    """Write an inline element. Spaces at the ends of its text are moved outside its marks."""
    name, children = element.name, element.children
    mark = "code" if name in _CODE_NAMES else _MARKS_BY_NAME.get(name, "")
    text = _write_words(children, around | {mark}, end)
    inner = text.strip()
    is_permalink = name == "a" and "is-permalink" in element.attributes
    has_image = any(isinstance(child, Element) and child.name == "img" for child in children)
    if is_permalink and not has_image and is_anchor_sign(inner.replace("\\", "")):
        return ""
    if "code" in around or not inner or mark in around - {""}:
        return text
    if mark == "code":
        ticks = max(map(len, _TICKS.findall(inner)), default=0)
        fence, space = "`" * (ticks + 1), " " * bool(ticks)
        inner = f"{fence}{space}{inner}{space}{fence}"
    elif name == "q":
        inner = f'"{inner}"'
    elif name == "a":
        address = element.attributes["href"]
        if address:
            inner = f"<{address}>" if inner.replace(r"\_", "_") == address else f"[{inner}]({address})"
    else:
        inner = f"{mark}{inner}{mark}"
    return " " * text.startswith(" ") + inner + " " * text.endswith(" ")
