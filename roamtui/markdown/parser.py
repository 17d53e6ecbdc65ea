"""Parses Markdown, and the HTML in it, into blocks. markdown-it-py makes the tokens."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it.token import Token
from markdown_it.utils import EnvType
from msgspec import Struct
from msgspec.structs import replace

from roamtui.commonmark import Definitions
from roamtui.markdown.anchors import strip_anchor
from roamtui.markdown.blocks import (
    HARD_BREAK_WORDS,
    Block,
    BlockQuote,
    Code,
    Heading,
    Inline,
    Item,
    List,
    Markdown,
    Paragraph,
    Table,
    TableRow,
    ThematicBreak,
    Words,
)
from roamtui.markdown.containers import rewrite_containers
from roamtui.markdown.extensions import format_mark
from roamtui.markdown.inline_reader import HtmlRow, InlineReader, split_into_groups
from roamtui.markdown.inline_source import InlineSource, LabelledMark, SourceMap
from roamtui.markdown.spanned_cells import PlacedCell, list_columns, place_cells
from roamtui.markdown.tokens import Dialect, parse_block_tokens
from roamtui.text import Bounds, normalise_line_ends


def parse_markdown(
    text: str,
    *,
    prefix: str = "",
    start: int = 0,
    definitions: Definitions | None = None,
    groups: Sequence[Bounds] = (),
) -> Markdown:
    """Parse a text, or a slice of one, into blocks.

    If a slice starts inside code or a table, `prefix` has the lines that open it. They do not become blocks.
    `start` is the offset of the slice. It is added to all offsets. `definitions` has the link definitions of
    the whole document, in addition to those in the text. `groups` are the bounds of words to keep apart, in
    order, without overlaps.
    """
    text = (prefix + text).replace("\0", "\N{REPLACEMENT CHARACTER}")
    source = InlineSource(text, start - len(prefix), groups=groups)
    return _parse(rewrite_containers(text), source, Dialect.DOCUMENT, definitions or {}, start)


def parse_answer(text: str, *, groups: Sequence[Bounds] = (), marks: Sequence[LabelledMark] = ()) -> Markdown:
    """Parse a model's answer. Containers such as `::: tip` count as text.

    `groups` are as in `parse_markdown`. `marks` are the source marks of the answer, in order. Each becomes a
    link.
    """
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    source = InlineSource(text, 0, groups=groups, marks=marks)
    return _parse(text, source, Dialect.ANSWER, {}, 0)


def _parse(
    text: str, source: InlineSource, dialect: Dialect, definitions: Definitions, start: int
) -> Markdown:
    env: EnvType = {"references": dict(definitions)}
    tokens = parse_block_tokens(normalise_line_ends(text), env, dialect)
    inline = InlineReader(source=source, env=env, dialect=dialect)
    lines = [source.shift + offset for offset in (*source.starts, len(source.text))]
    reader = _BlockReader(tokens=tokens, start=start, lines=lines, inline=inline)
    return Markdown(blocks=reader.read_blocks(), links=inline.links)


_FRONT_LINE = re.compile(r"[^\r\n]+")


def parse_front_matter(text: str, start: int, groups: Sequence[Bounds]) -> Markdown:
    """Read front matter, the text between two delimiting lines, as a table with a row for each entry.

    A line that is not an entry, such as an item of a list, belongs to the entry above. `start` and `groups`
    are as in `parse_markdown`.
    """
    _, *lines = (line for line in _FRONT_LINE.finditer(text) if line[0].strip())
    rows: list[TableRow] = []
    for line in lines[:-1]:
        offset = start + line.start()
        entry = [
            Words(line[0][first:end], start=offset + first, end=offset + end)
            for first, end in _divide_entry(line[0])
        ]
        cells = tuple(tuple(split_into_groups(words, groups)) if words.text else () for words in entry)
        rows.append(TableRow(start=offset, end=start + line.end(), cells=cells, is_header=False))
    if not rows:
        return Markdown(blocks=(), links=())
    table = Table(start=rows[0].start, end=rows[-1].end, rows=tuple(rows), alignments=("left", "left"))
    return Markdown(blocks=(table,), links=())


def _divide_entry(line: str) -> tuple[Bounds, Bounds]:
    """Return the bounds of the key and of the value of an entry. A line without a key has only a value."""
    key, colon, value = line.partition(":")
    end = len(line.rstrip())
    if not colon or key[:1] in "#- \t" or value[:1] not in " \t":
        return (0, 0), (0, end)
    return (0, len(key.rstrip())), (min(end, len(line) - len(value.lstrip())), end)


_PRE = re.compile(r"<pre\b[^>]*>(.*?)(?:</pre>)?", re.DOTALL | re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TASK_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}
_ALERT = re.compile(r"\[!(?P<kind>[A-Za-z][\w-]{1,40})\][+-]?(?:[ \t]+(?P<title>.*)|)(?:\n|\Z)")


class _BlockReader(Struct, kw_only=True):
    tokens: Sequence[Token]
    start: int
    """Offset of the text. Its prefix has lower offsets."""
    lines: Sequence[int]
    """Offset of each line, and of the end of the text."""
    inline: InlineReader
    _next: int = 0
    """Index of the next token."""

    def _iter_until(self, kind: str) -> Iterator[Token]:
        """Yield the tokens before the next token of a kind, and skip this token."""
        while self._next < len(self.tokens):
            token = self.tokens[self._next]
            self._next += 1
            if token.type == kind:
                return
            yield token

    def _get_bounds(self, token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        last = len(self.lines) - 1
        return self.lines[min(first, last)], self.lines[min(after, last)]

    def read_blocks(  # noqa: PLR0912 - one case a kind of token
        self, end: str = ""
    ) -> tuple[Block, ...]:
        """Read blocks up to a token of the kind `end`, and skip that. Without `end`, read all blocks."""
        blocks: list[Block] = []
        for token in self._iter_until(end):
            start, after = self._get_bounds(token)
            match token.type:
                case "paragraph_open":
                    words, inner = self._read_inline(token)
                    if words:
                        blocks.append(Paragraph(words=words, inner=inner, start=start, end=after))
                case "heading_open":
                    words, inner = self._read_inline(token)
                    if words:
                        level = int(token.tag[1])
                        blocks.append(Heading(level=level, words=words, inner=inner, start=start, end=after))
                case "blockquote_open":
                    blocks += self._read_quote(token)
                case "bullet_list_open" | "ordered_list_open":
                    blocks.append(self._read_list(token))
                case "dl_open":
                    blocks.append(self._read_definitions(token))
                case "footnote_reference_open":
                    blocks += self._read_note(token)
                case "table_open":
                    blocks += self._read_table(token)
                case "fence" | "code_block":
                    first = _get_first_line(token)
                    info = token.info.strip() if start >= self.start else ""
                    code = token.content.removesuffix("\n")
                    blocks.append(self._make_code(token, code, info, first + (token.type == "fence")))
                case "hr":
                    blocks.append(ThematicBreak(start=start, end=after))
                case "html_block":
                    blocks += self._read_html(token)
                case _:  # the inline text and the end of a paragraph have been read
                    pass
        return tuple(blocks)

    def _make_code(self, token: Token, text: str, info: str, first: int) -> Code:
        start, end = self._get_bounds(token)
        count = text.count("\n") + 1 if text else 0
        last = len(self.lines) - 1
        offsets = tuple(min(self.lines[min(first + number, last)], end) for number in range(count + 1))
        return Code(text=text, info=info, offsets=offsets, start=start, end=end)

    def _read_inline(self, opening: Token) -> tuple[Inline, Bounds]:
        """Read the words of the next token, with their bounds. The words are empty if nothing is visible."""
        token = self.tokens[self._next]
        content = token.content
        is_heading = opening.type == "heading_open"
        source_map: SourceMap = token.meta.get("source_map") or self.inline.source.locate(
            content, _get_first_line(token), is_title=is_heading
        )
        inner = source_map.locate(0), source_map.locate(len(content.rstrip()) - 1) + 1
        shown = strip_anchor(content) if is_heading else content
        return self.inline.read(shown, source_map, "dt" if opening.type == "dt_open" else ""), inner

    def _cut_opening(self, length: int) -> None:
        """Cut `length` characters off the start of the next paragraph."""
        token = self.tokens[self._next + 1]
        source_map = self.inline.source.locate(token.content, _get_first_line(token))
        token.content = token.content[length:]
        token.meta["source_map"] = source_map.skip(length)

    def _read_list(self, token: Token) -> List:
        items: list[Item] = []
        is_tight = True
        for opened in self._iter_until(token.type.replace("open", "close")):
            following = self.tokens[self._next]
            is_tight = is_tight and (following.type != "paragraph_open" or following.hidden)
            start, end = self._get_bounds(opened)
            is_done = None
            if following.type == "paragraph_open":
                box = self.tokens[self._next + 1].content[:4]
                if (is_done := _TASK_BOXES.get(box)) is not None:
                    self._cut_opening(len(box))
            blocks = self.read_blocks("list_item_close")
            items.append(Item(blocks=blocks, is_done=is_done, number=opened.info, start=start, end=end))
        if len(items) > 1 and items[0].number and len({item.number for item in items}) == 1:
            # the author leaves counting to the program
            first = int(items[0].number)
            items = [replace(item, number=str(number)) for number, item in enumerate(items, first)]
        start, end = self._get_bounds(token)
        return List(items=tuple(items), delimiter=token.markup, is_tight=is_tight, start=start, end=end)

    def _read_definitions(self, opened: Token) -> List:
        items: list[Item] = []
        is_tight = True
        for token in self._iter_until("dl_close"):
            start, end = self._get_bounds(token)
            following = self.tokens[self._next]
            if token.type == "dt_open":
                end = self.lines[_get_first_line(token) + 1]
                words, inner = self._read_inline(token)
                term = Paragraph(words=words, inner=inner, start=start, end=end)
                items.append(Item(blocks=(), is_done=None, term=term, start=start, end=end))
            elif token.type == "dd_open":
                is_tight = is_tight and (following.type != "paragraph_open" or following.hidden)
                blocks = (*items[-1].blocks, *self.read_blocks("dd_close"))
                items[-1] = replace(items[-1], blocks=blocks, end=end)
        start, end = self._get_bounds(opened)
        return List(items=tuple(items), delimiter="", is_tight=is_tight, start=start, end=end)

    def _read_note(self, token: Token) -> Iterator[Block]:
        """Yield the blocks of a footnote. Its mark leads back to its reference."""
        row = _get_first_line(token)
        mark = f"[^{token.meta['label']}]"
        source = self.inline.source
        start = source.text.index(mark, source.starts[row])
        words = self.inline.make_note_label(mark, format_mark(mark), source.shift + start)
        first, *others = self.read_blocks("footnote_reference_close") or (None,)
        if isinstance(first, Paragraph):
            inner = words[0].start, first.inner[1]
            yield replace(first, words=(*words, Words(" "), *first.words), inner=inner)
        else:
            inner = words[0].start, words[0].end
            yield Paragraph(words=words, inner=inner, start=self.lines[row], end=self.lines[row + 1])
            yield from () if first is None else (first,)
        yield from others

    def _read_table(self, token: Token) -> Iterator[Table]:
        rows: list[TableRow] = []
        alignments: list[str] = []
        for opened in self._iter_until("table_close"):
            if opened.type != "tr_open":
                continue
            start, end = self._get_bounds(opened)
            position, line_end = self.inline.source.get_line(_get_first_line(opened))
            cells: list[Inline] = []
            is_header = False
            for cell in self._iter_until("tr_close"):
                if cell.type == "th_open":
                    is_header = True
                    alignments.append(str(cell.attrGet("style") or "").removeprefix("text-align:"))
                if cell.type == "inline":
                    source_map, position = self.inline.source.locate_cell(cell.content, position, line_end)
                    cells.append(self.inline.read(cell.content, source_map))
            if start >= self.start:  # otherwise, it is in the prefix
                rows.append(TableRow(cells=tuple(cells), is_header=is_header, start=start, end=end))
        if rows:
            start, end = self._get_bounds(token)
            yield Table(rows=tuple(rows), alignments=tuple(alignments), start=rows[0].start, end=end)

    def _read_quote(self, token: Token) -> Iterator[BlockQuote]:
        """Yield a quote, unless it is empty. An alert's first line names its kind, and may have a title."""
        start, end = self._get_bounds(token)
        alert = ""
        title: Inline = ()
        inline = self.tokens[min(self._next + 1, len(self.tokens) - 1)]
        match = _ALERT.match(inline.content) if inline.type == "inline" else None
        if match is not None:
            alert = match["kind"].lower()
            self._cut_opening(match.end())
            text = match["title"] or ""
            source_map = self.inline.source.locate(text, _get_first_line(inline), is_title=True)
            title = self.inline.read(text, source_map) if text else ()
        blocks = self.read_blocks("blockquote_close")
        if blocks or alert:
            label_end = self.lines[_get_first_line(token) + 1]
            yield BlockQuote(
                blocks=blocks, alert=alert, title=title, label_end=label_end, start=start, end=end
            )

    def _read_html(self, token: Token) -> Iterator[Block]:
        start, end = self._get_bounds(token)
        first = _get_first_line(token)
        if match := _PRE.fullmatch(token.content.strip()):
            text = html.unescape(_ANY_TAG.sub("", match[1]))
            yield self._make_code(token, text.strip("\n"), "", first + text.startswith("\n"))
            return
        source_map = self.inline.source.locate(token.content, first)
        for read in self.inline.read_html(token.content, source_map):
            if isinstance(read, list):
                yield from _make_html_table(read, start, end)
            elif read:
                yield Paragraph(words=read, inner=_compute_source_bounds(read), start=start, end=end)


def _make_html_table(rows: Sequence[HtmlRow], start: int, end: int) -> Iterator[Table]:
    """Yield a table with the rows that have words of their own, if there are any."""
    placed = place_cells([row.cells for row in rows])
    columns = list_columns(placed)
    made: list[TableRow] = []
    for row, cells in zip(rows, placed, strict=True):
        own_words = [words for cell in row.cells for words in cell.content]
        low, high = _compute_source_bounds(own_words)
        inlines = tuple(_read_placed(cells[column]) if column in cells else () for column in columns)
        if own_words:
            made.append(TableRow(cells=inlines, is_header=row.is_header, start=low, end=high))
    if made:
        yield Table(rows=tuple(made), alignments=("",) * len(columns), start=start, end=end)


def _read_placed(cell: PlacedCell[Inline]) -> Inline:
    """Return the words of a cell. Where they are repeated, they are not in the source."""
    words = cell.content or ()
    if cell.is_own:
        return words
    return tuple(each if each is HARD_BREAK_WORDS else replace(each, start=0, end=0) for each in words)


def _compute_source_bounds(words: Iterable[Words]) -> Bounds:
    located = [each for each in words if each.start < each.end]
    return min((each.start for each in located), default=0), max((each.end for each in located), default=0)


def _get_first_line(token: Token) -> int:
    return token.map[0] if token.map else 0
