"""Make the parts of an outline: entries for nodes, ranges of many nodes, and references to both.

A reference is an id, one of its pages (``07f3277d:2``), a range (``07f3277d:c2.5``), a path or a title.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from roamtui.document.document import NodeKind
from roamtui.document.library import Library, fold_name
from roamtui.outline.labels import (
    PATH_STEP,
    PLAIN_PATH_STEP,
    WHOLE_TOKENS_MAX,
    format_node_and_heading,
    format_node_title,
    has_own_text,
)
from roamtui.plain import sanitise_line, shorten
from roamtui.text import format_tokens, measure_front_matter, normalise_line_ends

LISTED_MAX = 250
"""Up to this many children of a range are listed one by one. With 64 ranges at each step, two calls lead to
any of 16,000 sections, and three to any of a million."""
_RANGE_CHILDREN_MAX = 60
"""Maximum number of children in a range. It doubles if there would be more than `_RANGES_MAX` ranges."""
_RANGES_MAX = 64
_TITLE_LENGTH_MAX = 80
_REFERENCE = re.compile(r"([0-9a-f]{8})(?::(?:(\d{1,6})|c(\d{1,6}(?:\.\d{1,6})*)))?\Z", re.ASCII)
_CANDIDATES_MAX = 20_000
_COMPARED_AT_ONCE = 1_000
"""Texts that are compared without a pause, which takes up to 5 ms."""
_ID_SCORE_MIN = 62.0
_TITLE_SCORE_MIN = 55.0
_SUGGESTED_MAX = 3
_ID_MARKS = " \t\r\n[]`\"'§"
_ID_LIKE = re.compile(r"[0-9a-f]{6,10}(?:\Z|:)", re.ASCII)
_TITLE_GOES_ON = re.compile(r"[.,:/'’-]?\w")
"""Matches after "Article 7" in "Article 70", "Article 7.1" and "Article 7-A", which it does not name."""
_NUMBERED = re.compile(r"(?:sections?|clauses?|paragraphs?|abschnitt|ziffer|§+) ?(?=\d)")
"""Words before a number that a text refers to, but that its title seldom has: "Section 2.6"."""


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """A line of an outline: a node, or a chain of nodes in which only the last one has text."""

    node_id: str
    """Id of the first node of the chain."""
    section_id: str
    """Id with which the entry is opened: that of the last node of the chain, or, if this node is a file with
    a single title, of the section with that title."""
    name: str
    """Titles of the chain, safe to display."""
    below: tuple[str, ...]
    """Ids of the children that an outline lists below it."""


def make_entry(library: Library, node_id: str) -> OutlineEntry | None:
    """Make the entry of a node, or return None if neither the node nor anything below it has text.

    A file with a single title is opened by the id of the section with that title, so that one text has one
    id. A node without own text and with a single child shares a line with that child.
    """
    first_id = node_id
    names: list[str] = []
    below: tuple[str, ...] = ()
    while True:
        names.append(format_node_and_heading(library.node(node_id), length_max=_TITLE_LENGTH_MAX))
        canonical = get_canonical_id(library, node_id)
        file = library.node(node_id).file if canonical != node_id else None
        node_id = canonical
        below = list_outline_children(library, canonical)
        if file is not None and file.sole_row:
            opening = normalise_line_ends(file.text[: file.columns.starts[file.sole_row]])
            if opening[measure_front_matter(opening) :].strip():
                below = (*file.ids[: file.sole_row], *below)
        if len(below) > 1 or not library.node(node_id).is_loaded or has_own_text(library, node_id):
            break
        if not below:
            return None
        node_id = below[0]
    return OutlineEntry(node_id=first_id, section_id=node_id, name=PLAIN_PATH_STEP.join(names), below=below)


def get_canonical_id(library: Library, node_id: str) -> str:
    """Return the id that opens a node: for a file with a single title, that of the titled section."""
    node = library.node(node_id)
    if node.kind is not NodeKind.FILE or node.file is None or node.file.sole_row is None:
        return node_id
    return node.file.ids[node.file.sole_row]


def list_roots(library: Library) -> tuple[str, ...]:
    """List the ids at the top of the outline, without preambles that are only white space."""
    title_id = library.title_id
    roots = library.children(library.root_id)
    hidden = library.root.hidden_ids
    if title_id is None:
        return tuple(root for root in roots if root not in hidden) if hidden else roots
    preambles = tuple(root for root in roots if root != title_id and root not in hidden)
    return preambles + library.children(title_id)


def list_outline_children(library: Library, section_id: str) -> tuple[str, ...]:
    """List a node's children in an outline: for a file with a single title, those of the title."""
    file = None if section_id == library.root_id else library.node(section_id).file
    if file is None:
        return library.children(section_id)
    if file.sole_row is not None:
        return file.list_children(file.sole_row)
    return file.list_children(-1)[file.head_rows :]  # without a preamble


class Reference(Struct, frozen=True, kw_only=True):
    """A parsed id from a tool call."""

    section_id: str
    page: int | None = None
    """1-based page of the section's own text."""
    steps: tuple[int, ...] = ()
    """1-based number of a range of the section's children, then of a range within that range, and so on."""


def resolve_reference(library: Library, text: str) -> Reference | None:
    """Resolve an id of any form, or what `resolve_name` accepts."""
    reference = parse_reference(text)
    if reference is None and (section_id := resolve_name(library, text)) is not None:
        reference = Reference(section_id=section_id)
    return reference


def parse_reference(text: str) -> Reference | None:
    """Parse an id of any form, or return None if `text` does not look like one."""
    match = _REFERENCE.match(text.strip(_ID_MARKS).lower())
    if match is None:
        return None
    section_id, page, steps = match.groups()
    return Reference(
        section_id=section_id,
        page=int(page) if page else None,
        steps=tuple(int(step) for step in steps.split(".")) if steps else (),
    )


def resolve_name(library: Library, text: str) -> str | None:
    """Return the only section with this title, file name or path (``guide.md > Install``), or None.

    If none has it, the first words of a title that only one section has are enough.
    """
    named = _list_named(library, text)
    return named[0] if len(named) == 1 else None


def explain_unresolved(library: Library, name: str) -> str:
    """Say how many sections have a name that does not resolve to one."""
    count = len(_list_named(library, name))
    subject = f"{count} sections are" if count > 1 else "no section is"
    rest = " …" if count > 1 and _split_name(name)[-1] not in library.ids_by_name else ""
    return f'{subject} called "{shorten(sanitise_line(name), 80)}{rest}"'


def _split_name(text: str) -> list[str]:
    return [fold_name(part) for part in text.replace(PATH_STEP, PLAIN_PATH_STEP).split(PLAIN_PATH_STEP)]


def _list_named(library: Library, text: str) -> list[str]:
    """List the sections with a title, file name or path, or else those whose title begins with these words.

    A file can be named by its path, or by the end of its path, with or without the extension.
    """
    *above, last = _split_name(text)
    names = [last]
    if last and last not in library.ids_by_name:
        starts = [last, _NUMBERED.sub("", last, count=1)]
        names = next(filter(None, (_list_titles(library, start) for start in starts)), [])
    named: dict[str, None] = {}
    for section_id in (found for name in names for found in library.ids_by_name.get(name, ())):
        # The nodes above must have the other names in this order. The iterator skips other nodes between
        # them.
        titles = iter(
            [fold_name(library.node(node_id).title) for node_id in library.node(section_id).ancestors]
        )
        if all(any(name in (title, title.rpartition(".")[0]) for title in titles) for name in above):
            named[get_canonical_id(library, section_id)] = None
    return [*named]


def _list_titles(library: Library, start: str) -> list[str]:
    """List the titles that begin with some words, folded."""
    return [name for name in library.list_names(start) if not _TITLE_GOES_ON.match(name, len(start))]


def suggest_ids(library: Library, requested: str, *, only_near: bool = False) -> tuple[str, ...]:
    """Return up to 3 ids whose digits or titles are most similar to `requested`, or `only_near` it.

    If several have the name `requested`, it returns the first of these. Digits count only if `requested` has
    about the form of an id.
    """
    if named := _list_named(library, requested):
        return tuple(named[:_SUGGESTED_MAX])
    wanted = sanitise_line(requested)[:200].strip("[]\"'` ")
    ids: list[str] = []
    titles: list[str] = []
    for document, first, end in library.iter_runs():
        last = min(end, first + _CANDIDATES_MAX - len(ids))
        ids += document.ids[first:last]
        titles += document.columns.titles[first:last]
        if len(ids) == _CANDIDATES_MAX:
            break
    by_id = _rank_similar(wanted.lower(), ids) if _ID_LIKE.match(wanted.lower()) else []
    by_title = _rank_similar(wanted, titles)
    suggested_ids = [ids[index] for index, score in by_id if score >= _ID_SCORE_MIN]
    suggested_ids += [ids[index] for index, score in by_title if score >= _TITLE_SCORE_MIN]
    if not only_near:
        suggested_ids += [ids[index] for index, _ in by_id or by_title]
    return tuple(dict.fromkeys(suggested_ids))[:_SUGGESTED_MAX]


def find_unread_pages(library: Library, query: str) -> tuple[str, ...]:
    """Return up to 3 links whose pages were not read, with titles that are most similar to `query`."""
    if not any(NodeKind.LINK in document.columns.kinds for document in library.documents):
        return ()
    links = [node_id for node_id in library.walk() if library.node(node_id).kind is NodeKind.LINK]
    unread = [node_id for node_id in links if not library.node(node_id).is_loaded]
    return tuple(
        unread[index]
        for index, _ in _rank_similar(query, [library.node(page_id).title for page_id in unread])
    )


def _rank_similar(wanted: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of up to 3 texts similar to `wanted`, best first, with scores from 0 to 100."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few questions need it

    best: list[tuple[int, float]] = []
    # In parts, because rapidfuzz lets no other thread run, such as the one that draws the screen.
    for start in range(0, len(texts), _COMPARED_AT_ONCE):
        part = texts[start : start + _COMPARED_AT_ONCE]
        score_min = best[-1][1] if len(best) == _SUGGESTED_MAX else 0.0
        ranked = process.extract(
            wanted, part, scorer=fuzz.WRatio, limit=_SUGGESTED_MAX, score_cutoff=score_min
        )
        best += [(start + index, score) for _, score, index in ranked]
        best = sorted(best, key=lambda entry: -entry[1])[:_SUGGESTED_MAX]
    return best


class ChildRanges(Struct, frozen=True):
    """The children of a section in consecutive ranges, small enough to open unless there are many."""

    library: Library
    children: tuple[str, ...]
    tokens_before: Sequence[int]
    """Cumulative tokens: for each child, those of the subtrees of all earlier children, then the total."""

    @classmethod
    def for_section(cls, library: Library, section_id: str) -> ChildRanges:
        """Make the ranges of the outline children of a section."""
        children = list_outline_children(library, section_id)
        if library.grafts or not children:
            return cls(
                library, children, [0, *accumulate(library.count_tokens(child)[1] for child in children)]
            )
        first = library.node(children[0])
        before = first.document.tokens_before
        rows = first.document.rows_by_id
        end = first.document.columns.ends[rows[children[-1]]]
        tokens_before = [before[row] - before[first.row] for row in (*map(rows.__getitem__, children), end)]
        return cls(library, children, tokens_before)

    def split(self, start: int, end: int) -> list[tuple[int, int]]:
        """Split the children from `start` up to `end` (exclusive) into at most 64 ranges."""
        size = _RANGE_CHILDREN_MAX
        tokens = WHOLE_TOKENS_MAX
        while True:
            parts: list[tuple[int, int]] = []
            position = start
            while position < end and len(parts) <= _RANGES_MAX:
                fitting = (
                    bisect_right(
                        self.tokens_before, self.tokens_before[position] + tokens, lo=position + 1, hi=end + 1
                    )
                    - 1
                )
                stop = max(position + 1, min(fitting, position + size, end))
                parts.append((position, stop))
                position = stop
            if len(parts) <= _RANGES_MAX:
                return parts or [(start, end)]
            size = size * 2
            tokens = tokens * 2

    def get_bounds(self, steps: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the start and the (exclusive) end of a range of children, or None if there is no such range.

        The first step is the number of a range of all children, from 1. The next step is the number of a
        range within that range, and so on.
        """
        start, end = 0, len(self.children)
        for step in steps:
            parts = self.split(start, end)
            if not 1 <= step <= len(parts):
                return None
            start, end = parts[step - 1]
        return start, end

    def describe(
        self, section_id: str, steps: tuple[int, ...] = (), *, title_length_max: int = 50
    ) -> list[str]:
        """Render a line for each part of a range: id, first and last title, number of sections, and size.

        Args:
            section_id: The section of the children.
            steps: The range to split; see `get_bounds`.
            title_length_max: Maximum length of each of the two titles, in characters. If it is 0, they are
                left out.
        """
        bounds = self.get_bounds(steps)
        lines = []
        for number, (start, end) in enumerate(self.split(*bounds) if bounds is not None else (), start=1):
            ends = [self.library.node(self.children[index]) for index in dict.fromkeys((start, end - 1))]
            names = (
                [format_node_title(node, length_max=title_length_max) for node in ends]
                if title_length_max
                else []
            )
            count = f"{end - start} section{'s' if end - start > 1 else ''}"
            size = f"({count}, {format_tokens(self.tokens_before[end] - self.tokens_before[start])})"
            reference = f"{section_id}:c{'.'.join(map(str, (*steps, number)))}"
            if end - start == 1:
                reference = get_canonical_id(self.library, self.children[start])
            lines.append(" ".join((f"- [{reference}]", *([" … ".join(names)] if names else []), size)))
        return lines
