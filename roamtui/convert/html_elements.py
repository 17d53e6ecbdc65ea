"""What the names of HTML elements say about the lines of a page."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LISTS = frozenset({"ul", "ol", "menu", "dir"})
_BLOCK_NAMES = """
table thead tbody tfoot tr td th caption colgroup address article aside blockquote body center dd
details dialog div dl dt fieldset figcaption figure footer form header hgroup hr html legend li main nav
object p pre search section summary template audio video canvas
"""
BLOCKS = frozenset(_BLOCK_NAMES.split()).union(HEADINGS, LISTS)
"""Elements that start and end a line."""
ATTRIBUTE_LENGTH_MAX = 2_000
"""Maximum number of characters of an attribute that are read."""
