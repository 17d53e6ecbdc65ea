"""Read the tags of HTML, and the words of a piece of Markdown without parsing it."""

from __future__ import annotations

import html
import re

from msgspec import Struct

from roamtui.document.plain import sanitise_line
from roamtui.markdown.blocks import Emphasis

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
