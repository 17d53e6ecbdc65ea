"""How one node is named on a line of the outline: title, size, opening words, all defused."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from roamtui.document.lines import normalise_line_ends
from roamtui.document.node import Heading, Node, NodeKind
from roamtui.document.plain import plain_line, shorten
from roamtui.document.titles import strip_anchor
from roamtui.document.tokens import format_tokens

if TYPE_CHECKING:
    from roamtui.document.library import Library

TITLE_LENGTH_MAX = 120
OPENING_LENGTH = 100
_OPENING_SOURCE = 4_000
"""Characters of own text in which an opening is looked for."""

_COMMENT_MARKS = re.compile(r"<!--+|--+>")
_HARMLESS = re.compile(r"[\w.,:;!?'\"()/&+*=%$@`~-]+(?: [\w.,:;!?'\"()/&+*=%$@`~-]+)*")
"""Words with single spaces between them and none of the marks that comments and ids are made of: most titles."""
_GUIDE_WORDS = re.compile(r"expand_sections\s*\(")
_ID_MARK = re.compile(
    r"\[([\s\"'`§]*[0-9a-f]{8}(?::[c\d.]+)?[\s\"'`]*(?:[,;][^\[\]]*)?)\]",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_SKIPPED_LINE = re.compile(
    r"^\s*(?:$|[|=_~`:+-]{3}|\|[\s:|-]+\|?\s*$|<[^>]+>\s*$|!\[[^\]]*\]\([^)]*\)\s*$|\[!\["
    r"|```|~~~|import |export |:::|\{%)"
)
_FRONT_LINE = re.compile(r"^[\w-]+:(\s|$)")
_LEAD = re.compile(r"^\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+)+")
_EMPHASIS = re.compile(r"\*\*|__|`")
_NO_WORD = re.compile(r"[\W_]+")
_ATX_START = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")


def defuse(text: str) -> str:
    """Return one line of document text that can be taken neither for a guiding comment nor for an id of ours."""
    if _HARMLESS.fullmatch(text) and "expand_sections" not in text.lower():
        return text
    line = _COMMENT_MARKS.sub("<>", plain_line(text))
    line = _GUIDE_WORDS.sub("expand sections (", line)
    return _ID_MARK.sub(r"(\1)", line)


def name_node(node: Node | Heading, *, length_max: int = TITLE_LENGTH_MAX) -> str:
    """Return the title of a node for a line, with words in its place where it has none."""
    if node.kind is NodeKind.PREAMBLE:
        return "(text before the first heading)"
    return shorten(strip_anchor(defuse(node.title)), length_max) or "(untitled)"


def name_shown(library: Library, node: Node | Heading, *, length_max: int = TITLE_LENGTH_MAX) -> str:
    """Return the title of a node for a line; of a file also that of its text, where the name does not say it."""
    name = name_node(node, length_max=length_max)
    file = library.file(node.id) if node.kind is NodeKind.FILE else None
    if file is None or file.sole_row is None:
        return name
    title = shorten(strip_anchor(defuse(file.columns.titles[file.sole_row])), length_max)
    said, stem = (_NO_WORD.sub("", text).casefold() for text in (title, node.title.rpartition(".")[0]))
    return name if not said or said in stem else f"{name}: {title}"


def name_path(library: Library, section_id: str) -> str:
    """Return the titles from the top down to a node, joined by ``>``."""
    ids = (*library.ancestors(section_id), section_id)
    return " > ".join(name_node(library.heading(node_id), length_max=80) for node_id in ids)


def describe_size(node: Node) -> str:
    """Return ``+12 subsections, ~9k tok``."""
    tokens = f"~{format_tokens(node.tokens)} tok"
    if node.descendants:
        return f"+{node.descendants} subsection{'s' if node.descendants > 1 else ''}, {tokens}"
    return tokens if node.is_loaded else _describe_unloaded(node)


def describe_size_briefly(node: Node) -> str:
    """Return ``+12, ~9k``: the same on a line of the compact form."""
    tokens = f"~{format_tokens(node.tokens)}"
    if node.descendants:
        return f"+{node.descendants}, {tokens}"
    return tokens if node.is_loaded else _describe_unloaded(node)


def _describe_unloaded(node: Node) -> str:
    return "could not be read" if node.problem else "not loaded yet"


def is_blank(library: Library, section_id: str) -> bool:
    """Return whether a node holds nothing but white space and, for a section, its heading."""
    node = library.heading(section_id)
    if node.has_more or not library.is_loaded(section_id):
        return False
    text = library.own_text(section_id)
    if node.kind is NodeKind.SECTION:
        return not find_body(text).strip()
    return not text.strip()


def find_body(own_text: str) -> str:
    """Return the text of a section below its heading line or lines."""
    first, _, rest = normalise_line_ends(own_text).partition("\n")
    if _ATX_START.match(first):
        return rest
    lines = [first, *rest.split("\n")]
    for index, line in enumerate(lines[1:], start=1):
        if line.strip() and not line.strip("= \t"):
            return "\n".join(lines[index + 1 :])
        if line.strip() and not line.strip("- \t"):
            return "\n".join(lines[index + 1 :])
    return rest


def find_opening(library: Library, section_id: str, *, length_max: int = OPENING_LENGTH) -> str:
    """Return the first words of a node's own text, without marks, rules, badges and tables; may be empty."""
    file = library.file(section_id)
    if file is not None and file.sole_row is not None:
        section_id = file.ids[file.sole_row]
    node = library.node(section_id)
    text = library.own_text(section_id)[:_OPENING_SOURCE]
    body = find_body(text) if node.kind is NodeKind.SECTION else normalise_line_ends(text)
    in_front_matter = node.kind is NodeKind.PREAMBLE and body.startswith("---")
    words: list[str] = []
    for line in islice(_COMMENT.sub("", body).split("\n"), 80):
        if _SKIPPED_LINE.match(line) or (in_front_matter and _FRONT_LINE.match(line)):
            if words and not line.strip():
                break
            continue
        words.append(_EMPHASIS.sub("", _LINK.sub(r"\1", _LEAD.sub("", line))).strip())
        if sum(map(len, words)) >= length_max:
            break
    return shorten(defuse(" ".join(words)), length_max)
