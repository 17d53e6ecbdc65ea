"""Format the parts of a line in an outline: title, size and opening words of a node, all escaped."""

import posixpath
import re
from functools import lru_cache

from msgspec.structs import replace

from roamtui.document.document import LOADED_ON_DEMAND, NodeKind
from roamtui.document.library import Library, Node
from roamtui.markdown.units import UnitKind, read_units
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.outline.ids import disguise_id_marks
from roamtui.sanitiser import sanitise_line
from roamtui.text import Span, compute_body_start, format_tokens, normalise_letters, shorten

TITLE_LENGTH_MAX = 120
PATH_STEP = " › "
"""Separates the titles of a path for a person."""
PLAIN_PATH_STEP = " > "
"""Separates the titles of a path for a model, and where a person can type or copy it."""
_PATH_TITLE_LENGTH_MAX = 60
UNTITLED = "(untitled)"
OPENING_LENGTH = 100
_OPENING_SCANNED_LENGTH = 4_000
"""Number of characters of a node's own text that are searched for opening words."""
_OPENING_KINDS = (UnitKind.PARAGRAPH, UnitKind.ITEM, UnitKind.CODE)
_HEADING = re.compile(
    r"\s*#{1,6}(?:[ \t][^\r\n]*)?(?:\r\n?|\n|\Z)"
    r"|(?:[^\r\n]*(?:\r\n?|\n))+?[ \t]*(?:=+|-+)[ \t]*(?:\r\n?|\n|\Z)"
)
"""The heading at the start of a section's own text: a line with number signs, or lines above an underline."""


def escape(text: str) -> str:
    """Escape text as one line that cannot be mistaken for an id of this program."""
    return disguise_id_marks(sanitise_line(text))


def format_node_title(node: Node, *, length_max: int = TITLE_LENGTH_MAX) -> str:
    """Format the title of a node. If it has none, return words that replace it."""
    title = node.title
    if not title and node.kind is NodeKind.PREAMBLE:
        return "(opening text)"
    return _format_title(title, length_max)


def make_path(node: Node) -> tuple[str, ...]:
    """Return the titles down to a node. In place of an empty title are the words that the outline shows."""
    *above, title = node.path
    return (*(name or UNTITLED for name in above), title or format_node_title(node))


def format_library_title(library: Library) -> str:
    """Format the title of a library that is not also the title of one of its sections."""
    return shorten(escape(library.title), TITLE_LENGTH_MAX)


def format_node_and_heading(node: Node, *, length_max: int = TITLE_LENGTH_MAX) -> str:
    """Format a node's title. For a file, add the title of its text, unless the file's name has its words."""
    name = format_node_title(node, length_max=length_max)
    file = node.file if node.kind is NodeKind.FILE else None
    if file is None or file.sole_row is None:
        return name
    title = shorten(escape(file.columns.get_shown_title(file.sole_row)), length_max)
    words, stem = map(normalise_letters, (title, posixpath.splitext(node.title)[0]))
    return name if not words or words in stem else f"{name}: {title}"


@lru_cache(maxsize=8_192)  # an outline names most titles several times
def _format_title(title: str, length_max: int) -> str:
    return shorten(escape(title), length_max) or UNTITLED


def format_line_range(library: Library, span: Span) -> str:
    """Format the line numbers of a span. If the document has pages, the page numbers come first."""
    first, last, page, last_page, _ = library.get_line_range(span)
    lines = f"lines {first}-{last}"
    if page is None:
        return lines
    return f"p. {page}, {lines}" if page == last_page else f"p. {page}-{last_page}, {lines}"


def format_path(library: Library, section_id: str) -> str:
    """Join the titles from the top down to a node with ``>``."""
    return PLAIN_PATH_STEP.join(list_titles(library, section_id))


def list_titles(library: Library, section_id: str) -> list[str]:
    """List the titles from the top down to a node, without a title that repeats the one before."""
    names: list[str] = []
    words_before = ""
    for node_id in (*library.node(section_id).ancestors, section_id):
        node = library.node(node_id)
        name = format_node_title(node, length_max=80)
        words = normalise_letters(posixpath.splitext(name)[0] if node.kind is NodeKind.FILE else name)
        if not words or words != words_before:
            names.append(name)
        words_before = words
    return names


def split_titles(library: Library, section_id: str) -> tuple[str, list[str]]:
    """Return the name of a section's document, and the titles below it as `list_titles` does.

    The name is the path of a file or the title of a page. It is empty if the library is a single document.
    """
    titles = list_titles(library, section_id)
    for node_id in (section_id, *reversed(library.node(section_id).ancestors)):
        node = library.node(node_id)
        if node.kind in LOADED_ON_DEMAND:
            name = escape(node.doc) if node.kind is NodeKind.FILE else format_node_title(node)
            return name, titles[len(list_titles(library, node_id)) :]
    return "", titles


def format_size(library: Library, section_id: str) -> str:
    """Format the tokens that a model gets when it opens a node, and its subtree's tokens if there are more.

    Examples are ``120``, ``300 of 12k``, and ``list of 12k`` if the node gives only titles.
    """
    node = library.node(section_id)
    own_tokens, all_tokens = library.count_tokens(section_id)
    tokens = format_tokens(all_tokens)
    if not node.is_loaded:
        if node.kind is NodeKind.LINK:
            return "page, not fetched" if node.problem else "page"
        return "could not be read" if node.problem else "not loaded"
    if node.file is not None:
        own_tokens = node.file.tokens_before[node.file.lead_row_count]
    if own_tokens >= all_tokens or all_tokens <= WHOLE_TOKENS_MAX:
        return tokens
    opened = format_tokens(own_tokens) if has_own_text(library, section_id) else "list"
    return f"{opened} of {tokens}"


def has_own_text(library: Library, section_id: str) -> bool:
    """Return whether the own text of a node contains more than white space, its heading and front matter."""
    node = library.node(section_id)
    if node.kind is NodeKind.FOLDER:
        return False
    text = library.text_at(node.own_span)
    if node.kind is NodeKind.PREAMBLE:
        return bool(text[compute_body_start(text) :].strip())
    return bool((strip_heading(text) if node.kind is NodeKind.SECTION else text).strip())


def strip_heading(own_text: str) -> str:
    """Return the text of a section below its heading."""
    heading = _HEADING.match(own_text)
    return own_text if heading is None else own_text[heading.end() :]


def extract_opening_words(library: Library, section_id: str, *, length_max: int = OPENING_LENGTH) -> str:
    """Return a node's summary, or the first words of its own text, without pictures and tables.

    They may be empty. For a file with a single title, they come from the section with that title.
    """
    if summary := library.summary(section_id):
        return shorten(escape(summary), length_max)
    node = library.node(section_id)
    if node.file is not None and node.file.sole_row is not None:
        node = library.node(node.file.ids[node.file.sole_row])
    span = node.own_span
    text = library.clean_text(replace(span, end=min(span.end, span.start + _OPENING_SCANNED_LENGTH)))
    lines = (unit.words for unit in read_units(text).units if unit.kind in _OPENING_KINDS)
    return shorten(escape(next(filter(str.strip, lines), "")), length_max)


def format_short_path(library: Library, section_id: str) -> str:
    """Format the title of a section after the title of its file or page, or else of the section above it.

    The folders of a file precede its name, because many folders have an `index.md`.
    """
    node = library.node(section_id)
    above = [library.node(above_id) for above_id in node.ancestors if above_id != library.title_id]
    files = [other for other in above if other.kind in LOADED_ON_DEMAND]
    folders = [other for other in above if other.kind is NodeKind.FOLDER]
    titles = [
        format_node_title(shown, length_max=_PATH_TITLE_LENGTH_MAX)
        for shown in (*(files or above)[-1:], node)
    ]
    if files and folders:
        names = (format_node_title(folder, length_max=_PATH_TITLE_LENGTH_MAX) for folder in folders)
        titles[0] = "/".join((*names, titles[0]))
    return PLAIN_PATH_STEP.join(titles)
