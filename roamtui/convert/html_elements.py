"""What the names of HTML elements say about the lines of a page, and where its links lead."""

import re
from urllib.parse import quote, urljoin, urlsplit

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LISTS = frozenset({"ul", "ol", "menu", "dir"})
_BLOCK_NAMES = """
table thead tbody tfoot tr td th caption colgroup address article aside blockquote body center dd
details dialog div dl dt fieldset figcaption figure footer form header hgroup hr html legend li main nav
object p pre search section summary template audio video canvas
"""
BLOCKS = frozenset(_BLOCK_NAMES.split()).union(HEADINGS, LISTS)
"""Elements that start and end a line."""
MARKS_BY_NAME = {
    **dict.fromkeys(("b", "strong", "dt"), "**"),
    **dict.fromkeys(("i", "em", "cite", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "`"),
    "q": '"',
    "sup": "sup",
    "sub": "sub",
}
"""What is written around the words of an element: a sign of Markdown, or the name of a tag."""
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
