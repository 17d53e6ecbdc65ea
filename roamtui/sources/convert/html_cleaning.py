"""Any HTML page into the simple HTML of its text: well-formed, shallow, without what stands around the text.

What comes out holds only headings, lists, quotes, tables, code and lines of text (`<line>`, our own element), with the
inline elements that Markdown knows. No heading is invented or lost, and no page makes it deep.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from roamtui.sources.convert.html_elements import (
    BLOCKS,
    CELLS,
    HEADINGS,
    LISTS,
    VOID,
    find_code_language,
    is_unseen,
)
from roamtui.sources.convert.html_lines import LineWriter, resolve_link
from roamtui.sources.convert.html_tokens import Tag, read_tokens

_BLOCKS_MAX = 200
"""Blocks within blocks; deeper ones only part the text."""
_NESTED_MAX = 16
"""Lists and quotes within each other; deeper ones only part the text."""
_COLUMNS_SPANNED_MAX = 50
"""Columns of a table up to which a cell can stand for several."""
_LANGUAGE_BLOCKS = 3
"""Elements around a code block that may say its language."""
_TITLE_LENGTH_MAX = 300
_ENDS_HEADING = frozenset({"p", "ul", "ol", "dl", "table", "pre", "blockquote"})
_NESTING = LISTS | {"blockquote"}
_BULLETED = LISTS - {"ol"}
_ENDED_EARLY = HEADINGS | {"pre"}
_REGIONS = frozenset({"main", "article"})
_EMPTY_CELL = (Tag("td", {}, is_end=False), Tag("td", {}, is_end=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanPage:
    """The simple HTML of a page."""

    body: list[Tag | str]
    title: str
    """What the page calls itself, empty where it does not."""


@dataclass(slots=True)
class _Block:
    """An open block."""

    name: str
    start: int
    """Where it begins among the pieces."""
    language: str = ""
    written: str = ""
    """Name of the element that stands for it in what comes out, empty where none does."""
    is_hidden: bool = False
    region: str = ""
    """`main` or `article` where it is one."""
    seen: int = 0
    """What `LineWriter.seen` was where it begins."""
    count: int = 0
    """Number of a list's last item; rows of a table so far, cells of a row, columns of a cell."""
    is_head: bool = True
    """Whether all cells of a row are headings of columns."""
    filled: dict[int, int] = field(default_factory=dict)
    """Of a table: columns that a cell of an earlier row goes on in, each with the rows for which it does."""


@dataclass(frozen=True, slots=True)
class _Region:
    """A part of the page that may be its text, or a heading of the first level."""

    name: str
    start: int
    end: int


def clean_page(source: str, base_url: str | None) -> CleanPage:
    """Return the simple HTML of a page's main text.

    Args:
        source: The page.
        base_url: Its address, for links that are relative to it.
    """
    cleaner = _Cleaner(LineWriter(base_url))
    for token in read_tokens(source.replace("\0", "")):
        cleaner.take(token)
    cleaner.lines.part()
    title = " ".join("".join(cleaner.title).split())[:_TITLE_LENGTH_MAX]
    return CleanPage(body=cleaner.choose_body(), title=title)


@dataclass(slots=True)
class _Cleaner:
    """Takes tokens and keeps the blocks that are open."""

    lines: LineWriter
    title: list[str] = field(default_factory=list)
    _blocks: list[_Block] = field(default_factory=list)
    _regions: list[_Region] = field(default_factory=list)
    _overflow: int = 0
    """Open blocks that are too deep to note."""

    def take(self, token: Tag | str) -> None:
        """Take the next token of the page."""
        if isinstance(token, str):
            if self._blocks and self._blocks[-1].name == "title":
                self.title.append(token)
            else:
                self.lines.write_text(token)
        elif token.name in VOID:
            self._take_void(token)
        elif token.name in BLOCKS:
            if token.is_end:
                self._end_block()
            else:
                self._start_block(token)
        elif token.is_end:
            self.lines.end_inline(token.name)
        else:
            self.lines.start_inline(token)

    def choose_body(self) -> list[Tag | str]:
        """Return the main text: of the parts that say so, else of the only article, else all of it."""
        pieces = self.lines.pieces
        for name in ("main", "article"):
            chosen = [region for region in self._regions if region.name == name]
            body = [piece for region in chosen for piece in pieces[region.start : region.end]]
            if (name == "article" and len(chosen) > 1) or not _has(body, "line"):
                continue
            if not _has(body, "h1"):
                heads = [region for region in self._regions if region.name == "h1" and region.end <= chosen[0].start]
                body = [piece for region in heads[-1:] for piece in pieces[region.start : region.end]] + body
            return body
        return pieces

    def _take_void(self, tag: Tag) -> None:
        lines = self.lines
        if tag.name == "base" and "href" in tag.attributes and lines.base_url:
            lines.base_url = resolve_link(tag.attributes["href"], lines.base_url) or lines.base_url
        elif lines.hidden or tag.is_end:
            return
        elif tag.name == "br":
            lines.break_line()
        elif lines.is_code:
            return
        elif tag.name == "hr":
            lines.part()
            if not lines.confined:
                lines.pieces.append(Tag("hr", {}, is_end=False))
        elif tag.name == "img" and not is_unseen("img", tag.attributes):
            lines.place_image(tag.attributes)

    def _start_block(self, tag: Tag) -> None:
        name, lines = tag.name, self.lines
        self._end_implied(name)
        lines.part()
        if len(self._blocks) >= _BLOCKS_MAX:
            self._overflow += 1
            return
        block = _Block(name, len(lines.pieces), language=find_code_language(tag.attributes))
        block.is_hidden = is_unseen(name, tag.attributes)
        self._blocks.append(block)
        lines.depth = len(self._blocks)
        lines.hidden += block.is_hidden
        if lines.hidden:
            return
        if lines.is_code:
            self._start_code_line()
        elif name in HEADINGS:
            self._start_heading(block)
        elif name == "pre":
            self._start_code(block)
        elif not lines.confined:
            self._start_container(block, tag)

    def _end_implied(self, name: str) -> None:
        """End, in what comes out, a heading or a code block that something begins in which does not belong there."""
        ended = next((index for index, block in enumerate(self._blocks) if block.written in _ENDED_EARLY), -1)
        if ended < 0:
            return
        is_text = self._blocks[ended].written != "pre" and self.lines.seen > self._blocks[ended].seen
        if name in HEADINGS or (is_text and name in _ENDS_HEADING):
            self.lines.part()
            self._end_written(ended)

    def _end_written(self, index: int) -> None:
        """End, in what comes out, what stands for a block and all blocks in it; what follows in them stands free."""
        for block in reversed(self._blocks[index:]):
            if block.written:
                self._write_end(block)
            block.written = ""

    def _start_code_line(self) -> None:
        pieces = self.lines.pieces
        if isinstance(pieces[-1], str) and not pieces[-1].endswith("\n"):
            pieces.append("\n")

    def _start_heading(self, block: _Block) -> None:
        self._dissolve(LISTS | {"table"})
        if self.lines.confined:
            return
        self._write(block, block.name)
        self.lines.confined += 1
        self.lines.is_heading = True
        self.lines.continue_link()

    def _start_code(self, block: _Block) -> None:
        self._dissolve(frozenset({"table"}))
        if self.lines.confined:
            return
        self._write(block, "pre")
        self.lines.is_code = True
        around = [block.language for block in reversed(self._blocks[-_LANGUAGE_BLOCKS:])]
        self.lines.code_language = next(filter(None, around), "")

    def _start_container(self, block: _Block, tag: Tag) -> None:
        name = block.name
        if name in _REGIONS or tag.attributes.get("role", "").lower() in _REGIONS:
            block.region = name if name in _REGIONS else tag.attributes["role"].lower()
        around = self._find_written()
        if name == "li" and around is not None and around.written in LISTS:
            around.count = _read_number(tag.attributes.get("value", ""), around.count + 1)
            self._write(block, "li", {"mark": f"{around.count}."} if around.written == "ol" else None)
        elif name == "tr" and around is not None and around.written == "table":
            self._write(block, "tr")
        elif name in CELLS and around is not None and around.written == "tr":
            around.is_head = around.is_head and name == "th"
            table = self._find_table()
            self._fill_columns(around, table)
            spanned = _read_number(tag.attributes.get("colspan", ""), 1)
            block.count = max(1, min(spanned, _COLUMNS_SPANNED_MAX - around.count))
            rows = _read_number(tag.attributes.get("rowspan", ""), 1)
            if table is not None and rows > 1:
                table.filled.update(dict.fromkeys(range(around.count, around.count + block.count), rows - 1))
            around.count += block.count
            self._write(block, "td")
            self.lines.confined += 1
        elif around is None or around.written not in {"table", "tr"}:
            self._start_nest(block, tag.attributes)
        self._note_term()

    def _start_nest(self, block: _Block, attributes: dict[str, str]) -> None:
        if block.name == "table":
            self._write(block, "table")
        elif block.name in _NESTING and sum(outer.written in _NESTING for outer in self._blocks) < _NESTED_MAX:
            self._write(block, "ul" if block.name in _BULLETED else block.name)
            block.count = _read_number(attributes.get("start", ""), 1) - 1

    def _find_written(self) -> _Block | None:
        return next((block for block in reversed(self._blocks) if block.written), None)

    def _note_term(self) -> None:
        self.lines.is_term = any(block.name == "dt" for block in self._blocks[-2:])

    def _write(self, block: _Block, name: str, attributes: dict[str, str] | None = None) -> None:
        block.written, block.start, block.seen = name, len(self.lines.pieces), self.lines.seen
        self.lines.pieces.append(Tag(name, attributes or {}, is_end=False))

    def _dissolve(self, names: frozenset[str]) -> None:
        """End, in what comes out, the outermost open list or table and all in it; what follows in it stands free."""
        written = [block.written for block in self._blocks]
        index = next((index for index, name in enumerate(written) if name in names or name == "blockquote"), -1)
        if index < 0 or written[index] == "blockquote":
            return
        dissolved, pieces = self._blocks[index:], self.lines.pieces
        if self.lines.seen == dissolved[0].seen:
            self.lines.confined -= sum(block.written == "td" for block in dissolved)
            del pieces[dissolved[0].start :]
        for block in reversed(dissolved):
            if block.written and pieces[block.start : block.start + 1]:
                self._write_end(block)
            block.written = ""
            block.start = min(block.start, len(pieces))

    def _end_block(self) -> None:
        """End the innermost block."""
        if self._overflow:
            self._overflow -= 1
            self.lines.part()
            return
        block, lines = self._blocks.pop(), self.lines
        lines.depth = len(self._blocks)
        lines.part()
        lines.hidden -= block.is_hidden
        if block.written:
            self._write_end(block)
        elif lines.is_code and not lines.hidden:
            self._start_code_line()
        if block.region and not lines.hidden:
            self._regions.append(_Region(block.region, block.start, len(lines.pieces)))
        self._note_term()

    def _write_end(self, block: _Block) -> None:
        """End in what comes out what stands for a block."""
        lines, name = self.lines, block.written
        if name == "tr" and block.count:
            self._fill_columns(block, self._find_table())
        lines.pieces.append(Tag(name, {}, is_end=True))
        if name in HEADINGS:
            lines.confined -= 1
            lines.is_heading = False
            if lines.seen == block.seen:
                del lines.pieces[block.start :]
            elif name == "h1":
                self._regions.append(_Region(name, block.start, len(lines.pieces)))
        elif name == "pre":
            lines.is_code = False
            lines.pieces[block.start] = Tag("pre", {"language": lines.code_language}, is_end=False)
        elif name == "td":
            lines.confined -= 1
            lines.pieces.extend(_EMPTY_CELL * (block.count - 1))
        elif name == "tr":
            self._end_row(block)

    def _find_table(self) -> _Block | None:
        return next((block for block in reversed(self._blocks) if block.written == "table"), None)

    def _fill_columns(self, row: _Block, table: _Block | None) -> None:
        """Write an empty cell into each column that a cell of an earlier row goes on in, up to the next free one."""
        while table is not None and row.count in table.filled and row.count < _COLUMNS_SPANNED_MAX:
            table.filled[row.count] -= 1
            if not table.filled[row.count]:
                del table.filled[row.count]
            self.lines.pieces.extend(_EMPTY_CELL)
            row.count += 1

    def _end_row(self, row: _Block) -> None:
        table = self._find_table()
        if table is not None and row.count:
            table.count += 1
            if table.count == 1:
                said = {"columns": str(row.count), **({"is-head": ""} if row.is_head else {})}
                self.lines.pieces[row.start] = Tag("tr", said, is_end=False)


def _has(pieces: list[Tag | str], name: str) -> bool:
    return any(isinstance(piece, Tag) and piece.name == name for piece in pieces)


def _read_number(value: str, default: int) -> int:
    """Return a number from an attribute, `default` where it is none of at most nine digits."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default
