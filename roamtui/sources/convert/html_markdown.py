"""The tree of a page as Markdown, in which only headings begin like headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from roamtui.sources.convert.escaping import escape_line_starts, escape_marks, write_code, write_heading
from roamtui.sources.convert.html_tree import CELLS, HEADINGS, INLINE, LISTS, Element, is_mark

_BLANKS = re.compile("[ \t\r\n\f\v\N{NO-BREAK SPACE}]+")
_BRACKETS = re.compile(r"[\[\]\\]")
_LINES = re.compile("^(?=.)", re.MULTILINE)
_WHOLE_LINE = re.compile("^(.*)", re.MULTILINE)
_TICKS = re.compile("`+")
_BREAK = "\\\n"
_MARKS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_COLUMNS_MAX = 50
"""Columns of a table up to which a cell can stand for several, or go on below."""
_Nodes = Sequence[Element | str | None]


class _Block(NamedTuple):
    text: str
    is_list: bool = False


def write_markdown(root: Element) -> str:
    """Return the main text of a page: of the parts that say so, else of the only article, else all of it."""
    for name in ("main", "article"):
        chosen = [element for element in root.walk() if element.name == name]
        body = [block for element in chosen for block in _write_blocks(element.children)]
        if not body or (name == "article" and len(chosen) > 1):
            continue
        if not any(inner.name == "h1" for element in chosen for inner in element.walk()):
            body = [*_write_blocks(_find_heads(root, chosen[0])[-1:]), *body]
        return _join(body)
    return _join(_write_blocks(root.children))


def _find_heads(root: Element, region: Element) -> list[Element]:
    """Return the headings of the first level before a part of a page."""
    heads = []
    for element in root.walk():
        if element is region:
            break
        if element.name == "h1" and _write_line(element.children):
            heads.append(element)
    return heads


def _join(blocks: Iterable[_Block], *, is_item: bool = False) -> str:
    """Return blocks with an empty line between them; in an item of a list, none before a list."""
    text = ""
    for block in blocks:
        text += ("\n" if is_item and block.is_list else "\n\n") * bool(text) + block.text
    return text


def _write_blocks(children: _Nodes, mark: str = "") -> list[_Block]:
    """Return the blocks of an element, its own lines within a mark."""
    blocks: list[_Block] = []
    line: list[Element | str] = []
    for child in [*children, None]:
        if isinstance(child, str) or (child is not None and (child.name in INLINE or child.name in ("br", "img"))):
            line.append(child)
            continue
        if text := _write_paragraph([Element(mark, children=[*line])] if mark else line):
            blocks.append(_Block(text))
        line = []
        if child is not None:
            blocks.extend(_write_block(child))
    return blocks


def _write_block(element: Element) -> Iterator[_Block]:
    name, children = element.name, element.children
    text = ""
    if name in HEADINGS:
        title = _write_line(children)
        text = write_heading(int(name[1]), title) if title else ""
    elif name in LISTS:
        text = _write_list(element)
    elif name == "pre":
        code = "".join(map(str, children)).strip("\n").rstrip()
        text = write_code(code, element.attributes["language"]) if code.strip() else ""
    elif name == "blockquote":
        text = _WHOLE_LINE.sub(lambda line: f"> {line[1]}" if line[1] else ">", _join(_write_blocks(children)))
        text = text if text.strip("> \n") else ""
    elif name == "hr":
        text = "***"  # no front matter, nor the underline of a heading
    elif name == "table":
        yield from _write_table(element)
    else:
        yield from _write_blocks(children, "b" if name == "dt" else "")
    if text:
        yield _Block(text, name in LISTS)


def _write_list(element: Element) -> str:
    number = _read_number(element.attributes.get("start", ""), 1) - 1
    items: list[str] = []
    stray: list[Element | str | None] = []
    for child in [*element.children, Element("li")]:
        if not isinstance(child, Element) or child.name != "li":
            stray.append(child)
            continue
        blocks = _write_blocks(stray)
        stray = []
        if blocks and items:  # a list within a list, outside of its items, belongs to the item before it
            items[-1] += f"\n{_indent(_join(blocks), '  ')}"
        elif blocks:
            items.append(_write_item("- ", blocks))
        number = _read_number(child.attributes.get("value", ""), number + 1)
        if blocks := _write_blocks(child.children):
            items.append(_write_item(f"{number}. " if element.name == "ol" else "- ", blocks))
    return "\n".join(items)


def _write_item(mark: str, blocks: Iterable[_Block]) -> str:
    return mark + _indent(_join(blocks, is_item=True), " " * len(mark))[len(mark) :]


def _indent(text: str, blanks: str) -> str:
    return _LINES.sub(blanks, text)


def _write_table(element: Element) -> Iterator[_Block]:
    """Yield what stands in a table outside of its rows, then the rows."""
    yield from _write_blocks(
        [child for child in element.children if not (isinstance(child, Element) and child.name == "tr")]
    )
    lines: list[str] = []
    filled: dict[int, int] = {}
    for row in element.children:
        if not isinstance(row, Element) or row.name != "tr":
            continue
        cells = _list_cells(row, filled)
        if not cells:
            continue
        line = "".join(f" {cell} |" for cell in cells)
        if not lines:
            heads = {cell.name for cell in row.children if isinstance(cell, Element) and cell.name in CELLS}
            rule = f"|{' --- |' * len(cells)}"
            lines += [f"|{line}", rule] if heads == {"th"} else [f"|{' |' * len(cells)}", rule, f"|{line}"]
        else:
            lines.append(f"|{line}")
    if any(line.strip("|- ") for line in lines):
        yield _Block("\n".join(lines))


def _list_cells(row: Element, filled: dict[int, int]) -> list[str]:
    """Return the cells of a row, empty ones where a cell takes several columns or goes on from an earlier row.

    `filled` has the columns in which one goes on, each with the rows for which it does.
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
        columns = max(1, min(_read_number(cell.attributes.get("colspan", ""), 1), _COLUMNS_MAX - len(cells)))
        rows = _read_number(cell.attributes.get("rowspan", ""), 1)
        if rows > 1:
            filled |= dict.fromkeys(range(len(cells), len(cells) + columns), rows - 1)
        cells += [_write_line(cell.children).replace("|", r"\|"), *[""] * (columns - 1)]
    if cells:
        fill()
    return cells


def _read_number(value: str, default: int) -> int:
    """Return a number from an attribute, `default` where it is none of at most nine digits."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default


def _write_line(nodes: _Nodes) -> str:
    """Return all of a heading or a cell as one line."""
    return " ".join(_write_words(nodes, frozenset(), end=" ").split())


def _write_paragraph(nodes: _Nodes) -> str:
    lines = [line.strip() for line in _write_words(nodes, frozenset()).split(_BREAK)]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return escape_line_starts(_BREAK.join(_BLANKS.sub(" ", line) for line in lines))


def _write_words(nodes: _Nodes, around: frozenset[str], end: str = _BREAK) -> str:
    """Return what stands within a line.

    Args:
        nodes: What is written.
        around: Marks that are open around it, and `code` where all is code.
        end: What stands for the end of a line.
    """
    parts = []
    for node in nodes:
        if node is None:
            parts.append(" ")
        elif isinstance(node, str):
            text = _BLANKS.sub(" ", node)
            parts.append(text if "code" in around else escape_marks(text))
        elif node.name == "br":
            parts.append(" " if "code" in around else end)
        elif node.name == "img":
            parts.append(_write_image(node, is_text=end == " "))
        else:
            parts.append(_write_inline(node, around, end))
    return "".join(parts)


def _write_inline(element: Element, around: frozenset[str], end: str) -> str:
    """Return an element within a line, blanks at the ends of its text outside of its marks."""
    name, children = element.name, element.children
    mark = "code" if name in _CODE else _MARKS.get(name, "")
    text = _write_words(children, around | {mark}, end)
    inner = text.strip()
    has_image = any(isinstance(child, Element) and child.name == "img" for child in children)
    if name == "a" and "is-mark" in element.attributes and not has_image and is_mark(inner.replace("\\", "")):
        return ""
    if "code" in around or not inner or mark in around - {""}:
        return text
    if mark == "code":
        ticks = max(map(len, _TICKS.findall(inner)), default=0)
        fence, blank = "`" * (ticks + 1), " " * bool(ticks)
        inner = f"{fence}{blank}{inner}{blank}{fence}"
    elif name == "q":
        inner = f'"{inner}"'
    elif name == "a":
        address = element.attributes["href"]
        if address:
            inner = f"<{address}>" if inner.replace(r"\_", "_") == address else f"[{inner}]({address})"
    else:
        inner = f"{mark}{inner}{mark}"
    return " " * text.startswith(" ") + inner + " " * text.endswith(" ")


def _write_image(element: Element, *, is_text: bool) -> str:
    alt = _BLANKS.sub(" ", element.attributes["alt"]).strip()
    if is_text:
        return escape_marks(alt)
    escaped = _BRACKETS.sub(r"\\\g<0>", alt)
    return f"![{escaped}]({element.attributes['src']})"
