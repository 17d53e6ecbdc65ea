"""`InlineReader`: reads the words of a block from the inline tokens of markdown-it-py and from HTML."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType
from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.markdown.blocks import HARD_BREAK_WORDS, Emphasis, Inline, Link, Words
from roamtui.markdown.formulas import SCRIPT_SIGNS, write_plain_script
from roamtui.markdown.inline import BLOCK_TAGS, EMPHASES, HIDDEN_TAGS, HTML_ELEMENTS
from roamtui.markdown.inline_source import InlineSource, SourceMap, parse_inline
from roamtui.markdown.spanned_cells import SpannedCell
from roamtui.markdown.tokens import Dialect, get_inline_parser
from roamtui.text import Bounds


@lru_cache(maxsize=1)
def _get_html_splitter() -> MarkdownIt:
    """Return a parser that only splits HTML into tags and text. It is made once."""
    return MarkdownIt("zero", {"html": True}).enable(["html_inline", "entity"])


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>.*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


class _Tag(Struct, frozen=True):
    name: str
    """In lower case."""
    is_end: bool
    is_block: bool
    """Whether it separates paragraphs."""
    is_bare: bool
    """Whether it has no attributes and does not close itself."""
    attributes: dict[str, str]


def _read_tag(text: str) -> _Tag | None:
    """Read a tag. Return None for a comment or a declaration."""
    match = _TAG.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    pairs = _ATTRIBUTE.findall(match["attributes"])
    attributes = {key.lower(): html.unescape(double or single or bare) for key, double, single, bare in pairs}
    is_bare = not match["attributes"].strip()
    return _Tag(name, bool(match["end"]), name in BLOCK_TAGS, is_bare, attributes)


def _show_unclosed(tokens: Sequence[Token]) -> None:
    """Turn each unclosed tag such as `<script>` into a word, because it would hide the rest of the text."""
    closed = set[str]()
    for token in reversed(tokens):
        tag = _read_tag(token.content) if token.type == "html_inline" else None
        if tag is None or tag.name not in HIDDEN_TAGS:
            continue
        if tag.is_end:
            closed.add(tag.name)
        elif tag.name not in closed:
            token.type = "text"


_CELLS = ("td", "th")
_TABLE_TAGS = ("table", "tr", *_CELLS)
_LEADS = {"li": "• ", "summary": "▾ "}
"""Signs before the text of elements."""
_LINE_TAGS = frozenset({"dd", "dt", "li", "tbody", "td", "tfoot", "th", "thead", "tr"})
"""Elements that start a line, but not a paragraph. A cell continues the line of its row."""
_WORDS_OR_SPACE = re.compile(r"\S+(?: \S+)*|\s+")
_SPANS = frozenset(map(str, range(100)))
"""Numbers of columns or rows that a cell may span."""
_NESTING_MAX = 50
"""Maximum depth of nested elements, such as emphasis and links. Deeper ones are ignored."""


def _read_span(value: str) -> int:
    return int(value) if value in _SPANS else 1


class HtmlRow(Struct, kw_only=True):
    """A row of a table that is written in HTML."""

    cells: list[SpannedCell[Inline]] = field(default_factory=list)
    is_header: bool = True
    """Whether all of its cells are heads."""


class _HtmlTable(Struct):
    rows: list[HtmlRow] = field(default_factory=list)
    begins_row: bool = True
    """Whether the next cell is in a new row."""
    is_in_cell: bool = False
    column_count: int = 1
    """How many columns the open cell spans."""
    row_count: int = 1
    """How many rows the open cell spans."""

    def add_cell(self, words: Inline) -> None:
        """Add the open cell to the last row."""
        length = sum(len(each.text) for each in words)
        self.rows[-1].cells.append(SpannedCell(words, length, self.column_count, self.row_count))

    def take_rows(self) -> list[HtmlRow]:
        """Return and remove the rows."""
        rows = self.rows
        self.rows = []
        self.begins_row = True
        return rows


class InlineReader(Struct, kw_only=True):
    """Reads the words of the blocks of one text."""

    source: InlineSource
    env: EnvType
    dialect: Dialect = Dialect.DOCUMENT
    links: list[Link] = field(default_factory=list)
    """The links of the words that were read."""
    _words: list[Words] = field(default_factory=list)
    """The words of the current block so far."""
    _open_elements: list[tuple[str, Emphasis, int | None]] = field(default_factory=list)
    """Name, emphasis and link of each open element, outermost first."""
    _hidden: str = ""
    """Name of the open element whose text is skipped."""

    def read(self, content: str, source_map: SourceMap, element: str = "") -> Inline:
        """Read the words of an inline text. If an `element` is named, all words are inside it."""
        if element:
            self._open(element)
        env = {**self.env, "source_map": source_map, "marks": self.source.marks}
        tokens = parse_inline(content, source_map, get_inline_parser(self.dialect), env)
        _show_unclosed(tokens)
        for token in tokens:
            self._add_token(token)
        self._open_elements = []
        self._hidden = ""
        return self._take_words()

    def read_html(self, content: str, source_map: SourceMap) -> Iterator[Inline | list[HtmlRow]]:
        """Yield the words of each paragraph, and the rows of each table, of a block of HTML.

        The items of a list, and the rows of a table in a cell, become lines.
        """
        tokens = parse_inline(content, source_map, _get_html_splitter(), {})
        _show_unclosed(tokens)
        table = _HtmlTable()
        for token in tokens:
            is_tag = token.type == "html_inline"
            tag = _read_tag(token.content) if is_tag and not self._hidden else None
            if tag and tag.name in _TABLE_TAGS:
                yield from self._read_table_tag(tag, table)
                continue
            separates = tag and tag.is_block and not (table.is_in_cell or tag.name in _LINE_TAGS)
            if separates and (words := self._take_words()):
                yield words
            if is_tag:
                self._add_tag(token)
            elif not self._hidden:
                for text, start, end in token.meta.get("pieces", ()):
                    self._add_html_text(text, start, end)
        words = self._take_words()
        if table.is_in_cell:
            table.add_cell(words)
        yield table.rows
        if not table.is_in_cell:
            yield words
        self._open_elements = []
        self._hidden = ""

    def _read_table_tag(self, tag: _Tag, table: _HtmlTable) -> Iterator[Inline | list[HtmlRow]]:
        """End the open cell, or yield the text before a table, and open what the tag opens."""
        words = self._take_words()
        if table.is_in_cell:
            table.add_cell(words)
        elif words:
            yield table.take_rows()
            yield words
        table.is_in_cell = tag.name in _CELLS and not tag.is_end
        table.begins_row |= tag.name == "tr"
        if table.is_in_cell:
            if table.begins_row:
                table.rows.append(HtmlRow())
                table.begins_row = False
            table.rows[-1].is_header &= tag.name == "th"
            table.column_count = _read_span(tag.attributes.get("colspan", ""))
            table.row_count = _read_span(tag.attributes.get("rowspan", ""))
        if tag.name == "table":
            yield table.take_rows()

    def _add_html_text(self, text: str, start: int, end: int) -> None:
        """Add text of HTML, in which a line end or several spaces count as one space."""
        is_contiguous = end - start == len(text)
        for match in _WORDS_OR_SPACE.finditer(text):
            piece = " " if match[0].isspace() else match[0]
            if piece == " " and (self._is_at_start or self._words[-1].text.endswith(" ")):
                continue
            if is_contiguous:
                self._add(piece, start=start + match.start(), end=start + match.end())
            else:
                self._add(piece, start=start, end=end)

    def _add_token(self, token: Token) -> None:
        pieces: Sequence[tuple[str, int, int]] = token.meta.get("pieces", ())
        element, _, part = token.type.rpartition("_")
        match token.type:
            case "html_inline":
                self._add_tag(token)
            case _ if self._hidden:
                pass
            case "softbreak":
                self._add(" ")
            case "hardbreak":
                self._words.append(HARD_BREAK_WORDS)
            case "image":
                _, start, end = pieces[0] if pieces else ("", 0, 0)
                self._add_image(token.content, str(token.attrGet("src") or ""), start, end)
            case "mark":
                _, start, end = pieces[0]
                link = Link(token.info, is_reference_mark=True)
                self._add(token.content, link=link, start=start, end=end)
            case _ if part == "open":
                self._open(element, str(token.attrGet("href") or "") if element == "link" else None)
            case _ if part == "close":
                self._close(element)
            case _:
                emphasis = Emphasis.CODE if token.type == "code_inline" else Emphasis.NONE
                for text, start, end in pieces:
                    self._add(text, emphasis, start=start, end=end)

    def make_note_label(self, mark: str, label: str, start: int) -> Inline:
        """Make the label of a footnote, linked to its reference. `mark` is at `start` in the source."""
        self._add(
            label, link=Link(f"{mark}:", is_reference_mark=True), start=start, end=start + len(mark) + 1
        )
        return self._take_words()

    def _take_words(self) -> Inline:
        """Return and remove the words collected so far, without space at both ends."""
        words = self._words
        self._words = []
        while words and not words[0].text.strip():
            del words[0]
        while words and not words[-1].text.strip():
            del words[-1]
        return tuple(words)

    def _add(
        self,
        text: str,
        emphasis: Emphasis = Emphasis.NONE,
        link: Link | None = None,
        *,
        is_image: bool = False,
        start: int = 0,
        end: int = 0,
    ) -> None:
        """Add words from `start` to `end` of the source. Inside another link, their own `link` is ignored."""
        number = None
        script = ""
        for name, added, opened in self._open_elements:
            emphasis |= added
            number = number if opened is None else opened
            script = name if name in SCRIPT_SIGNS else script
        if number is None and link is not None:
            number = len(self.links)
            self.links.append(link)
        if script and number is None and not is_image:
            text = write_plain_script(text, script)
        words = Words(text, emphasis, number, is_image, start=start, end=end)
        if text:
            self._words += split_into_groups(words, self.source.groups)

    def _add_image(self, text: str, href: str, start: int, end: int) -> None:
        link = Link(href, is_image=True) if href else None
        if text:
            self._add(text, link=link, is_image=True, start=start, end=end)
        else:
            self._add(href, link=link, is_image=True)

    @property
    def _is_at_start(self) -> bool:
        """Whether the current line has no words."""
        return not self._words or self._words[-1] is HARD_BREAK_WORDS

    def _open(self, name: str, href: str | None = None) -> None:
        """Open an element, such as emphasis, around the words that follow. With `href`, it is a link."""
        if len(self._open_elements) >= _NESTING_MAX:
            return
        number = None if href is None else len(self.links)
        if href is not None:
            self.links.append(Link(href))
        self._open_elements.append((name, EMPHASES.get(name, Emphasis.NONE), number))

    def _close(self, name: str) -> None:
        for index in range(len(self._open_elements) - 1, -1, -1):
            if self._open_elements[index][0] == name:
                del self._open_elements[index]
                return

    def _add_tag(self, token: Token) -> None:
        """Read a tag among words. The tag of a block starts a line. The tag of a cell continues the line."""
        tag = _read_tag(token.content)
        if tag is None:
            return
        pieces = token.meta["pieces"]
        start, end = pieces[0][1], pieces[-1][2]
        is_style = tag.name in EMPHASES or tag.name in SCRIPT_SIGNS
        # models mention tags more often than they use them
        is_shown = self.dialect is Dialect.ANSWER and not is_style and tag.name != "br"
        if self._hidden:
            if tag.is_end and tag.name == self._hidden:
                self._hidden = ""
        elif tag.name in HIDDEN_TAGS and not is_shown:
            self._hidden = "" if tag.is_end else tag.name
        # words in angle brackets, such as `<your-name>`
        elif is_shown or (tag.is_bare and not tag.is_end and tag.name not in HTML_ELEMENTS):
            self._add(token.content, start=start, end=end)
        elif tag.name == "img":
            self._add_image(tag.attributes.get("alt", ""), tag.attributes.get("src", ""), start, end)
        elif tag.name == "q":
            self._add("”" if tag.is_end else "“")
        else:
            if tag.name == "br" or (tag.is_block and not self._is_at_start and tag.name not in _CELLS):
                self._words.append(HARD_BREAK_WORDS)
            if tag.is_end:
                self._close(tag.name)
                return
            if is_style:
                self._open(tag.name)
            elif tag.name == "a" and "href" in tag.attributes:
                self._open(tag.name, tag.attributes["href"])
            self._add(" │ " if tag.name in _CELLS and not self._is_at_start else _LEADS.get(tag.name, ""))


def split_into_groups(words: Words, groups: Sequence[Bounds]) -> Iterator[Words]:
    """Yield the words of each group, and those outside. Words that cannot be cut go where their end is."""
    is_contiguous = words.end - words.start == len(words.text)
    position = words.start if is_contiguous else words.end - 1
    if not groups or words.start >= words.end:  # a sign that is not in the source
        yield words
        return
    while position < words.end:
        index = bisect_right(groups, position, key=itemgetter(1))
        start, end = groups[index] if index < len(groups) else (words.end, words.end)
        group = index if start <= position else None
        if not is_contiguous:
            yield replace(words, group=group)
            return
        stop = min(end if group is not None else start, words.end)
        text = words.text[position - words.start : stop - words.start]
        yield replace(words, text=text, group=group, start=position, end=stop)
        position = stop
