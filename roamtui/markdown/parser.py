"""Parse Markdown, and the HTML in it, into blocks. Only this module and `rules` know the tokens of markdown-it-py."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from roamtui.document.plain import strip_anchor
from roamtui.document.text import compute_line_starts
from roamtui.markdown.blocks import (
    Code,
    Emphasis,
    Heading,
    Markdown,
    Paragraph,
    ThematicBreak,
    Words,
)
from roamtui.markdown.containers import rewrite_containers
from roamtui.markdown.formulas import convert_formula
from roamtui.markdown.frames import Frame
from roamtui.markdown.inline import (
    CONTAINERS,
    EMPHASES,
    HIDDEN,
    SCRIPT_SIGNS,
    SEPARATING,
    HtmlToken,
    InlineReader,
    SplitMarks,
    TagStarts,
    split_footnotes,
    split_html,
)
from roamtui.markdown.rules import get_parser

Definitions = dict[str, dict[str, str]]
"""Link definitions by normalised label, in the form of markdown-it-py's environment."""

_FRAMES_MAX = 100
"""Maximum depth of nested containers. The content of deeper ones is added to the last one."""
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
"""A container of one of these kinds closes an open container of its own kind when it starts. The search for that one
stops at a container of the kind in the value."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SINGLE_BLOCK_TAGS = {"hr", "pre", *_HEADINGS}
"""Further elements that separate paragraphs. Each is a block of its own."""
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
    split_marks: SplitMarks = split_footnotes,
) -> Markdown:
    """Parse a text, or a slice of one, into blocks.

    If a slice starts inside containers, `prefix` has the whole lines that open them, which make no blocks. `start` is
    the offset of the slice, which is added to all offsets. `definitions` has the link definitions of the whole
    document, in addition to those in the text. `split_marks` splits plain text at marks.
    """
    # Without a final line end, an HTML block in a quoted list makes the parser read past the end.
    source = prefix + text + ("" if text.endswith("\n") else "\n")
    env = {"references": dict(definitions or {})}
    tokens = get_parser().parse(rewrite_containers(source), env)
    starts = compute_line_starts(text)
    prefix_lines = prefix.count("\n")

    def find_offset(line: int) -> int:
        """Return the offset of a line, or if it is in the prefix, an offset before the text."""
        own = line - prefix_lines
        if own < 0:
            return start - 1
        return start + (starts[own] if own < len(starts) else len(text))

    return _BlockBuilder(TagStarts(source), start, find_offset, split_marks).read(tokens)


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


class _BlockBuilder:
    """Builds the blocks of one text from its tokens."""

    def __init__(
        self,
        tag_starts: TagStarts,
        start: int,
        find_offset: Callable[[int], int],
        split_marks: SplitMarks,
    ) -> None:
        self._tag_starts = tag_starts
        self._start = start
        self._find_offset = find_offset
        self._words = InlineReader(split_marks)
        self._frames = [Frame(kind="document", start=start, end=start)]
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
        self._add_tokens(tokens)
        self._flush()
        while len(self._frames) > 1:
            self._pop()
        return Markdown(blocks=tuple(self._frames[0].blocks), links=tuple(self._words.links))

    def _add_tokens(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            kind, _, side = token.type.rpartition("_")
            if side == "open":
                self._open(kind, token)
            elif side == "close":
                self._close(kind)
            elif token.type == "inline":
                self._add_text(token)
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
        elif (
            kind == "paragraph"
            and frame.kind == "item"
            and not frame.may_lack_end
            and self._frames[-2].is_tight is None
        ):
            self._frames[-2].is_tight = token.hidden
        elif kind in _CONTAINERS:
            start, end = self._find_span(token) if token.map else (frame.start, frame.end)
            opened = Frame(kind=_CONTAINERS[kind], start=start, end=end)
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
            may_lack_end = self._frames[-1].may_lack_end
            self._pop()
            if not may_lack_end:
                break

    def _add_text(self, token: Token) -> None:
        """Add a paragraph, a heading or a cell."""
        self._span = self._find_span(token)
        children, frame = token.children or [], self._frames[-1]
        if frame.kind == "quote" and not frame.blocks:
            children = self._read_alert(children, self._find_offset((token.map or (0, 0))[0] + 1))
        self._add_inline(children, token.content)

    def _add_inline(self, children: Sequence[Token], content: str) -> None:
        starts = TagStarts(content)
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
            case "formula":
                text = convert_formula(token.content)
                self._words.add_plain(text or token.content, Emphasis.NONE if text else Emphasis.CODE)
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
        self._add_inline(children[1:after], "")
        frame.title = self._words.take()
        return children[after + 1 :]

    def _append_code(self, text: str, info: str, line: int) -> None:
        offsets = tuple(self._find_offset(line + number) for number in range(text.count("\n") + 2))
        self._frames[-1].blocks.append(Code(text=text, info=info, offsets=offsets))

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
        elif SEPARATING.fullmatch(name) or name in _SINGLE_BLOCK_TAGS:
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
        elif piece.is_end:
            self._words.close(name)
        elif name == "a" and "href" in attributes:
            self._words.open(name, attributes["href"])
        elif name in EMPHASES or name in SCRIPT_SIGNS:
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
        self._append_code(text.removeprefix("\n").rstrip(), self._code_info, line)
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
        frame = Frame(kind=kind, start=start, end=end, may_lack_end=True, is_tight=True)
        if piece.name == "ol":
            first = piece.attributes.get("start", "")
            frame.number = int(first) if first.isdecimal() and len(first) < 10 else 1
        frame.is_head = piece.name == "th"
        self._frames.append(frame)

    def _close_element(self, kind: str, scope: str = "") -> None:
        """Close the innermost HTML container of a kind and all containers in it.

        The search stops at a container of the kind `scope`, or at one that a Markdown token opened.
        """
        for frame in reversed(self._frames):
            if not frame.may_lack_end or frame.kind == scope:
                return
            if frame.kind == kind:
                break
        while self._pop() is not frame:
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

    def _pop(self) -> Frame:
        """Close the innermost container and return it."""
        frame = self._frames.pop()
        if frame.may_lack_end and self._piece_line is not None and frame.kind != "details":
            frame.end = max(frame.end, self._piece_span[1])
        frame.add_to(self._frames[-1], is_shown=frame.start >= self._start)
        return frame
