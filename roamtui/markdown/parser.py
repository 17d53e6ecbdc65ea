"""Parse Markdown, and the HTML in it, into blocks. Only this module and `rules` know the tokens of markdown-it-py."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token
from msgspec.structs import replace

from roamtui.document.plain import strip_anchor
from roamtui.document.text import compute_line_starts
from roamtui.markdown.blocks import (
    Block,
    Code,
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
)
from roamtui.markdown.containers import rewrite_containers
from roamtui.markdown.formulas import convert_formula
from roamtui.markdown.inline import (
    EMPHASES,
    HIDDEN_TAGS,
    SCRIPT_SIGNS,
    InlineReader,
    is_html_element,
    read_tag,
)
from roamtui.markdown.rules import InlineSpans, get_html_splitter, get_parser

Definitions = dict[str, dict[str, str]]
"""Link definitions by normalised label, in the form of markdown-it-py's environment."""

_CELLS = ("td", "th")
_LEADS = {"li": "• ", "summary": "▾ "}
"""Signs before the text of elements."""
_LINE_TAGS = frozenset({"dd", "dt", "li", "tbody", "td", "tfoot", "th", "thead", "tr"})
"""Elements that start a line, but no paragraph. A cell continues the line of its row."""
_PRE = re.compile(r"<pre\b[^>]*>(.*?)(?:</pre>)?", re.DOTALL | re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TASK_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}
_ALERT = re.compile(r"\[!([A-Za-z][\w-]{1,40})\][+-]?(?:[ \t]+(.*)|)")
_LABEL_LENGTH_MAX = 200
"""Maximum length of the label of a link definition, in characters. CommonMark allows 999."""
_DEFINITION = re.compile(
    r" {0,3}\[(?P<label>(?!\^)[^\[\]\r\n]{1,200})\]:[ \t]*(?:\r\n?|\n)?[ \t]*(?P<href><[^<>\r\n]*>|[^\s<]\S*)",
)


def read_markdown(
    text: str,
    *,
    prefix: str = "",
    start: int = 0,
    definitions: Definitions | None = None,
    spans: InlineSpans | None = None,
    has_footnotes: bool = True,
) -> Markdown:
    """Parse a text, or a slice of one, into blocks.

    If a slice starts inside code or a table, `prefix` has the lines that open it, which make no blocks. `start` is the
    offset of the slice, which is added to all offsets. `definitions` has the link definitions of the whole
    document, in addition to those in the text. `spans` are parts of the prefix and the text to keep apart.
    `has_footnotes` tells whether marks such as `[^1]` are links.
    """
    # Without a final line end, an HTML block in a quoted list makes the parser read past the end.
    source = prefix + text + ("" if text.endswith("\n") else "\n")
    env = {"references": dict(definitions or {}), "spans": spans}
    tokens = get_parser(has_spans=spans is not None).parse(rewrite_containers(source), env)
    starts = compute_line_starts(text)
    prefix_lines = prefix.count("\n")

    def find_offset(line: int) -> int:
        """Return the offset of a line, or if it is in the prefix, an offset before the text."""
        own = line - prefix_lines
        if own < 0:
            return start - 1
        return start + (starts[own] if own < len(starts) else len(text))

    reader = _BlockReader(tokens, InlineReader(has_footnotes=has_footnotes), start, find_offset)
    return Markdown(blocks=reader.read_blocks(), links=tuple(reader.words.links))


def parse_link_definitions(text: str) -> Definitions:
    """Parse the link definitions of a text. If several have the same label, the first one counts."""
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


class _BlockReader:
    """Reads the blocks of one text from its tokens."""

    def __init__(
        self,
        tokens: Sequence[Token],
        words: InlineReader,
        start: int,
        find_offset: Callable[[int], int],
    ) -> None:
        self.words = words
        self._tokens = tokens
        self._next = 0
        """Index of the next token."""
        self._start = start
        self._find_offset = find_offset
        self._hidden = ""
        """Name of the open element whose text is skipped."""

    def _iter_until(self, kind: str) -> Iterator[Token]:
        """Yield the tokens before the next one of a kind, and skip that. What reads a token's content skips it too."""
        while self._next < len(self._tokens):
            token = self._tokens[self._next]
            self._next += 1
            if token.type == kind:
                return
            yield token

    def read_blocks(self, end: str = "") -> tuple[Block, ...]:
        """Read blocks up to a token of the kind `end`, which is skipped; without one, all blocks."""
        return tuple(block for token in self._iter_until(end) for block in self._read_block(token))

    def _read_block(self, token: Token) -> Iterator[Block]:
        start, end = self._find_span(token)
        match token.type:
            case "paragraph_open":
                if words := self._read_inline("paragraph_close"):
                    yield Paragraph(words=words, start=start, end=end)
            case "heading_open":
                if words := self._read_inline("heading_close"):
                    yield Heading(level=int(token.tag[1]), words=_strip_anchor(words), start=start, end=end)
            case "blockquote_open":
                alert, title = self._read_alert()
                title_end = self._find_offset((token.map or (0, 0))[0] + 1) if alert else end
                blocks = self.read_blocks("blockquote_close")
                if blocks or alert:
                    yield Quote(blocks=blocks, alert=alert, title=title, start=start, end=title_end)
            case "bullet_list_open" | "ordered_list_open":
                yield self._read_list(token)
            case "table_open":
                yield from self._read_table()
            case "fence" | "code_block":
                first = (token.map or (0, 0))[0]
                info = token.info.strip() if start >= self._start else ""
                yield self._make_code(token.content.removesuffix("\n"), info, first + (token.type == "fence"), end)
            case "hr":
                yield ThematicBreak(start=start, end=end)
            case "html_block":
                yield from self._read_html(token)
            case _:  # the end of a paragraph or of the head of a table
                pass

    def _find_span(self, token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        return self._find_offset(first), self._find_offset(after)

    def _make_code(self, text: str, info: str, first: int, end: int) -> Code:
        lines = text.count("\n") + 1 if text else 0
        offsets = tuple(min(self._find_offset(first + number), end) for number in range(lines + 1))
        return Code(text=text, info=info, offsets=offsets)

    def _read_list(self, token: Token) -> List:
        items: list[Item] = []
        is_tight = True
        for opened in self._iter_until(token.type.replace("open", "close")):
            following = self._tokens[self._next]
            is_tight = is_tight and (following.type != "paragraph_open" or following.hidden)
            start, end = self._find_span(opened)
            is_done, blocks = _read_task(self.read_blocks("list_item_close"))
            items.append(Item(blocks=blocks, is_done=is_done, start=start, end=end))
        is_numbered = token.type == "ordered_list_open"
        number, delimiter = (int(token.attrGet("start") or 1), token.markup) if is_numbered else (None, ".")
        return List(items=tuple(items), number=number, delimiter=delimiter, is_tight=is_tight)

    def _read_table(self) -> Iterator[Table]:
        rows: list[TableRow] = []
        alignments: list[str] = []
        for token in self._iter_until("table_close"):
            if token.type != "tr_open":
                continue
            start, end = self._find_span(token)
            cells: list[Inline] = []
            is_head = False
            for cell in self._iter_until("tr_close"):
                is_head = cell.type == "th_open"
                if is_head:
                    alignments.append(str(cell.attrGet("style") or "").removeprefix("text-align:"))
                cells.append(self._read_inline(cell.type.replace("open", "close")))
            if start >= self._start:  # otherwise, it is in the prefix
                rows.append(TableRow(cells=tuple(cells), is_head=is_head, start=start, end=end))
        if rows:
            yield Table(rows=tuple(rows), alignments=tuple(alignments))

    def _read_alert(self) -> tuple[str, Inline]:
        """If a quote starts with the first line of an alert, skip that line, and return its kind and title."""
        token = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        children = token.children or []
        found = _ALERT.fullmatch(children[0].content) if children and children[0].type == "text" else None
        after = next((n for n, child in enumerate(children) if child.type in ("softbreak", "hardbreak")), len(children))
        if found is None or (after > 1 and found[2] is None):
            return "", ()
        self.words.add_text(found[2] or "")
        self._add_inline(children[1:after])
        token.children = children[after + 1 :]
        return found[1].lower(), self.words.take()

    def _read_inline(self, end: str) -> Inline:
        for token in self._iter_until(end):
            self._add_inline(token.children or [])
        return self.words.take()

    def _add_inline(self, children: Sequence[Token]) -> None:
        for child in children:
            kind, _, side = child.type.rpartition("_")
            if child.type == "html_inline":
                self._add_tag(child.content)
            elif self._hidden:
                continue
            elif side == "open":
                self.words.open(kind, str(child.attrGet("href") or "") if kind == "link" else None)
            elif side == "close":
                self.words.close(kind)
            else:
                self._add_words(child)
        self.words.close_all()
        self._hidden = ""

    def _add_words(self, token: Token) -> None:
        match token.type:
            case "formula":
                text = convert_formula(token.content)
                self.words.add_plain(text or token.content, Emphasis.NONE if text else Emphasis.CODE)
            case "code_inline":
                self.words.add_plain(token.content, Emphasis.CODE)
            case "softbreak":
                self.words.add_plain(" ")
            case "hardbreak":
                self.words.end_line()
            case "image":
                self.words.add_image(token.content, str(token.attrGet("src") or ""))
            case "group":
                self.words.group = token.meta["group"]
            case "mark":
                self.words.add_mark(token.content, token.info)
            case _:
                self.words.add_text(token.content)

    def _add_tag(self, text: str) -> None:
        """Read a tag among words. The tag of a block starts a line; the tag of a cell continues it."""
        tag, words = read_tag(text), self.words
        if tag is None:
            return
        if self._hidden or tag.name in HIDDEN_TAGS:
            is_end = tag.is_end and tag.name == self._hidden
            self._hidden = "" if is_end or (tag.is_end and not self._hidden) else self._hidden or tag.name
        elif tag.is_bare and not tag.is_end and not is_html_element(tag.name):  # only words, such as `<your-name>`
            words.add_plain(text)
        elif tag.name == "img":
            words.add_image(tag.attributes.get("alt", ""), tag.attributes.get("src", ""))
        elif tag.name == "q":
            words.add_plain("”" if tag.is_end else "“")
        else:
            if tag.name == "br" or (tag.is_block and not words.is_at_start and tag.name not in _CELLS):
                words.end_line()
            if tag.is_end:
                words.close(tag.name)
            elif tag.name in EMPHASES or tag.name in SCRIPT_SIGNS:
                words.open(tag.name)
            elif tag.name == "a" and "href" in tag.attributes:
                words.open(tag.name, tag.attributes["href"])
            if not tag.is_end:
                words.add_plain(" │ " if tag.name in _CELLS and not words.is_at_start else _LEADS.get(tag.name, ""))

    def _read_html(self, token: Token) -> Iterator[Block]:
        """Yield the paragraphs and the code of a block of HTML. Its lists and tables become lines."""
        start, end = self._find_span(token)
        if match := _PRE.fullmatch(token.content.strip()):
            text, first = html.unescape(_ANY_TAG.sub("", match[1])), (token.map or (0, 0))[0]
            yield self._make_code(text.strip("\n"), "", first + text.startswith("\n"), end)
            return
        group, self.words.group = self.words.group, None  # only Markdown has groups
        for piece in get_html_splitter().parseInline(token.content)[0].children or []:
            tag = read_tag(piece.content) if piece.type == "html_inline" else None
            if tag and tag.is_block and tag.name not in _LINE_TAGS and (words := self.words.take()):
                yield Paragraph(words=words, start=start, end=end)
            if piece.type == "html_inline":
                self._add_tag(piece.content)
            elif not self._hidden:
                self.words.add_html(piece.content)
        if words := self.words.take():
            yield Paragraph(words=words, start=start, end=end)
        self.words.close_all()
        self.words.group = group
        self._hidden = ""


def _strip_anchor(words: Inline) -> Inline:
    last = words[-1]
    return (*words[:-1], replace(last, text=strip_anchor(last.text)))


def _read_task(blocks: tuple[Block, ...]) -> tuple[bool | None, tuple[Block, ...]]:
    """Return whether the task of a list item is done, or None if it is no task, and the blocks without its box."""
    first = blocks[0] if blocks else None
    is_done = _TASK_BOXES.get(first.words[0].text[:4]) if isinstance(first, Paragraph) else None
    if is_done is None or not isinstance(first, Paragraph):
        return None, blocks
    box, *rest = first.words
    return is_done, (replace(first, words=(replace(box, text=box.text[4:]), *rest)), *blocks[1:])
