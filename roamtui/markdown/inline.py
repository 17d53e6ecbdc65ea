"""Collect the words of inline Markdown and of HTML tags."""

from __future__ import annotations

import html
import re

from msgspec import Struct, field

from roamtui.document.plain import sanitise_line
from roamtui.markdown.blocks import LINE_BREAK, Emphasis, Inline, Link, Words
from roamtui.markdown.formulas import to_script_characters

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>.*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")

EMPHASES = (
    dict.fromkeys(("strong", "b", "dt", "summary", "h1", "h2", "h3", "h4", "h5", "h6"), Emphasis.STRONG)
    | dict.fromkeys(("em", "i", "cite", "dfn", "var"), Emphasis.ITALIC)
    | dict.fromkeys(("s", "del", "strike"), Emphasis.STRUCK)
    | dict.fromkeys(("code", "kbd", "samp", "tt"), Emphasis.CODE)
)
SCRIPT_SIGNS = {"sup": "^", "sub": "_"}
"""Superscripts and subscripts, each with the sign that stands for it in plain text."""
HIDDEN_TAGS = frozenset({"script", "style", "template", "svg", "noscript", "iframe"})
"""Elements whose text is not meant to be read."""
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "h[1-6]|header|hr|html|li|main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
"""Elements whose tags separate paragraphs."""
_OTHER = re.compile(
    "a|abbr|acronym|audio|bdi|bdo|big|br|col|colgroup|font|head|img|input|ins|mark|nobr|picture|q|rb|rp|rt|ruby|small|"
    "span|su[bp]|u|video|wbr"
)
"""Other elements of HTML. Most of their tags change nothing."""


class Tag(Struct, frozen=True):
    """A tag of HTML."""

    name: str
    """In lower case."""
    is_end: bool
    is_bare: bool
    """Whether it has no attributes and does not close itself."""
    attributes: dict[str, str]

    @property
    def is_block(self) -> bool:
        """Whether it separates paragraphs."""
        return _BLOCK.fullmatch(self.name) is not None


def read_tag(text: str) -> Tag | None:
    """Read a tag. Return None for a comment or a declaration."""
    match = _TAG.fullmatch(text)
    if match is None:
        return None
    found = _ATTRIBUTE.findall(match["attributes"])
    attributes = {key.lower(): html.unescape(double or single or bare) for key, double, single, bare in found}
    return Tag(match["name"].lower(), bool(match["end"]), not match["attributes"].strip(), attributes)


def is_html_element(name: str) -> bool:
    """Return whether HTML has an element with this name in lower case."""
    return name in EMPHASES or name in HIDDEN_TAGS or bool(_BLOCK.fullmatch(name) or _OTHER.fullmatch(name))


_WHITE_SPACE = re.compile(r"\s+")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_NESTING_MAX = 50
"""Maximum number of nested elements, such as emphasis and links. Deeper ones are ignored."""


class InlineReader(Struct):
    """Collects the words of a block."""

    has_footnotes: bool
    """Whether to look for marks of footnotes."""
    links: list[Link] = field(default_factory=list)
    group: int | None = None
    """Group of the words that follow."""
    _words: list[Words] = field(default_factory=list)
    _open_elements: list[tuple[str, Emphasis, int | None]] = field(default_factory=list)
    """Name, emphasis and link of each open element, outermost first."""

    @property
    def is_at_start(self) -> bool:
        """Whether nothing was collected for the current line."""
        return not self._words or self._words[-1] is LINE_BREAK

    def open(self, name: str, href: str | None = None) -> None:
        """Open an element, such as emphasis, for the words that follow. It is a link if it has an `href`."""
        if len(self._open_elements) >= _NESTING_MAX:
            return
        number = None if href is None else self._add_link(Link(href))
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
        """Add text with marks of footnotes: `[^1]` leads to its note, `[^1]:` at the start of a note leads back."""
        style, is_first, position = self._current_style, not self._words, 0
        for match in _FOOTNOTE.finditer(text) if self.has_footnotes and style.link is None else ():
            self._add(text[position : match.start()], style)
            is_note = is_first and match.start() == 0 and text.startswith(":", match.end())
            link = self._add_link(Link(f"{match[0]}:" if is_note else match[0], is_reference_mark=True))
            self._add(match[0], Words("", style.emphasis, link))
            position = match.end()
        self._add(text[position:], style)

    def add_html(self, text: str) -> None:
        """Add the text of HTML. White space becomes one space, or none at the start of a line."""
        text = _WHITE_SPACE.sub(" ", text)
        keeps_space = not self.is_at_start and not self._words[-1].text.endswith(" ")
        self.add_text(text if keeps_space else text.lstrip())

    def add_plain(self, text: str, emphasis: Emphasis = Emphasis.NONE) -> None:
        """Add text as it is, without looking for marks."""
        style = self._current_style
        self._add(text, Words("", style.emphasis | emphasis, style.link))

    def add_mark(self, label: str, href: str) -> None:
        """Add the label of a citation. It is a link, unless it is part of another link."""
        style = self._current_style
        link = self._add_link(Link(href, is_reference_mark=True)) if style.link is None else style.link
        self._words.append(Words(label, style.emphasis, link, group=self.group))

    def add_image(self, text: str, href: str) -> None:
        """Add a text in place of an image. It links to the image, unless it is part of another link."""
        style = self._current_style
        link = self._add_link(Link(href, is_image=True)) if style.link is None and href else style.link
        if text or href:
            self._words.append(Words(text or href, style.emphasis, link, is_image=True, group=self.group))

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

    def _add_link(self, link: Link) -> int:
        """Add a link, and return its number."""
        self.links.append(link)
        return len(self.links) - 1

    def _add(self, text: str, style: Words) -> None:
        sign = next((SCRIPT_SIGNS[name] for name, _, _ in reversed(self._open_elements) if name in SCRIPT_SIGNS), "")
        if sign and style.link is None:
            text = to_script_characters(text, sign) or (sign + text if text.isalnum() else text)
        if text:
            self._words.append(Words(text, style.emphasis, style.link, group=self.group))


_MARKUP = re.compile(r"[<\[*_`|#>~]|^[ \t]*[-+:=]", re.MULTILINE)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^[ \t]*(?:`{3}|~{3}|:{3}|[|=_~*+ \t:-]+$)[^\n]*", re.DOTALL | re.MULTILINE)
"""Comments, and lines of rules and fences."""
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_MARK = re.compile(r"</?([A-Za-z][\w-]*)(?:\s[^<>]*)?/?(?:>|\Z)")
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)])[ \t]+|\|)+", re.MULTILINE)
_SIGNS = re.compile(r"\*+|__+|`+|~~|(?<!\w)_|_(?!\w)|(?<!\\)\|")


def extract_words(text: str) -> str:
    """Return the words of a piece of Markdown on one line, such as for a title. Images, rules and HTML tags have none.

    Patterns do this, because a text of 50 MB without headings has 250,000 titles: parsing each takes a minute.
    """
    if _MARKUP.search(text):
        text = _LINK.sub(r"\1", _IMAGE.sub("", _HIDDEN.sub("", text)))
        text = _LINE_MARKS.sub("", strip_tags(text))
        text = _SIGNS.sub(lambda match: " " if match[0] == "|" else "", text)
    return sanitise_line(text)


def strip_tags(text: str) -> str:
    """Replace the tags of HTML with spaces, but keep other words in angle brackets."""
    return _MARK.sub(lambda match: " " if is_html_element(match[1].lower()) else match[0], text)
