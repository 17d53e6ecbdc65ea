"""Parse Markdown, and the HTML in it, into blocks, from the tokens of markdown-it-py."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token
from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Emphasis,
    Heading,
    Inline,
    Item,
    Link,
    List,
    Markdown,
    Paragraph,
    Quote,
    Table,
    TableRow,
    ThematicBreak,
    Words,
)
from roamtui.markdown.containers import rewrite_containers
from roamtui.markdown.extensions import format_mark
from roamtui.markdown.formulas import to_script_characters
from roamtui.markdown.inline import BLOCK_TAGS, EMPHASES, HIDDEN_TAGS, is_html_element
from roamtui.markdown.inline_source import InlineSource, Mark, locate_tokens, parse_inline
from roamtui.markdown.tokens import tokenize_answer, tokenize_document
from roamtui.plain import strip_anchor
from roamtui.text import compute_line_starts, normalise_line_ends

Definitions = dict[str, dict[str, str]]
"""Link definitions by normalised label, in the form of markdown-it-py's environment."""

_LABEL_END_MAX = 4 + 999
"""Where the label of a link definition ends at the latest, in its line: CommonMark allows 999 characters."""
_DEFINITION = re.compile(
    r" {0,3}\[(?P<label>(?!\^)[^\[\]\r\n]{1,999})\]:[ \t]*(?:\r\n?|\n)?[ \t]*"
    r"(?P<href><[^<>\r\n]*>|[^\s<]\S*)"
)


def read_markdown(
    text: str,
    *,
    prefix: str = "",
    start: int = 0,
    definitions: Definitions | None = None,
    groups: Sequence[tuple[int, int]] = (),
    marks: Sequence[Mark] | None = None,
) -> Markdown:
    """Parse a text, or a slice of one, into blocks.

    If a slice starts inside code or a table, `prefix` has the lines that open it, which make no blocks.
    `start` is the offset of the slice, which is added to all offsets. `definitions` has the link definitions
    of the whole document, in addition to those in the text. `groups` are the bounds of words to keep apart,
    in order, without overlaps. `marks` are those of a model's answer, in order, and become one link each;
    None for other texts. An answer has no footnotes, and no containers such as `::: tip`.
    """
    # Without a final line end, an HTML block in a quoted list makes the parser read past the end.
    source = prefix + text + ("" if text.endswith("\n") else "\n")
    is_answer = marks is not None
    located = InlineSource(
        text=source, shift=start - len(prefix), starts=compute_line_starts(source), marks=marks or ()
    )
    env = {"references": dict(definitions or {}), "source": located}
    if is_answer:
        tokens = tokenize_answer(source, env, has_marks=bool(marks))
    else:
        tokens = tokenize_document(normalise_line_ends(rewrite_containers(source)), env)
    lines = [start - 1] * prefix.count("\n")
    lines += (start + offset for offset in (*compute_line_starts(text), len(text)))
    reader = _BlockReader(tokens=tokens, start=start, lines=lines, source=located, groups=groups)
    return Markdown(blocks=reader.read_blocks(), links=tuple(reader.links))


def parse_link_definitions(text: str) -> Definitions:
    """Parse the link definitions of a text. If several have the same label, the first one counts."""
    definitions: Definitions = {}
    mark = text.find("]:")
    while mark >= 0:
        # Searching back from the rare "]:" is much faster than looking at the start of each line.
        line_start = max(text.rfind(end, max(0, mark - _LABEL_END_MAX - 1), mark) for end in "\n\r") + 1
        match = _DEFINITION.match(text, line_start)
        if match and match.end("label") == mark:
            href = match["href"].removeprefix("<").removesuffix(">")
            definitions.setdefault(
                normalizeReference(match["label"]), {"title": "", "href": normalizeLink(href)}
            )
        mark = text.find("]:", mark + 2)
    return definitions


@lru_cache(maxsize=1)
def _get_html_splitter() -> MarkdownIt:
    """Return a parser that only splits HTML into tags and text. It is made once."""
    return MarkdownIt("zero", {"html": True}).enable(["html_inline", "entity"])


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>.*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_SCRIPT_SIGNS = {"sup": "^", "sub": "_"}
"""The plain-text sign of superscripts and of subscripts, by their element."""


def _mark_script(text: str, sign: str) -> str:
    """Return a text with the sign of its script, so that a raised figure never joins the number before it."""
    if text.isalnum():
        return sign + text
    return f"{sign}({text})" if any(map(str.isdigit, text)) else text


class _Tag(Struct, frozen=True):
    """A tag of HTML."""

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
    is_block = BLOCK_TAGS.fullmatch(name) is not None
    is_bare = not match["attributes"].strip()
    return _Tag(name, bool(match["end"]), is_block, is_bare, attributes)


_CELLS = ("td", "th")
_LEADS = {"li": "• ", "summary": "▾ "}
"""Signs before the text of elements."""
_LINE_TAGS = frozenset({"dd", "dt", "li", "tbody", "td", "tfoot", "th", "thead", "tr"})
"""Elements that start a line, but no paragraph. A cell continues the line of its row."""
_PRE = re.compile(r"<pre\b[^>]*>(.*?)(?:</pre>)?", re.DOTALL | re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_WORDS_OR_SPACE = re.compile(r"\S+(?: \S+)*|\s+")
_TASK_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}
_ALERT = re.compile(r"\[!([A-Za-z][\w-]{1,40})\][+-]?(?:[ \t]+(.*)|)")
_NESTING_MAX = 50
"""Maximum number of nested elements, such as emphasis and links. Deeper ones are ignored."""


class _BlockReader(Struct, kw_only=True):
    """Reads the blocks of one text from its tokens."""

    tokens: Sequence[Token]
    start: int
    """Offset of the text. What is in its prefix has a lower one."""
    lines: Sequence[int]
    """Offset of each line, and of the end of the text."""
    source: InlineSource
    groups: Sequence[tuple[int, int]] = ()
    """Bounds of words to keep apart, in order."""
    links: list[Link] = field(default_factory=list)
    _next: int = 0
    """Index of the next token."""
    _words: list[Words] = field(default_factory=list)
    """The words of the current block so far."""
    _open_elements: list[tuple[str, Emphasis, int | None]] = field(default_factory=list)
    """Name, emphasis and link of each open element, outermost first."""
    _hidden: str = ""
    """Name of the open element whose text is skipped."""

    def _iter_until(self, kind: str) -> Iterator[Token]:
        """Yield the tokens before the next one of a kind, and skip that."""
        while self._next < len(self.tokens):
            token = self.tokens[self._next]
            self._next += 1
            if token.type == kind:
                return
            yield token

    def _find_span(self, token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        last = len(self.lines) - 1
        return self.lines[min(first, last)], self.lines[min(after, last)]

    def read_blocks(  # noqa: PLR0912 - one case a kind of token
        self, end: str = ""
    ) -> tuple[Block, ...]:
        """Read blocks up to a token of the kind `end`, which is skipped; without one, all blocks."""
        blocks: list[Block] = []
        for token in self._iter_until(end):
            start, after = self._find_span(token)
            match token.type:
                case "paragraph_open":
                    if words := self._read_words(self.tokens[self._next].children or []):
                        blocks.append(Paragraph(words=words, start=start, end=after))
                case "heading_open":
                    if words := self._read_words(self.tokens[self._next].children or []):
                        *others, last = words
                        words = (*others, replace(last, text=strip_anchor(last.text)))
                        blocks.append(Heading(level=int(token.tag[1]), words=words, start=start, end=after))
                case "blockquote_open":
                    blocks += self._read_quote(token)
                case "bullet_list_open" | "ordered_list_open":
                    blocks.append(self._read_list(token))
                case "dl_open":
                    blocks.append(self._read_definitions())
                case "admonition_open":
                    blocks.append(self._read_admonition(token))
                case "footnote_reference_open":
                    blocks += self._read_note(token)
                case "table_open":
                    blocks += self._read_table()
                case "fence" | "code_block":
                    first = _get_first_line(token)
                    info = token.info.strip() if start >= self.start else ""
                    code = token.content.removesuffix("\n")
                    blocks.append(self._make_code(code, info, first + (token.type == "fence"), after))
                case "hr":
                    blocks.append(ThematicBreak(start=start, end=after))
                case "html_block":
                    blocks += self._read_html(token)
                case _:  # the inline text and the end of a paragraph, which were read
                    pass
        return tuple(blocks)

    def _make_code(self, text: str, info: str, first: int, end: int) -> Code:
        count = text.count("\n") + 1 if text else 0
        last = len(self.lines) - 1
        offsets = tuple(min(self.lines[min(first + number, last)], end) for number in range(count + 1))
        return Code(text=text, info=info, offsets=offsets)

    def _read_list(self, token: Token) -> List:
        items: list[Item] = []
        is_tight = True
        for opened in self._iter_until(token.type.replace("open", "close")):
            following = self.tokens[self._next]
            is_tight = is_tight and (following.type != "paragraph_open" or following.hidden)
            start, end = self._find_span(opened)
            is_done, blocks = _read_task(self.read_blocks("list_item_close"))
            items.append(Item(blocks=blocks, is_done=is_done, start=start, end=end))
        is_numbered = token.type == "ordered_list_open"
        number, delimiter = (int(token.attrs.get("start", 1)), token.markup) if is_numbered else (None, ".")
        return List(items=tuple(items), number=number, delimiter=delimiter, is_tight=is_tight)

    def _read_definitions(self) -> List:
        items: list[Item] = []
        is_tight = True
        for token in self._iter_until("dl_close"):
            start, end = self._find_span(token)
            following = self.tokens[self._next]
            if token.type == "dt_open":
                end = self.lines[_get_first_line(token) + 1]
                self._open("dt")
                term = Paragraph(words=self._read_words(following.children or []), start=start, end=end)
                items.append(Item(blocks=(), is_done=None, term=term, start=start, end=end))
            elif token.type == "dd_open":
                is_tight = is_tight and (following.type != "paragraph_open" or following.hidden)
                blocks = (*items[-1].blocks, *self.read_blocks("dd_close"))
                items[-1] = replace(items[-1], blocks=blocks, end=end)
        return List(items=tuple(items), number=None, delimiter="", is_tight=is_tight)

    def _read_admonition(self, token: Token) -> Quote:
        row = _get_first_line(token)
        title = Inline()
        if self.tokens[self._next].type == "admonition_title_open":
            title = self._read_words(self.tokens[self._next + 1].children or [])
        blocks = self.read_blocks("admonition_close")
        start, end = self.lines[row], self.lines[row + 1]
        return Quote(blocks=blocks, alert=token.meta["tag"], title=title, start=start, end=end)

    def _read_note(self, token: Token) -> Iterator[Block]:
        """Yield the blocks of a footnote. Its mark leads back to its reference."""
        row = _get_first_line(token)
        mark = f"[^{token.meta['label']}]"
        start = self.source.shift + self.source.text.index(mark, self.source.starts[row])
        link = Link(f"{mark}:", is_reference_mark=True)
        self._add(format_mark(mark), link=link, start=start, end=start + len(mark) + 1)
        words = self._take_words()
        first, *others = self.read_blocks("footnote_reference_close") or (None,)
        if isinstance(first, Paragraph):
            yield replace(first, words=(*words, Words(" "), *first.words))
        else:
            yield Paragraph(words=words, start=self.lines[row], end=self.lines[row + 1])
            yield from () if first is None else (first,)
        yield from others

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
                if cell.type == "th_open":
                    is_head = True
                    alignments.append(str(cell.attrGet("style") or "").removeprefix("text-align:"))
                if cell.type == "inline":
                    cells.append(self._read_words(cell.children or []))
            if start >= self.start:  # otherwise, it is in the prefix
                rows.append(TableRow(cells=tuple(cells), is_head=is_head, start=start, end=end))
        if rows:
            yield Table(rows=tuple(rows), alignments=tuple(alignments))

    def _read_quote(self, token: Token) -> Iterator[Quote]:
        """Yield a quote, unless it is empty. An alert's first line names its kind, and may have a title."""
        start, end = self._find_span(token)
        alert = ""
        title = Inline()
        inline = self.tokens[min(self._next + 1, len(self.tokens) - 1)]
        children = inline.children or []
        alert_line = (
            _ALERT.fullmatch(children[0].content) if children and children[0].type == "text" else None
        )
        after = next(
            (n for n, child in enumerate(children) if child.type in ("softbreak", "hardbreak")), len(children)
        )
        if alert_line is not None and (after == 1 or alert_line[2] is not None):
            inline.children = children[after + 1 :]
            length = len(children[0].content) - len(alert_line[2] or "")
            (first, begin, stop), *others = children[0].meta["pieces"]
            children[0].meta["pieces"] = [(first[length:], begin + length, stop), *others]
            alert = alert_line[1].lower()
            title = self._read_words(children[:after])
            end = self.lines[_get_first_line(token) + 1]
        blocks = self.read_blocks("blockquote_close")
        if blocks or alert:
            yield Quote(blocks=blocks, alert=alert, title=title, start=start, end=end)

    def _read_html(self, token: Token) -> Iterator[Block]:
        """Yield the paragraphs and the code of a block of HTML. Its lists and tables become lines."""
        start, end = self._find_span(token)
        first = _get_first_line(token)
        if match := _PRE.fullmatch(token.content.strip()):
            text = html.unescape(_ANY_TAG.sub("", match[1]))
            yield self._make_code(text.strip("\n"), "", first + text.startswith("\n"), end)
            return
        self.source.put(token.content, first, is_cell=False, is_heading=False)
        pieces = parse_inline(token.content, _get_html_splitter(), {})
        locate_tokens(pieces, token.content, self.source.place)
        for piece in pieces:
            tag = _read_tag(piece.content) if piece.type == "html_inline" else None
            if tag and tag.is_block and tag.name not in _LINE_TAGS and (words := self._take_words()):
                yield Paragraph(words=words, start=start, end=end)
            if piece.type == "html_inline":
                self._add_tag(piece)
            elif not self._hidden:
                for text, begin, stop in piece.meta.get("pieces", ()):
                    self._add_html_text(text, begin, stop)
        if words := self._take_words():
            yield Paragraph(words=words, start=start, end=end)
        self._open_elements = []
        self._hidden = ""

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

    def _read_words(self, tokens: Sequence[Token]) -> Inline:
        """Read the inline tokens of a block."""
        for token in tokens:
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
                    self._words.append(LINE_BREAK)
                case "image":
                    _, start, end = pieces[0] if pieces else ("", 0, 0)
                    self._add_image(token.content, str(token.attrGet("src") or ""), start, end)
                case "mark":
                    _, start, end = pieces[0]
                    self._add(
                        token.content, link=Link(token.info, is_reference_mark=True), start=start, end=end
                    )
                case _ if part == "open":
                    self._open(element, str(token.attrGet("href") or "") if element == "link" else None)
                case _ if part == "close":
                    self._close(element)
                case _:
                    emphasis = Emphasis.CODE if token.type == "code_inline" else Emphasis.NONE
                    for text, start, end in pieces:
                        self._add(text, emphasis, start=start, end=end)
        self._open_elements = []
        self._hidden = ""
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
        """Add words from `start` to `end` of the source, with their own `link` unless inside another."""
        number = None
        sign = ""
        for name, added, opened in self._open_elements:
            emphasis |= added
            number = number if opened is None else opened
            sign = _SCRIPT_SIGNS.get(name, sign)
        if number is None and link is not None:
            number = len(self.links)
            self.links.append(link)
        if sign and number is None and not is_image:
            text = to_script_characters(text, sign) or _mark_script(text, sign)
        words = Words(text, emphasis, number, is_image, start=start, end=end)
        if text:
            self._words += self._split_into_groups(words) if self.groups else [words]

    def _split_into_groups(self, words: Words) -> Iterator[Words]:
        """Yield the words of each group, and those of none. A piece's last character says if it is whole."""
        is_contiguous = words.end - words.start == len(words.text)
        position = words.start if is_contiguous else words.end - 1
        while position < words.end:
            index = bisect_right(self.groups, position, key=itemgetter(1))
            start, end = self.groups[index] if index < len(self.groups) else (words.end, words.end)
            group = index if start <= position else None
            if not is_contiguous:
                yield replace(words, group=group)
                return
            stop = min(end if group is not None else start, words.end)
            text = words.text[position - words.start : stop - words.start]
            yield replace(words, text=text, group=group, start=position, end=stop)
            position = stop
        if words.start >= words.end:  # a sign that is not in the source
            yield words

    def _add_image(self, text: str, href: str, start: int, end: int) -> None:
        """Add a text in place of an image."""
        link = Link(href, is_image=True) if href else None
        if text:
            self._add(text, link=link, is_image=True, start=start, end=end)
        else:
            self._add(href, link=link, is_image=True)

    @property
    def _is_at_start(self) -> bool:
        """Whether the current line has no words."""
        return not self._words or self._words[-1] is LINE_BREAK

    def _open(self, name: str, href: str | None = None) -> None:
        """Open an element, such as emphasis, for the words that follow. It is a link if it has an `href`."""
        if len(self._open_elements) >= _NESTING_MAX:
            return
        number = None if href is None else len(self.links)
        if href is not None:
            self.links.append(Link(href))
        self._open_elements.append((name, EMPHASES.get(name, Emphasis.NONE), number))

    def _close(self, name: str) -> None:
        """Close the innermost element with this name."""
        for index in range(len(self._open_elements) - 1, -1, -1):
            if self._open_elements[index][0] == name:
                del self._open_elements[index]
                return

    def _add_tag(self, token: Token) -> None:
        """Read a tag among words. The tag of a block starts a line; the tag of a cell continues it."""
        tag = _read_tag(token.content)
        if tag is None:
            return
        pieces = token.meta["pieces"]
        start, end = pieces[0][1], pieces[-1][2]
        if self._hidden:
            if tag.is_end and tag.name == self._hidden:
                self._hidden = ""
        elif tag.name in HIDDEN_TAGS:
            self._hidden = "" if tag.is_end else tag.name
        # These are only words, such as `<your-name>`.
        elif tag.is_bare and not tag.is_end and not is_html_element(tag.name):
            self._add(token.content, start=start, end=end)
        elif tag.name == "img":
            self._add_image(tag.attributes.get("alt", ""), tag.attributes.get("src", ""), start, end)
        elif tag.name == "q":
            self._add("”" if tag.is_end else "“")
        else:
            if tag.name == "br" or (tag.is_block and not self._is_at_start and tag.name not in _CELLS):
                self._words.append(LINE_BREAK)
            if tag.is_end:
                self._close(tag.name)
                return
            if tag.name in EMPHASES or tag.name in _SCRIPT_SIGNS:
                self._open(tag.name)
            elif tag.name == "a" and "href" in tag.attributes:
                self._open(tag.name, tag.attributes["href"])
            self._add(" │ " if tag.name in _CELLS and not self._is_at_start else _LEADS.get(tag.name, ""))


def _get_first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _read_task(blocks: tuple[Block, ...]) -> tuple[bool | None, tuple[Block, ...]]:
    """Return whether an item's task is done, or None if it is no task, and the blocks without its box."""
    first = blocks[0] if blocks else None
    is_done = _TASK_BOXES.get(first.words[0].text[:4]) if isinstance(first, Paragraph) else None
    if is_done is None or not isinstance(first, Paragraph):
        return None, blocks
    box, *rest = first.words
    return is_done, (replace(first, words=(replace(box, text=box.text[4:]), *rest)), *blocks[1:])
