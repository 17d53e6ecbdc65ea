"""Convert the main text of a web page to Markdown."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Any
from urllib.parse import unquote

from lxml.etree import XPath, iterwalk
from msgspec.structs import replace

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_html
from roamtui.convert.html_elements import ATTRIBUTE_LENGTH_MAX, BLOCKS, HEADINGS, LISTS, MARKS_BY_NAME
from roamtui.convert.html_links import NAME, name_headings
from roamtui.convert.html_tree import detect_code_language, read_page
from roamtui.convert.list_numbers import format_list_number
from roamtui.convert.markdown_table import write_table
from roamtui.convert.xml_elements import join_text, parse_int
from roamtui.errors import SourceError
from roamtui.markdown.escaping import (
    NOTE_MARK,
    escape_inline,
    escape_line_starts,
    write_code,
    write_heading,
    write_link,
    write_script,
)
from roamtui.markdown.formulas import set_apart, write_plain_script
from roamtui.markdown.spanned_cells import PlacedCell, SpannedCell, list_columns, place_cells

_REGIONS = frozenset({"main", "article"})
_MAIN_SHARE = 0.6
"""Minimum share of a page's text in its main part. So a comment or an empty frame is never the main part."""
_SPACES = re.compile("[ \t\r\n\f\v\N{NO-BREAK SPACE}]+")
_LINE_SEPARATOR = "\u2028"
_LINE_START = re.compile("^(?=.)", re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\](\(\S*\))")
_TEXT_BEFORE = XPath("preceding::text()[1]")
_TEXT_AFTER = XPath("following::text()[1]")
_TICKS = re.compile("`+")
_EMPHASES = {"**": ("\ufdd0", "\ufdd1", "b"), "*": ("\ufdd2", "\ufdd3", "i"), "~~": ("\ufdd4", "\ufdd5", "s")}
"""By sign: two characters that mark its words until the text around them is known, and its HTML tag."""
_OPENINGS = frozenset(opening for opening, _, _ in _EMPHASES.values())
_EMPHASIS_END = re.compile("[\ufdd0-\ufdd5]")
_SCRIPTS = frozenset({"sup", "sub"})
_FLATTENED = (*LISTS, "li", "table", "thead", "tbody", "tfoot", "tr", "td", "th", "blockquote", "hr")
"""Blocks that Markdown does not allow in the cell of a table."""
_OUTSIDE_XPATH = (
    "*[not(self::thead or self::tbody or self::tfoot or self::tr)] | text() | */text()[parent::thead or"
    " parent::tbody or parent::tfoot or parent::tr] | */tr/text()"
)
"""Content of a table that is in none of its cells. Browsers show it above the table."""
_ROWS_XPATHS = ("thead/*", "tr | tbody/*", "tfoot/*")
"""The rows of a table. Browsers show the head first and the foot last, in any order of the source."""
_LIST_STYLE = re.compile(r"\b(lower|upper)-?(alpha|latin|roman)\b", re.IGNORECASE)
_NO_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*none", re.IGNORECASE)
_NUMBERED = re.compile(r"[0-9]{1,9}\. ")
"""The start of a list with numbers that Markdown can write."""
_TIGHT_LIST = re.compile(r"(?:-|1\.) ")
"""The start of a list that Markdown recognises without an empty line above it."""
_LIST_END = "<!-- -->"
"""Keeps the next list from continuing this one."""
_PRE_BOUNDARY = re.compile(r"</pre>\s*<pre>")


class _Block(str):
    """A finished block of Markdown, such as a list."""

    __slots__ = ()


_BlockOrRun = str | None
"""A part of a text: a `_Block`, a run of inline Markdown, or None for the end of a paragraph."""


def convert_html(html: str, *, base_url: str | None = None) -> ConvertedText:
    """Convert a page to Markdown.

    Headings keep their levels, code blocks their language, and images their alternative text. Navigation and
    hidden elements are left out. The title comes from the element `title`, and is not part of the text.
    """
    root, title = read_page(html, base_url, finds_titles=True)
    part = _find_main_part(root, title)
    own_url = (base_url or "").partition("#")[0]
    name_headings({own_url: part}, _split_href, keeps_hrefs=base_url is not None)
    text = "\n\n".join(write_blocks(part))
    return ConvertedText(text=text + "\n" if text else "", title=title)


def _split_href(href: str, _: str) -> tuple[str, str]:
    url, _, fragment = href.partition("#")
    return url, unquote(fragment)


def convert_html_file(
    data: bytes, name: str, *, charset: str | None = None, base_url: str | None = None
) -> ConvertedText:
    """Convert a file to Markdown. `charset`, from the HTTP header, and `base_url` are those of a web page."""
    text, notes = decode_html(data, charset)
    try:
        return replace(convert_html(text, base_url=base_url), notes=notes)
    except SourceError as error:
        raise SourceError(f"{name}: {error}") from None


def convert_office_html(html: str, notes: Sequence[str]) -> str:
    """Convert HTML of an office program, and add each note after the block that first refers to it.

    Each line of code is a block `pre` of its own. Without headings, lines in bold are headings. `notes` are
    HTML too. A reference is the number of a note between U+E000 and U+E001; one to an empty note is dropped.
    """
    out: list[str] = []
    texts = {str(number): text for number, text in enumerate(map(_write_note, notes), start=1) if text}
    missing = dict(texts)
    root, _ = read_page(_PRE_BOUNDARY.sub("\n", html), finds_titles=True)
    for block in write_blocks(root):
        out.append(NOTE_MARK.sub(lambda mark: f"[^{mark[1]}]" if mark[1] in texts else "", block))
        for number in NOTE_MARK.findall(block):
            if text := missing.pop(number, ""):
                out.append(f"[^{number}]: {text}")
    return "\n\n".join(out) + "\n"


def _write_note(note: str) -> str:
    """Write a note on one line, where there is no room for tables."""
    root, _ = read_page(note)
    for part in root.iter("table", "tr", "th", "td"):
        part.tag = "div"
    return " ".join("\n\n".join(write_blocks(root)).split())


def _find_main_part(root: Any, title: str) -> Any:
    """Return the part of a page that holds its text, or the whole page.

    It is the smallest `main` or `article` that holds the heading and most of the text. The heading is the
    first h1 in a `main` or `article` that the title names, or else the first h1. In a page without an h1, the
    part holds most of the title's words that the page shows.
    """
    headings = [(words, each) for each in root.iter("h1") if (words := join_text(each).strip())]
    named = (each for words, each in headings if words in title and _list_regions(each.iterancestors()))
    heading = next(named, headings[0][1] if headings else None)
    regions = _list_regions(reversed([*root.iter(*BLOCKS)]) if heading is None else heading.iterancestors())
    title_words: set[str] = set()
    if regions and heading is None:
        title_words = {*title.split()}.intersection(join_text(root).split())
    length_min = _MAIN_SHARE * _measure_text(root) if regions else 0
    for part in regions:
        if _measure_text(part) >= length_min and (
            len(title_words.intersection(join_text(part).split())) >= _MAIN_SHARE * len(title_words)
        ):
            return part
    return root


def _list_regions(parts: Iterable[Any]) -> list[Any]:
    return [part for part in parts if not _REGIONS.isdisjoint((part.tag, part.get("role", "").lower()))]


def _measure_text(part: Any) -> int:
    """Return the length of a part's text without lists of links."""
    links = (link for link in part.iter("a") if next(link.iterancestors("li"), None) is not None)
    return len(join_text(part)) - sum(len(join_text(link)) + 1 for link in links)


def write_blocks(element: Any) -> list[str]:
    """Write the content of an element as blocks. Runs between two blocks become paragraphs."""
    return _finish_blocks(_write_marked_content(element, frozenset()))


def _finish_blocks(pieces: Iterable[_BlockOrRun]) -> list[str]:
    blocks: list[str] = []
    for block in filter(None, map(_write_paragraph, _join_runs(pieces))):
        if blocks and _NUMBERED.match(block) and _NUMBERED.match(blocks[-1]):
            blocks.append(_LIST_END)
        blocks.append(block)
    return blocks


def _write_paragraph(piece: _BlockOrRun) -> str:
    if piece is None or isinstance(piece, _Block):
        return piece or ""
    lines = [_SPACES.sub(" ", line).strip() for line in piece.split("\n")]
    text = "\n".join(lines).strip("\n").replace("\n", "\\\n")
    return escape_line_starts(_write_emphases(text))


def _write_line(pieces: Iterable[_BlockOrRun]) -> str:
    words = "".join(" " if piece is None else piece for piece in pieces).split()
    return _write_emphases(" ".join(words))


def _write_emphases(text: str) -> str:
    """Write the ends of emphasis as Markdown's signs, or as tags of HTML if Markdown would show the signs."""
    for sign, (opening, closing, tag) in _EMPHASES.items():

        def write(marked: re.Match[str], sign: str = sign, tag: str = tag) -> str:
            words = marked[1]
            before = marked.string[max(0, marked.start() - 1) : marked.start()]
            after = marked.string[marked.end() : marked.end() + 1]
            is_read = _is_in_word(words[0]) or not _is_in_word(before)
            is_read = is_read and (_is_in_word(words[-1]) or not _is_in_word(after))
            beside = words[0] + words[-1] + (before + after if sign == "~~" else "")
            # two signs side by side would be read as one
            is_apart = after not in _OPENINGS and sign[0] not in beside
            return f"{sign}{words}{sign}" if is_read and is_apart else f"<{tag}>{words}</{tag}>"

        text = re.sub(f"{opening}([^{opening}{closing}]+){closing}", write, text)
    return _EMPHASIS_END.sub("", text)


def _is_in_word(character: str) -> bool:
    """Return whether a character is neither white space nor punctuation for Markdown. False for ""."""
    if not character or character.isspace():
        return False
    category = unicodedata.category(character)
    return category[0] not in "PS" and category != "Cn"  # the ends of emphasis have no category


def _join_runs(pieces: Iterable[_BlockOrRun]) -> Iterator[_BlockOrRun]:
    """Join the parts of each run, which come from several elements."""
    for is_run, group in groupby(pieces, lambda piece: piece is not None and not isinstance(piece, _Block)):
        if is_run:
            yield "".join(map(str, group))
        else:
            yield from group


def _write_content(element: Any, around: frozenset[str]) -> list[_BlockOrRun]:
    """Write the content of an element. Marks that are already open `around` it are not written again."""
    pieces = [_write_text(element.text)]
    for child in element:
        pieces += [*_write_element(child, around), _write_text(child.tail)]
    return pieces


def _is_next_to_digit(element: Any) -> bool:
    """Return whether a lowered text would join a number, unlike the 2 of `H2O`."""
    before = _read_adjacent_text(element, _TEXT_BEFORE)
    after = _read_adjacent_text(element, _TEXT_AFTER)
    return before[-1:].isdigit() or after[:1].isdigit()


def _read_adjacent_text(element: Any, find: XPath) -> str:
    """Return the text next to an element in the same block, whichever inline elements are around it."""
    text = next(iter(find(element)), None)
    if text is None:
        return ""
    owner = text.getparent()
    around = [*([owner] if text.is_text else []), *owner.iterancestors()]
    block = next((each for each in around if each.tag in BLOCKS), None)
    return str(text) if block is next(element.iterancestors(*BLOCKS), None) else ""


def _write_text(text: str | None) -> _BlockOrRun:
    return escape_inline(_SPACES.sub(" ", text)) if text else ""


def _write_element(element: Any, around: frozenset[str]) -> Sequence[_BlockOrRun]:  # noqa: PLR0911, PLR0912 - one for each kind
    match element.tag:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            return _write_heading(element)
        case "ul" | "ol" | "menu" | "dir":
            return [*map(_Block, _write_list(element))]
        case "table":
            return [_Block(block) for block in _write_table(element) if block.strip("|- \n")]
        case "pre":
            code = _read_code(element).strip("\n").rstrip()
            return [_Block(write_code(code, detect_code_language(element)) if code.strip() else "")]
        case "blockquote":
            lines = "\n\n".join(write_blocks(element)).split("\n")
            return [_Block("\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else "")]
        case "textarea":
            texts = (escape_inline(" ".join(line.split())) for line in _read_code(element).split("\n"))
            return [None, "\n".join(filter(None, texts)), None]
        case "hr":
            return [_Block("***")]  # "---" could be read as front matter or a heading's underline
        case "br":
            return ["\n"]  # the only line end in a run; others are spaces
        case "img":
            alt = " ".join(element.get("alt", "").split())
            source = element.get("src")
            if next(element.iterancestors(*HEADINGS), None) is not None:
                return [f" {escape_inline(alt)}"]
            return [f"!{write_link(escape_inline(alt), source)}"] if alt or source else []
        case "math":  # its content is one line of text already
            before = _read_adjacent_text(element, _TEXT_BEFORE)
            after = _read_adjacent_text(element, _TEXT_AFTER)
            return [_write_text(set_apart(element.text or "", before, after))]
        case "ruby":
            return _write_ruby(element, around)
        case name if name in BLOCKS:
            return [None, *_write_marked_content(element, around), None]
        case _:
            return _write_marked_content(element, around)


def _write_heading(element: Any) -> list[_BlockOrRun]:
    pieces = _write_marked_content(element, frozenset())
    title = _write_line(piece for piece in pieces if not isinstance(piece, _Block))
    name = f" {{#{element.get(NAME)}}}" if element.get(NAME) else ""
    heading = write_heading(int(element.tag[1]), title) + name if title else ""
    # In a broken page, a heading without an end may contain blocks.
    return [_Block(heading), *(piece for piece in pieces if isinstance(piece, _Block))]


def _write_ruby(element: Any, around: frozenset[str]) -> list[_BlockOrRun]:
    """Write words, then their reading in brackets. In a page, the readings are between the words."""
    reading = "".join(text for part in element.iter("rt") for text in part.itertext()).strip()
    for part in [*element.iter("rt", "rp")]:
        part.clear(keep_tail=True)
    words = _write_content(element, around)
    return [*words, escape_inline(f"({reading})")] if reading else words


def _read_code(element: Any) -> str:
    _write_scripts(element)
    parts: list[str] = []
    for event, part in iterwalk(element, events=("start", "end")):
        is_line = part.tag in BLOCKS
        if event == "start":
            is_line = is_line and bool(parts) and parts[-1][-1] != "\n"
            parts += filter(None, ("\n" if is_line else "", part.text))
        elif part is not element:
            parts += filter(None, ("\n" if is_line or part.tag == "br" else "", part.tail))
    return "".join(parts).replace("\r", "").replace("\N{NO-BREAK SPACE}", " ")


def _write_scripts(code: Any) -> None:
    """Write raised and lowered text in code, where Markdown has no tags, so that it never joins a number."""
    for script in reversed([*code.iter("sup", "sub")]):
        text = "".join(script.itertext())
        is_set_off = script.tag == "sup" or _is_next_to_digit(script)
        script.clear(keep_tail=True)
        has_tags = is_set_off and write_script(text, script.tag) != text
        script.text = write_plain_script(text, script.tag) if has_tags else text


def _write_marked_content(element: Any, around: frozenset[str]) -> list[_BlockOrRun]:
    """Write the content of an element, with the element's mark around its words."""
    name = element.tag
    href = element.get("href", "")
    mark = "link" if href else MARKS_BY_NAME.get(name, "")
    if mark in _SCRIPTS and not around.isdisjoint(_SCRIPTS):  # a power of a power
        return [escape_inline(write_plain_script("".join(element.itertext()), mark))]
    if not mark or (mark in around and mark != '"') or (mark == "sub" and not _is_next_to_digit(element)):
        return _write_content(element, around)
    if mark == "`":
        if next(element.iter(*BLOCKS), None) is not None:
            return _write_content(element, around)
        _write_scripts(element)
        for line_break in element.iter("br"):
            line_break.text = _LINE_SEPARATOR
        lines = _SPACES.sub(" ", "".join(element.itertext())).split(_LINE_SEPARATOR)
        return ["\n".join(_mark_run(line, mark, href) for line in lines)]
    pieces = [*_join_runs(_write_content(element, around | {mark}))]
    return [
        _mark_run(piece, mark, href) if piece and not isinstance(piece, _Block) else piece for piece in pieces
    ]


def _mark_run(run: str, mark: str, href: str) -> str:
    """Put marks around a run. Spaces at its ends are moved outside of them."""
    words = run.strip()
    if not words:
        return run
    before, after = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]
    if mark == "link":
        marked = write_link(words, href)
    elif mark in _SCRIPTS:
        link = _LINK.fullmatch(words)
        # Raised or lowered text is marked inside the words of a link.
        marked = f"[{write_script(link[1], mark)}]{link[2]}" if link else write_script(words, mark)
    elif mark == "`":
        ticks = max(map(len, _TICKS.findall(words)), default=0)
        fence = "`" * (ticks + 1)
        space = " " if ticks else ""
        marked = f"{fence}{space}{words}{space}{fence}"
    elif mark in _EMPHASES:
        opening, closing, _ = _EMPHASES[mark]
        marked = f"{opening}{words}{closing}"
    else:
        marked = f"{mark}{words}{mark}"
    return f"{before}{marked}{after}"


def _write_list(element: Any) -> list[str]:
    """Write a list. One with headings is written without its marks, because a heading ends a list."""
    if next(element.iter(*HEADINGS), None) is not None:
        return write_blocks(element)
    labels = dict(_iter_labels(element))
    items = _finish_blocks([_write_text(element.text)])
    has_number = True
    for child in element:
        is_item = child.tag == "li"
        blocks = write_blocks(child) if is_item else _finish_blocks(_write_element(child, frozenset()))
        text = _join_blocks([*blocks, *_finish_blocks([_write_text(child.tail)])])
        bullet = "- "
        if label := labels.get(child):
            has_number = has_number and _NUMBERED.match(label) is not None
            if has_number:
                bullet = label
            elif text:  # Markdown has no such number
                text = label + text
        if text:  # a list or text outside of the items belongs to the item before it
            lines = _LINE_START.sub(" " * len(bullet), text)
            if is_item:
                items.append(bullet + lines[len(bullet) :])
            else:
                items.append(lines if items else text)
    return ["\n".join(items)]


def _iter_labels(element: Any) -> Iterator[tuple[Any, str]]:
    """Yield the items of a numbered list, each with its number as a browser shows it, such as `3. `."""
    items = element.findall("li") if element.tag == "ol" else []
    kind = element.get("type", "")
    styling = f"{element.get('style', '')} {element.get('class', '')}"
    if style := _LIST_STYLE.search(styling[:ATTRIBUTE_LENGTH_MAX]):
        kind = style[1].lower() + ("Roman" if style[2].lower() == "roman" else "Letter")
    elif kind not in ("a", "A", "i", "I"):
        kind = "decimal"
    is_reversed = "reversed" in element.attrib
    number = parse_int(element.get("start"), len(items) if is_reversed else 1)
    for item in items:
        number = parse_int(item.get("value"), number)
        is_plain = any(_NO_LIST_STYLE.search(each.get("style", "")) for each in (element, item))
        yield item, "" if is_plain else f"{format_list_number(number, kind)}. "
        number += -1 if is_reversed else 1


def _join_blocks(blocks: Sequence[str]) -> str:
    """Join the blocks of an item. An empty line between its words and a list would make the list loose."""
    first, *others = blocks or [""]
    is_followed = others and not isinstance(first, _Block) and _TIGHT_LIST.match(others[0])
    return "\n\n".join([f"{first}\n{others.pop(0)}" if is_followed else first, *others])


def _write_table(table: Any) -> list[str]:
    """Write what is outside the rows, such as a caption, then the rows.

    A table that only places headings or code on the page is written without a table.
    """
    if _is_layout(table):
        return write_blocks(table)
    outside: list[_BlockOrRun] = []
    for each in table.xpath(_OUTSIDE_XPATH):
        outside += [_write_text(each)] if isinstance(each, str) else _write_element(each, frozenset())
    rows = _read_rows(table)
    texts = _list_texts([cells for _, cells in rows])
    header_row_count = _count_header_rows([row for row, _ in rows])
    return [*_finish_blocks(outside), write_table(texts[:header_row_count], texts[header_row_count:])]


def _read_rows(table: Any) -> list[tuple[Any, dict[int, PlacedCell[str]]]]:
    """Return each row that has cells, and its cells by column, in the order in which a browser shows rows."""
    rows = chain.from_iterable(map(table.xpath, _ROWS_XPATHS))
    read: list[tuple[Any, dict[int, PlacedCell[str]]]] = []
    for _, part in groupby(rows, key=lambda row: row.getparent()):  # no cell spans rows of two parts
        part_rows = [*part]
        read += zip(part_rows, place_cells([[*map(_read_cell, row)] for row in part_rows]), strict=True)
    return [(row, cells) for row, cells in read if cells]


def _read_cell(cell: Any) -> SpannedCell[str]:
    text = _write_cell(cell)
    return SpannedCell(text, len(text), parse_int(cell.get("colspan"), 1), parse_int(cell.get("rowspan"), 1))


def _list_texts(rows: Sequence[Mapping[int, PlacedCell[str]]]) -> list[list[str]]:
    """List the texts of each row. Markdown shows no cell beyond the columns of the first row."""
    columns = list_columns(rows)
    return [[cells[column].content or "" if column in cells else "" for column in columns] for cells in rows]


def _count_header_rows(rows: Sequence[Any]) -> int:
    """Return how many rows at the top are headers. After the first row, a lone header cell is a title."""
    for number, row in enumerate(rows):
        is_title = number and len(row) < 2
        if is_title or any(cell.tag != "th" for cell in row):
            return number
    return min(1, len(rows))


def _is_layout(table: Any) -> bool:
    """Return whether a table only places headings or code on the page.

    Code is in a table of data if two rows have words in several cells.
    """
    if next(table.iter(*HEADINGS), None) is not None:
        return True
    full_rows = (row for row in table.iter("tr") if sum(map(bool, map(join_text, row))) > 1)
    is_data = len([*islice(full_rows, 2)]) > 1 and next(table.iterdescendants("table"), None) is None
    return next(table.iter("pre"), None) is not None and not is_data


def _write_cell(cell: Any) -> str:
    for code in cell.iter("pre"):
        _join_code_lines(code)
    for numbered in cell.iter("ol"):
        for item, label in _iter_labels(numbered):
            item.text = label + (item.text or "")
    for block in [*cell.iter(*_FLATTENED)][1:]:
        block.tag = "div"
    return _write_line(_write_marked_content(cell, frozenset()))


def _join_code_lines(block: Any) -> None:
    """Turn a code block in a cell into inline code with line breaks."""
    text = f"\n{_read_code(block)}\n".replace("\n", _LINE_SEPARATOR)
    block.clear(keep_tail=True)
    block.tag = "code"
    block.text = text
