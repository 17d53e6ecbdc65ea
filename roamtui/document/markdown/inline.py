"""`InlineReader`: gathers the words of one block after the other, from marks of Markdown and tags of HTML alike."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from roamtui.document.markdown.blocks import LINE_BREAK, Emphasis, Inline, Link, Words

_TAG = re.compile(
    r"(?P<opener><!--|<\?|<!\[CDATA\[|<!(?=[A-Za-z]))"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)?/?)>"
    # What a chunk of a document or an answer that is still coming ends in.
    r"|</?[A-Za-z][\w-]*\s[^<>]*\Z"
)
_CLOSERS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "<!": ">"}
_TAG_START = re.compile(r"</?[A-Za-z][\w:.-]*+")
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")

EMPHASES = (
    dict.fromkeys(("strong", "b", "dt"), Emphasis.STRONG)
    | dict.fromkeys(("em", "i", "cite", "dfn", "var"), Emphasis.ITALIC)
    | dict.fromkeys(("s", "del", "strike"), Emphasis.STRUCK)
    | dict.fromkeys(("code", "kbd", "samp", "tt"), Emphasis.CODE)
)
CONTAINERS = {
    "blockquote": "quote",
    "details": "details",
    "summary": "summary",
    "ul": "list",
    "ol": "list",
    "li": "item",
    "table": "table",
    "tr": "row",
    "td": "cell",
    "th": "cell",
}
"""Elements that hold blocks, and what they are as such."""
HIDDEN = frozenset({"script", "style", "template", "svg", "noscript", "iframe"})
"""Elements whose text is not for people."""
PARTING = re.compile(
    "address|article|aside|body|caption|center|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|header|html|main|"
    "nav|p|section|tbody|tfoot|thead"
)
"""Elements whose tags part paragraphs."""
_PASSED_OVER = re.compile(
    "a|abbr|acronym|bdi|bdo|big|br|col|colgroup|font|h[1-6]|head|hr|img|ins|mark|nobr|picture|pre|q|rb|rp|rt|ruby|"
    "small|span|su[bp]|u|video|audio|wbr"
)


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """Text between tags, or a tag."""

    text: str
    """As it stands in the source."""
    line: int
    """Number of the line where it begins, from 0."""
    name: str = ""
    """Of a tag, in small letters; empty for text."""
    is_end: bool = False
    attributes: dict[str, str] = field(default_factory=dict)


class TagStarts:
    """The starts of all tags in a text, such as ``<b`` and ``</b``, in lower case; listed once, when needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(match[0].lower() for match in _TAG_START.finditer(self._text))

    def __contains__(self, start: str) -> bool:
        return start in self._starts


def split_html(source: str, starts: TagStarts) -> Iterator[HtmlToken]:
    """Yield the texts and tags of HTML in order, without comments; `starts` are of a text in which elements may end."""
    position = line = 0
    for match, end in _find_tags(source):
        if position < match.start():
            yield HtmlToken(source[position : match.start()], line)
        line += source.count("\n", position, match.start())
        name = match["name"]
        if match["opener"] == "<![CDATA[" and (data := source[match.end() : end - len("]]>")]):
            yield HtmlToken(html.escape(data), line)
        elif name and _is_placeholder(match, starts):
            yield HtmlToken(html.escape(match[0]), line)
        elif name:
            attributes = {
                one[1].lower(): html.unescape(next(value for value in one.groups()[1:] if value is not None))
                for one in _ATTRIBUTE.finditer(match["attributes"])
            }
            yield HtmlToken(match[0], line, name.lower(), bool(match["end"]), attributes)
        line += source.count("\n", match.start(), end)
        position = end
    if position < len(source):
        yield HtmlToken(source[position:], line)


def _find_tags(source: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield each tag, comment and the like, and where it ends. One that nothing closes is text."""
    position = 0
    unclosed: set[str] = set()  # not looked for again: many of them would each read the text to its end
    while (match := _TAG.search(source, position)) is not None:
        opener, end = match["opener"], match.end()
        if opener in _CLOSERS and opener not in unclosed and (found := source.find(_CLOSERS[opener], end)) >= 0:
            end = found + len(_CLOSERS[opener])
        elif opener:
            unclosed.add(opener)
            position = end
            continue
        yield match, end
        position = end


def _is_placeholder(tag: re.Match[str], starts: TagStarts) -> bool:
    """Return whether a tag is none, but words in angle brackets such as ``<your-name>``: nothing opens or ends it."""
    name = tag["name"].lower()
    is_known = name in EMPHASES or name in CONTAINERS or name in HIDDEN
    if tag["attributes"] or is_known or PARTING.fullmatch(name) or _PASSED_OVER.fullmatch(name):
        return False
    return (f"<{name}" if tag["end"] else f"</{name}") not in starts


ReadText = Callable[[str, bool], Iterable[tuple[str, str | None]]]
"""Splits a text into what is shown, each with an address where it is a mark that leads somewhere; it is told whether
the text begins its block."""

_SPACES = re.compile(r"\s+")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_MARKS_MAX = 50
"""Marks within each other; deeper ones change nothing."""
RAISED = {
    "sup": dict(zip(b"0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)),
    "sub": dict(zip(b"0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True)),
}
"""What digits become within these elements."""


def read_footnotes(text: str, is_first: bool) -> Iterable[tuple[str, str | None]]:  # noqa: FBT001 - a `ReadText`
    """Make links of footnotes' marks: `[^1]` leads to its note, and the note's own, `[^1]:`, to where it is used."""
    position = 0
    for match in _FOOTNOTE.finditer(text):
        yield text[position : match.start()], None
        is_note = is_first and match.start() == 0 and text.startswith(":", match.end())
        yield match[0], f"{match[0]}:" if is_note else match[0]
        position = match.end()
    yield text[position:], None


@dataclass(slots=True)
class InlineReader:
    """Gathers the words of a block."""

    read_text: ReadText
    links: list[Link] = field(default_factory=list)
    _words: list[Words] = field(default_factory=list)
    _marks: list[tuple[str, Emphasis, int | None]] = field(default_factory=list)
    """What is open: its name, its emphasis, its link."""

    @property
    def is_begun(self) -> bool:
        """Whether there are words."""
        return bool(self._words)

    def open(self, name: str, href: str | None = None) -> None:
        """Have what follows look as within a mark or an element, or lead to an address."""
        if len(self._marks) >= _MARKS_MAX:
            return
        number = None
        if href is not None:
            number = len(self.links)
            self.links.append(Link(href))
        self._marks.append((name, EMPHASES.get(name, Emphasis.NONE), number))

    def close(self, name: str) -> None:
        """End the last mark of this name."""
        for index in range(len(self._marks) - 1, -1, -1):
            if self._marks[index][0] == name:
                del self._marks[index]
                return

    def close_all(self) -> None:
        """End all marks: none goes on beyond its block."""
        self._marks.clear()

    def add_text(self, text: str) -> None:
        """Add text, in which there may be marks."""
        look = self._look
        for shown, href in self.read_text(text, not self._words):
            if href is None or look.link is not None:
                self._add(shown, look)
            else:
                self.links.append(Link(href, is_mark=True))
                self._add(shown, Words("", look.emphasis, len(self.links) - 1))

    def add_html(self, text: str) -> None:
        """Add text of HTML, in which any white space is one space, and none at the start of a line."""
        text = _SPACES.sub(" ", text)
        is_begun = self._words and self._words[-1] is not LINE_BREAK and not self._words[-1].text.endswith(" ")
        self.add_text(html.unescape(text if is_begun else text.lstrip()))

    def add_plain(self, text: str, emphasis: Emphasis = Emphasis.NONE) -> None:
        """Add text that is what it is."""
        look = self._look
        self._add(text, Words("", look.emphasis | emphasis, look.link))

    def add_image(self, text: str, href: str) -> None:
        """Add what stands for an image, which leads to it unless it is part of a link."""
        look = self._look
        link = look.link
        if link is None and href:
            link = len(self.links)
            self.links.append(Link(href, is_image=True))
        if text or href:
            self._words.append(Words(text or href, look.emphasis, link, is_image=True))

    def end_line(self) -> None:
        """Have what follows begin a line."""
        self._words.append(LINE_BREAK)

    def take(self) -> Inline:
        """Return the words so far without space at their end, and forget them."""
        words = self._words
        while words and not words[0].text.strip():
            del words[0]
        while words and not words[-1].text.strip():
            del words[-1]
        self._words = []
        return tuple(words)

    @property
    def _look(self) -> Words:
        emphasis, link = Emphasis.NONE, None
        for _, added, number in self._marks:
            emphasis |= added
            link = link if number is None else number
        return Words("", emphasis, link)

    def _add(self, text: str, look: Words) -> None:
        if text.isdecimal():
            for name, _, _ in self._marks:
                text = text.translate(RAISED.get(name, {}))
        if text:
            self._words.append(Words(text, look.emphasis, look.link))
