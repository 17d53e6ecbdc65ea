"""Tags of the HTML that stands in Markdown: where they are, and what is known of each."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from roamtui.document.markdown.blocks import Emphasis

_TAG = re.compile(
    r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(?P<data>.*?)\]\]>|<![A-Za-z][^>]*>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)?/?)>"
    # What a chunk of a document or an answer that is still coming ends in.
    r"|</?[A-Za-z][\w-]*\s[^<>]*\Z",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")

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
class Piece:
    """Text between tags, or a tag."""

    text: str
    """As it stands in the source."""
    line: int
    """Number of the line where it begins, from 0."""
    name: str = ""
    """Of a tag, in small letters; empty for text."""
    is_end: bool = False
    attributes: dict[str, str] = field(default_factory=dict)


def split_html(source: str, whole: str) -> Iterator[Piece]:
    """Yield the texts and tags of HTML in order, without comments; in `whole` the ends of its elements may stand."""
    position = line = 0
    for match in _TAG.finditer(source):
        if position < match.start():
            yield Piece(source[position : match.start()], line)
        line += source.count("\n", position, match.start())
        name = match["name"]
        if match["data"]:
            yield Piece(html.escape(match["data"]), line)
        elif name and _is_placeholder(match, whole):
            yield Piece(html.escape(match[0]), line)
        elif name:
            yield Piece(match[0], line, name.lower(), bool(match["end"]), _read_attributes(match["attributes"]))
        line += source.count("\n", match.start(), match.end())
        position = match.end()
    if position < len(source):
        yield Piece(source[position:], line)


def _is_placeholder(tag: re.Match[str], whole: str) -> bool:
    """Return whether a tag is none, but words in angle brackets such as ``<your-name>``: nothing opens or ends it."""
    name = tag["name"].lower()
    is_known = name in EMPHASES or name in CONTAINERS or name in HIDDEN
    if tag["attributes"] or is_known or PARTING.fullmatch(name) or _PASSED_OVER.fullmatch(name):
        return False
    return (f"<{name}" if tag["end"] else f"</{name}") not in whole.lower()


def _read_attributes(source: str) -> dict[str, str]:
    return {
        match[1].lower(): html.unescape(next(value for value in match.groups()[1:] if value is not None))
        for match in _ATTRIBUTE.finditer(source)
    }
