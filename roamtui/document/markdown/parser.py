"""Parse Markdown, and the HTML in it, into blocks. Only this module knows the tokens of markdown-it-py."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from roamtui.document.headings import limit_nesting
from roamtui.document.markdown.blocks import (
    Block,
    Code,
    Details,
    Emphasis,
    Heading,
    Inline,
    Item,
    List,
    Markdown,
    Paragraph,
    Quote,
    Table,
    TableRow,
    ThematicBreak,
    Words,
    flatten_blocks,
)
from roamtui.document.markdown.inline import (
    CONTAINERS,
    EMPHASES,
    HIDDEN,
    RAISED,
    SEPARATING,
    HtmlToken,
    InlineReader,
    SplitMarks,
    TagStarts,
    split_footnotes,
    split_html,
)
from roamtui.document.plain import strip_anchor
from roamtui.document.text import compute_line_starts

Definitions = dict[str, dict[str, str]]
"""Link definitions by normalised label, in the form of markdown-it-py's environment."""

_FRAMES_MAX = 100
"""Maximum depth of nested containers. The content of deeper ones is added to the last one."""
_SPAN_MAX = 50
"""Maximum number of columns, or of rows, that one cell takes."""
_CONTAINERS = {
    "blockquote": "quote",
    "bullet_list": "list",
    "ordered_list": "list",
    "list_item": "item",
    "table": "table",
    "tr": "row",
    "th": "cell",
    "td": "cell",
}
_PARENTS = {"item": "list", "row": "table", "cell": "row"}
"""Parent that each of these containers needs. It is added if its tag is missing."""
_SCOPES = {"item": "list", "row": "table", "cell": "table"}
"""Containers that close an open one of the same kind when they start. The search for it ends at this kind of
container."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = {"hr", "pre", *_HEADINGS}
"""Further elements that separate paragraphs. Each is a block of its own."""
_ALERT = re.compile(r"\[!([A-Za-z]{2,20})\][+-]?(?:[ \t]+(.*)|)")
_ALIGNMENT = re.compile(r"text-align\s*:\s*(left|right|center)")
_OPEN = re.compile(r"\sopen\b", re.IGNORECASE)
_LABEL_LENGTH_MAX = 200
"""Maximum length of the label of a link definition, in characters. CommonMark allows 999."""
_DEFINITION = re.compile(
    r" {0,3}\[(?P<label>(?!\^)[^\[\]\r\n]{1,200})\]:[ \t]*(?:\r\n?|\n)?[ \t]*(?P<href><[^<>\r\n]*>|[^\s<]\S*)",
)
_TASK_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


def read_markdown(
    text: str,
    *,
    prefix: str = "",
    start: int = 0,
    definitions: Definitions | None = None,
    split_marks: SplitMarks = split_footnotes,
) -> Markdown:
    """Parse a text, or a slice of one, into blocks.

    If a slice starts inside containers, `prefix` has the whole lines that open them, which make no blocks. `start` is
    the offset of the slice, which is added to all offsets. `definitions` has the link definitions of the whole
    document, in addition to those in the text. `split_marks` splits plain text at marks.
    """
    # Without a final line end, an HTML block in a quoted list makes the parser read past the end.
    source = prefix + text + ("" if text.endswith("\n") else "\n")
    tokens = _make_parser().parse(source, {"references": dict(definitions or {})})
    starts = compute_line_starts(text)
    prefix_lines = prefix.count("\n")

    def find_offset(line: int) -> int:
        own = line - prefix_lines
        if own < 0:
            return start - 1
        return start + (starts[own] if own < len(starts) else len(text))

    return _BlockBuilder(source, start, find_offset, split_marks).read(tokens)


def parse_link_definitions(text: str) -> Definitions:
    """Parse the link definitions of a text. The first one with a label counts."""
    definitions: Definitions = {}
    mark = text.find("]:")
    while mark >= 0:
        # Searching back from the rare "]:" is much faster than looking at the start of each line.
        line_start = max(text.rfind(end, max(0, mark - _LABEL_LENGTH_MAX), mark) for end in "\n\r") + 1
        match = _DEFINITION.match(text, line_start)
        if match and match.end("label") == mark:
            href = match["href"].removeprefix("<").removesuffix(">")
            definitions.setdefault(normalizeReference(match["label"]), {"title": "", "href": normalizeLink(href)})
        mark = text.find("]:", mark + 2)
    return definitions


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    parser = limit_nesting(MarkdownIt("commonmark").enable(["table", "strikethrough"]))
    parser.block.ruler.at("reference", _read_reference)
    return parser


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link definition, but keep the definition of a footnote as text."""
    if state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line]):
        return False
    return reference(state, start_line, end_line, silent)


@dataclass(slots=True, kw_only=True)
class _Frame:
    """An open container: the document, a quote, list, item, table, row, cell, details or summary."""

    kind: str
    start: int
    end: int
    is_html: bool = False
    blocks: list[Block] = field(default_factory=list)
    """Its content. In a list, table or row, it is only the blocks between items, rows or cells."""
    is_open: bool = False
    """Whether details are shown unfolded."""
    alert: str = ""
    title: Inline = ()
    number: int | None = None
    delimiter: str = "."
    is_tight: bool | None = None
    items: list[Item] = field(default_factory=list)
    rows: list[TableRow] = field(default_factory=list)
    row_spans: dict[int, int] = field(default_factory=dict)
    """By column, the number of further rows that a cell above takes."""
    cells: list[_Frame] = field(default_factory=list)
    words: Inline = ()
    is_head: bool = False
    alignment: str = ""
    columns_taken: int = 1
    rows_taken: int = 1
    alignments: tuple[str, ...] = ()
    hidden_head: tuple[Inline, ...] = ()


class _BlockBuilder:
    """Builds the blocks of one text from its tokens."""

    def __init__(self, source: str, start: int, find_offset: Callable[[int], int], split_marks: SplitMarks) -> None:
        self._tag_starts = TagStarts(source)
        self._start = start
        self._find_offset = find_offset
        self._words = InlineReader(split_marks)
        self._frames = [_Frame(kind="document", start=start, end=start)]
        self._span = (start, start)
        """Start and end of the collected words in the source."""
        self._piece_span = (start, start)
        """Start and end of the current piece of HTML in the source."""
        self._heading_level = 0
        self._hidden = ""
        """Name of the open element whose text is skipped."""
        self._piece_line: int | None = None
        """Line of the current piece of HTML, or None in a paragraph of Markdown."""
        self._code: list[str] | None = None
        """Texts of the open ``<pre>``, or None."""
        self._code_line = 0
        self._code_info = ""

    def read(self, tokens: Sequence[Token]) -> Markdown:
        """Build the blocks of these tokens."""
        for token in tokens:
            kind, _, side = token.type.rpartition("_")
            if side == "open":
                self._open(kind, token)
            elif side == "close":
                self._close(kind)
            elif token.type == "inline":
                self._add_inline(token)
            elif token.type in ("fence", "code_block"):
                first, after = token.map or (0, 0)
                first_code = first + (token.type == "fence")
                text = token.content.removesuffix("\n")
                lines = text.count("\n") + 1 if token.content else 0
                offsets = tuple(self._find_offset(min(first_code + number, after)) for number in range(lines + 1))
                info = token.info.strip() if self._find_offset(first) >= self._start else ""
                self._frames[-1].blocks.append(Code(text=text, info=info, offsets=offsets))
            elif token.type == "hr":
                start, end = self._find_span(token)
                self._frames[-1].blocks.append(ThematicBreak(start=start, end=end))
            elif token.type == "html_block":
                self._add_html_block(token)
        self._flush()
        while len(self._frames) > 1:
            self._pop()
        return Markdown(blocks=tuple(self._frames[0].blocks), links=tuple(self._words.links))

    def _find_span(self, token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        return self._find_offset(first), self._find_offset(after)

    def _open(self, kind: str, token: Token) -> None:
        frame = self._frames[-1]
        if kind == "heading":
            # A section must look the same when it is read alone, so no element continues past its heading.
            while token.level == 0 and len(self._frames) > 1:
                self._pop()
            self._heading_level = int(token.tag[1])
        elif kind == "paragraph" and frame.kind == "item" and not frame.is_html and self._frames[-2].is_tight is None:
            self._frames[-2].is_tight = token.hidden
        elif kind in _CONTAINERS:
            start, end = self._find_span(token) if token.map else (frame.start, frame.end)
            opened = _Frame(kind=_CONTAINERS[kind], start=start, end=end)
            if kind == "ordered_list":
                opened.number, opened.delimiter = int(token.attrGet("start") or 1), token.markup
            if kind in ("th", "td"):
                opened.is_head = kind == "th"
                opened.alignment = str(token.attrGet("style") or "").removeprefix("text-align:")
            self._frames.append(opened)

    def _close(self, kind: str) -> None:
        self._flush()
        self._heading_level = 0
        # Elements that started in the container end with it.
        while kind in _CONTAINERS:
            is_html = self._frames[-1].is_html
            self._pop()
            if not is_html:
                break

    def _add_inline(self, token: Token) -> None:
        self._span = self._find_span(token)
        children = token.children or []
        if self._frames[-1].kind == "quote" and not self._frames[-1].blocks:
            first_line = token.map[0] if token.map else 0
            children = self._read_alert(children, self._find_offset(first_line + 1))
        starts = TagStarts(token.content)
        for child in children:
            kind, _, side = child.type.rpartition("_")
            if child.type == "html_inline":
                for piece in split_html(child.content, starts):
                    self._add_piece(piece)
            elif self._hidden:
                continue
            elif side == "open":
                self._words.open(kind, str(child.attrGet("href") or "") if kind == "link" else None)
            elif side == "close":
                self._words.close(kind)
            else:
                self._add_words(child)
        self._words.close_all()
        self._hidden = ""

    def _add_words(self, token: Token) -> None:
        match token.type:
            case "code_inline":
                self._words.add_plain(token.content, Emphasis.CODE)
            case "softbreak":
                self._words.add_plain(" ")
            case "hardbreak":
                self._words.end_line()
            case "image":
                self._words.add_image(token.content, str(token.attrGet("src") or ""))
            case _:
                self._words.add_text(token.content)

    def _read_alert(self, children: list[Token], first_end: int) -> list[Token]:
        """If these are the first tokens of an alert, turn the quote into one. Return the tokens of its text."""
        found = _ALERT.fullmatch(children[0].content) if children and children[0].type == "text" else None
        after = next((n for n, child in enumerate(children) if child.type in ("softbreak", "hardbreak")), len(children))
        if found is None or (after > 1 and found[2] is None):
            return children
        frame = self._frames[-1]
        frame.alert, frame.end = found[1].lower(), first_end
        self._words.add_text(found[2] or "")
        for child in children[1:after]:
            self._add_words(child)
        frame.title = self._words.take()
        return children[after + 1 :]

    def _add_html_block(self, token: Token) -> None:
        first = (token.map or (0, 0))[0]
        for piece in split_html(token.content, self._tag_starts):
            text = piece.text
            self._piece_line = line = first + piece.line
            first_line = line + text.count("\n", 0, len(text) - len(text.lstrip()))
            last_line = line + text.rstrip().count("\n")
            self._piece_span = self._find_offset(first_line), self._find_offset(max(first_line, last_line) + 1)
            if self._code is None and not self._words.has_words:
                self._span = self._piece_span
            self._span = self._span[0], self._piece_span[1]
            self._add_piece(piece)
        self._end_code()
        self._flush()
        self._words.close_all()
        self._heading_level, self._hidden, self._piece_line = 0, "", None

    def _add_piece(self, piece: HtmlToken) -> None:
        name = piece.name
        if self._hidden:
            self._hidden = "" if piece.is_end and name == self._hidden else self._hidden
        elif self._code is not None:
            self._add_code(piece)
        elif not name:
            self._words.add_html(piece.text)
        elif name in HIDDEN:
            self._hidden = "" if piece.is_end else name
        elif name in CONTAINERS:
            self._flush()
            if piece.is_end:
                self._close_element(CONTAINERS[name])
            else:
                self._open_element(CONTAINERS[name], piece)
        elif SEPARATING.fullmatch(name) or name in _BLOCK_TAGS:
            self._add_block_tag(piece)
        else:
            self._add_inline_tag(piece)

    def _add_block_tag(self, piece: HtmlToken) -> None:
        name = piece.name
        self._flush()
        self._span = self._piece_span
        self._words.close("dt")
        self._heading_level = _HEADINGS.get(name, 0) if not piece.is_end else 0
        if name == "hr":
            self._frames[-1].blocks.append(ThematicBreak(start=self._piece_span[0], end=self._piece_span[1]))
        elif name == "pre" and piece.is_end:
            self._words.close("code")
        elif name == "pre" and self._piece_line is not None:
            self._code, self._code_line, self._code_info = [], self._piece_line, ""
        elif name == "pre":
            self._words.open("code")
        elif name == "dt" and not piece.is_end:
            self._words.open(name)

    def _add_inline_tag(self, piece: HtmlToken) -> None:
        name, attributes = piece.name, piece.attributes
        if name == "br":
            self._words.end_line()
        elif name == "img":
            self._words.add_image(attributes.get("alt", ""), attributes.get("src", ""))
        elif name == "q":
            self._words.add_plain("”" if piece.is_end else "“")
        elif name == "input" and attributes.get("type") == "checkbox":
            self._words.add_plain("[x] " if "checked" in piece.text else "[ ] ")
        elif piece.is_end:
            self._words.close(name)
        elif name == "a" and "href" in attributes:
            self._words.open(name, attributes["href"])
        elif name in EMPHASES or name in RAISED:
            self._words.open(name)

    def _add_code(self, piece: HtmlToken) -> None:
        assert self._code is not None
        if piece.name == "pre" and piece.is_end:
            self._end_code()
        elif not piece.name:
            self._code.append(html.unescape(piece.text))
        elif piece.name == "code":
            names = piece.attributes.get("class", "").split()
            self._code_info = next((name[9:] for name in names if name.startswith("language-")), self._code_info)

    def _end_code(self) -> None:
        if self._code is None:
            return
        text = "".join(self._code)
        line = self._code_line + text.startswith("\n")
        text = text.removeprefix("\n").rstrip()
        offsets = tuple(self._find_offset(line + number) for number in range(text.count("\n") + 2))
        self._frames[-1].blocks.append(Code(text=text, info=self._code_info, offsets=offsets))
        self._code = None

    def _open_element(self, kind: str, piece: HtmlToken) -> None:
        if kind in _SCOPES:
            self._close_element(kind, _SCOPES[kind])
        parent = _PARENTS.get(kind)
        if parent and self._frames[-1].kind != parent:
            self._open_element(parent, HtmlToken(text="", line=piece.line))
        if len(self._frames) >= _FRAMES_MAX:
            return
        start, end = self._piece_span if self._piece_line is not None else self._span
        frame = _Frame(kind=kind, start=start, end=end, is_html=True, is_tight=True)
        attributes = piece.attributes
        frame.is_open = _OPEN.search(piece.text) is not None
        if piece.name == "ol":
            frame.number = _read_number(attributes, "start", 10**9)
        if kind == "cell":
            style = _ALIGNMENT.search(attributes.get("style", ""))
            frame.is_head = piece.name == "th"
            frame.alignment = style[1] if style else attributes.get("align", "").lower()
            frame.columns_taken = _read_number(attributes, "colspan", _SPAN_MAX)
            frame.rows_taken = _read_number(attributes, "rowspan", _SPAN_MAX)
        self._frames.append(frame)

    def _close_element(self, kind: str, scope: str = "") -> None:
        """Close the innermost HTML container of a kind and all containers in it.

        The search ends at a container of the kind `scope` and at a container of Markdown.
        """
        for frame in reversed(self._frames):
            if not frame.is_html or frame.kind == scope:
                return
            if frame.kind == kind:
                break
        while self._pop().kind != kind:
            pass

    def _flush(self) -> None:
        """Add the collected words as a paragraph or a heading."""
        words = self._words.take()
        if not words:
            return
        start, end = self._span
        if self._heading_level:
            last = words[-1]
            words = (*words[:-1], Words(strip_anchor(last.text), last.emphasis, last.link, last.is_image))
            self._frames[-1].blocks.append(Heading(level=self._heading_level, words=words, start=start, end=end))
        else:
            self._frames[-1].blocks.append(Paragraph(words=words, start=start, end=end))

    def _pop(self) -> _Frame:
        """Close the innermost container and return it."""
        frame = self._frames.pop()
        parent = self._frames[-1]
        if frame.is_html and self._piece_line is not None and frame.kind != "details":
            frame.end = max(frame.end, self._piece_span[1])
        blocks, start, end = tuple(frame.blocks), frame.start, frame.end
        match frame.kind:
            case "quote" if blocks or frame.alert:
                quote = Quote(blocks=blocks, alert=frame.alert, title=frame.title, start=start, end=end)
                parent.blocks.append(quote)
            case "details":
                details = Details(summary=frame.title, is_open=frame.is_open, blocks=blocks, start=start, end=end)
                parent.blocks.append(details)
            case "summary" if parent.kind == "details":
                parent.title, parent.start, parent.end = flatten_blocks(blocks), start, end
            case "item":
                first = blocks[0] if blocks else None
                is_done = _TASK_BOXES.get(first.words[0].text[:4]) if isinstance(first, Paragraph) else None
                if is_done is not None and isinstance(first, Paragraph):
                    box, *rest = first.words
                    blocks = (replace(first, words=(replace(box, text=box.text[4:]), *rest)), *blocks[1:])
                parent.items.append(Item(blocks=blocks, is_done=is_done, start=start, end=end))
            case "cell":
                frame.words = flatten_blocks(blocks)
                parent.cells.append(frame)
            case "row":
                parent.blocks.extend(blocks)
                _add_row(parent, frame, is_shown=start >= self._start)
            case _:
                parent.blocks.extend(blocks)
                if frame.items:
                    number, delimiter, is_tight = frame.number, frame.delimiter, frame.is_tight is not False
                    items = tuple(frame.items)
                    parent.blocks.append(List(items=items, number=number, delimiter=delimiter, is_tight=is_tight))
                if frame.rows:
                    table = Table(rows=tuple(frame.rows), alignments=frame.alignments, hidden_head=frame.hidden_head)
                    parent.blocks.append(table)
        return frame


def _read_number(attributes: dict[str, str], name: str, number_max: int) -> int:
    value = attributes.get(name, "")
    return min(int(value), number_max) if value.isdecimal() and len(value) < 10 else 1


def _add_row(table: _Frame, row: _Frame, *, is_shown: bool) -> None:
    """Add a row to its table, with empty cells where cells of earlier rows or columns extend into it."""
    if not row.cells:
        return
    cells: list[Inline] = []

    def skip_taken() -> None:
        while table.row_spans.get(len(cells), 0) > 0:
            table.row_spans[len(cells)] -= 1
            cells.append(())

    for cell in row.cells:
        skip_taken()
        columns = cell.columns_taken if len(cells) < _SPAN_MAX else 1
        if cell.rows_taken > 1:
            table.row_spans |= dict.fromkeys(range(len(cells), len(cells) + columns), cell.rows_taken - 1)
        cells.extend((cell.words, *((),) * (columns - 1)))
    skip_taken()
    table.alignments = table.alignments or tuple(cell.alignment for cell in row.cells)
    is_head = all(cell.is_head for cell in row.cells)
    if is_head and not is_shown:
        table.hidden_head = tuple(cells)
    if is_shown:
        table.rows.append(TableRow(cells=tuple(cells), is_head=is_head, start=row.start, end=row.end))
