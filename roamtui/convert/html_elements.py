"""The HTML elements that start lines or mark words, and the targets of links."""

import re
from urllib.parse import quote, urljoin, urlsplit

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.inline import BLOCK_TAGS, EMPHASES

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MORE_BLOCKS = (
    "colgroup dialog hgroup legend listing marquee object plaintext search template xmp audio video canvas"
)
BLOCKS = BLOCK_TAGS.union(LISTS, _MORE_BLOCKS.split())
"""Elements that start and end a line."""
_SIGNS = {Emphasis.STRONG: "**", Emphasis.ITALIC: "*", Emphasis.STRUCK: "~~", Emphasis.CODE: "`"}
MARKS_BY_NAME = {
    name: _SIGNS[emphasis] for name, emphasis in EMPHASES.items() if name not in (*HEADINGS, "summary")
} | {"q": '"', "sup": "sup", "sub": "sub"}
"""By element: what is written around its words, a sign of Markdown or the name of a tag."""
ATTRIBUTE_LENGTH_MAX = 2_000
"""Maximum number of characters of an attribute that are read."""
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_NEEDS_QUOTING = re.compile(r"[\s\x00-\x1f<>()\\\x7f-\x9f\ufffe\uffff]")


def make_absolute_href(href: str, base_url: str | None) -> str:
    """Return a link target, quoted for Markdown, absolute if `base_url` is given; empty if invalid."""
    try:
        target = urljoin(base_url or "", href.strip())
        is_safe = urlsplit(target).scheme.lower() in _SCHEMES and len(target) <= ATTRIBUTE_LENGTH_MAX
    except ValueError:
        return ""
    return _NEEDS_QUOTING.sub(lambda match: quote(match[0]), target) if href.strip() and is_safe else ""
