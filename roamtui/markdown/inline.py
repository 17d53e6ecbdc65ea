"""`InlineReader`: collects the words of a block from inline Markdown and HTML tags."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from roamtui.markdown.blocks import LINE_BREAK, Emphasis, Inline, Link, Words
from roamtui.markdown.formulas import to_script_characters

_TAG = re.compile(
    r"(?P<opener><!--|<\?|<!\[CDATA\[|<!(?=[A-Za-z]))"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)?/?)>"
    # An unfinished tag at the end of a chunk, or of an answer that is still arriving.
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
"""Kind of container of each element that contains blocks."""
HIDDEN = frozenset({"script", "style", "template", "svg", "noscript", "iframe"})
"""Elements whose text is not meant to be read."""
SEPARATING = re.compile(
    "address|article|aside|body|caption|center|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|header|html|main|"
    "nav|p|section|tbody|tfoot|thead"
)
"""Elements whose tags separate paragraphs."""
_OTHER_ELEMENTS = re.compile(
    "a|abbr|acronym|bdi|bdo|big|br|col|colgroup|font|h[1-6]|head|hr|img|ins|mark|nobr|picture|pre|q|rb|rp|rt|ruby|"
    "small|span|su[bp]|u|video|audio|wbr"
)
"""Other elements of HTML. Most of their tags change nothing."""


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """A tag, or the text between tags."""

    text: str
    """As written in the source."""
    line: int
    """0-based line of its start."""
    name: str = ""
    """Name of a tag in lower case; empty for text."""
    is_end: bool = False
    attributes: dict[str, str] = field(default_factory=dict)


class TagStarts:
    """The starts of all tags in a text, such as ``<b`` and ``</b``, in lower case. They are collected when needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(match[0].lower() for match in _TAG_START.finditer(self._text))

    def __contains__(self, start: str) -> bool:
        return start in self._starts


def split_html(source: str, starts: TagStarts) -> Iterator[HtmlToken]:
    """Yield the texts and tags of a piece of HTML in order, without comments.

    `starts` holds the tags of the whole text, because an element that starts in `source` may end after it.
    """
    position = line = 0
    for match, end in _iter_tags(source):
        if position < match.start():
            yield HtmlToken(source[position : match.start()], line)
        line += source.count("\n", position, match.start())
        name = match["name"]
        if name and _is_placeholder(match, starts):
            yield HtmlToken(html.escape(match[0]), line)
        elif name:
            attributes = {
                key.lower(): html.unescape(double or single or bare)
                for key, double, single, bare in _ATTRIBUTE.findall(match["attributes"])
            }
            yield HtmlToken(match[0], line, name.lower(), bool(match["end"]), attributes)
        line += source.count("\n", match.start(), end)
        position = end
    if position < len(source):
        yield HtmlToken(source[position:], line)


def _iter_tags(source: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield each tag or comment, and the offset of its end. A comment that nothing closes is text."""
    position = 0
    unclosed: set[str] = set()  # searching again for their ends would read the text to its end each time
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
    """Check whether a tag is only words in angle brackets, such as ``<your-name>``: no other tag opens or closes it."""
    name = tag["name"].lower()
    if tag["attributes"] or is_html_element(name):
        return False
    return (f"<{name}" if tag["end"] else f"</{name}") not in starts


def is_html_element(name: str) -> bool:
    """Return whether HTML has an element with this name in lower case."""
    is_known = name in EMPHASES or name in CONTAINERS or name in HIDDEN
    return is_known or bool(SEPARATING.fullmatch(name) or _OTHER_ELEMENTS.fullmatch(name))


SplitMarks = Callable[[str, bool], Iterable[tuple[str, str | None]]]
"""Function that splits a text into marks and the text between them. A mark has an href, other text has None. The second
argument tells whether the text is the first of its block."""

_WHITE_SPACE = re.compile(r"\s+")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_NESTING_MAX = 50
"""Maximum number of nested elements, such as emphasis and links. Deeper ones are ignored."""
SCRIPT_SIGNS = {"sup": "^", "sub": "_"}
"""HTML elements of superscripts and subscripts, each with the sign that stands for it in plain text."""
_SCRIPT_LENGTH_MAX = 3
"""Maximum length, in characters, of a text that gets such a sign if Unicode lacks one of its characters. A longer text
is just small print."""


def split_footnotes(text: str, is_first: bool) -> Iterable[tuple[str, str | None]]:  # noqa: FBT001 - a `SplitMarks`
    """Split a text at footnote marks: `[^1]` leads to its note, and `[^1]:` at the start of a note leads back."""
    position = 0
    for match in _FOOTNOTE.finditer(text):
        yield text[position : match.start()], None
        is_note = is_first and match.start() == 0 and text.startswith(":", match.end())
        yield match[0], f"{match[0]}:" if is_note else match[0]
        position = match.end()
    yield text[position:], None


@dataclass(slots=True)
class InlineReader:
    """Collects the words of a block."""

    split_marks: SplitMarks
    links: list[Link] = field(default_factory=list)
    _words: list[Words] = field(default_factory=list)
    _open_elements: list[tuple[str, Emphasis, int | None]] = field(default_factory=list)
    """Name, emphasis and link of each open element, outermost first."""

    @property
    def has_words(self) -> bool:
        """Whether any words were collected."""
        return bool(self._words)

    def open(self, name: str, href: str | None = None) -> None:
        """Open an element, such as emphasis, for the words that follow. It is a link if it has an `href`."""
        if len(self._open_elements) >= _NESTING_MAX:
            return
        number = None
        if href is not None:
            number = len(self.links)
            self.links.append(Link(href))
        self._open_elements.append((name, EMPHASES.get(name, Emphasis.NONE), number))

    def close(self, name: str) -> None:
        """Close the innermost element with this name."""
        for index in range(len(self._open_elements) - 1, -1, -1):
            if self._open_elements[index][0] == name:
                del self._open_elements[index]
                return

    def close_all(self) -> None:
        """Close all elements at the end of a block."""
        self._open_elements.clear()

    def add_text(self, text: str) -> None:
        """Add text that may contain marks, such as those of footnotes."""
        style = self._current_style
        for shown, href in self.split_marks(text, not self._words):
            if href is None or style.link is not None:
                self._add(shown, style)
            else:
                self.links.append(Link(href, is_reference_mark=True))
                self._add(shown, Words("", style.emphasis, len(self.links) - 1))

    def add_html(self, text: str) -> None:
        """Add the text of HTML. White space becomes one space, or none at the start of a line."""
        text = _WHITE_SPACE.sub(" ", text)
        keeps_space = self._words and self._words[-1] is not LINE_BREAK and not self._words[-1].text.endswith(" ")
        self.add_text(html.unescape(text if keeps_space else text.lstrip()))

    def add_plain(self, text: str, emphasis: Emphasis = Emphasis.NONE) -> None:
        """Add text as it is, without looking for marks."""
        style = self._current_style
        self._add(text, Words("", style.emphasis | emphasis, style.link))

    def add_image(self, text: str, href: str) -> None:
        """Add a text in place of an image. It links to the image, unless it is part of another link."""
        style = self._current_style
        link = style.link
        if link is None and href:
            link = len(self.links)
            self.links.append(Link(href, is_image=True))
        if text or href:
            self._words.append(Words(text or href, style.emphasis, link, is_image=True))

    def end_line(self) -> None:
        """Add a forced line end."""
        self._words.append(LINE_BREAK)

    def take(self) -> Inline:
        """Return and remove the words collected so far, without space at both ends."""
        words = self._words
        while words and not words[0].text.strip():
            del words[0]
        while words and not words[-1].text.strip():
            del words[-1]
        self._words = []
        return tuple(words)

    @property
    def _current_style(self) -> Words:
        """The current emphasis and link, as `Words` without text."""
        emphasis, link = Emphasis.NONE, None
        for _, added, number in self._open_elements:
            emphasis |= added
            link = link if number is None else number
        return Words("", emphasis, link)

    def _add(self, text: str, style: Words) -> None:
        sign = next((SCRIPT_SIGNS[name] for name, _, _ in reversed(self._open_elements) if name in SCRIPT_SIGNS), "")
        if sign and style.link is None:
            is_short = len(text) <= _SCRIPT_LENGTH_MAX and text.isalnum()
            text = to_script_characters(text, sign) or (sign + text if is_short else text)
        if text:
            self._words.append(Words(text, style.emphasis, style.link))
