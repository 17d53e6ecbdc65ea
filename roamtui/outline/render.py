"""Render the outline that a model reads: lines for the most useful sections, within a budget.

A line has a title, then the titles below it, or the section's first words if its title is vague. The titles
below help most (measured over 220 pages).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count, takewhile
from string import ascii_lowercase

from msgspec import Struct, field

from roamtui.document.clauses import parse_clause_number
from roamtui.document.document import LISTED, NodeKind
from roamtui.document.library import Library, Node
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.outline.labels import (
    OPENING_LENGTH,
    escape,
    extract_opening_words,
    format_library_title,
    format_node_title,
    format_size,
    has_own_text,
)
from roamtui.outline.structure import (
    ChildRanges,
    OutlineEntry,
    list_outline_children,
    list_roots,
    make_entries,
)
from roamtui.text import ROMAN_NUMERALS, estimate_tokens, shorten

OUTLINE_TOKENS = 700
"""Default budget. In a test, a longer outline led to the same answers and made each request more expensive.
Search results use tokens better: five more results answer 4 % more questions in one step."""
_PAGED_OUTLINE_TOKENS = 1_000
"""Default budget for a document with pages. It is enough for every Item and statement of an annual report."""
_LIBRARY_SHARE = 0.12
_OUTLINE_TOKENS_MIN = 400
_ROOT_TOKENS = 26
"""Tokens of a top line with a short name. The default budget grows to name all top nodes."""
_ROOTS_TOKENS_MAX = 1_450
"""Enough for all ranges without titles. If they did not fit, the model would need a call to list them."""
_NAME_LENGTHS = (240, 60, 24)
"""Maximum lengths of a name at the top, in characters, tried in this order until every node has a line."""
_LEGEND = (
    '"[id] title (tokens)" can be opened; "(300 of 12k)": its own text, and with all below; '
    '"list": opening it lists what is below; after a colon: what is in it.'
)
_LINE_TOKENS_MIN = 9
_RANGE_TITLE_LENGTHS = (50, 24, 12, 0)
"""Maximum lengths of a title in a range, in characters, tried in this order until the lines fit."""
_RANGE_TITLE_LENGTHS_BELOW = (24, 0)
_PREVIEW_LENGTH, _PREVIEW_LENGTH_MAX = 160, 560
"""Usual and maximum length of a preview, in characters. The financial statements of a report fit."""
_CHARACTERS_PER_TOKEN = 4
_RANGES_SHARE = 0.6
"""Share of a list below a section that is reserved for ranges, so that one more call leads anywhere."""
_RANGE_CHILDREN = 40
"""Average number of children in a range."""
_ASSUMED_PAGE_TOKENS = 1_000
"""Assumed size of a page that is not loaded."""
_EXPANDED_TOKENS_MIN = 300
"""A node with fewer tokens is opened whole, so lines for its parts would save nothing."""
_PREVIEW_READ_MAX, _PREVIEW_TITLES_MAX = 400, 60
"""Maximum number of titles that are read for a preview, and of titles that it may list."""
_PREVIEW_TITLE_LENGTH_MAX = 60
_GENERIC_TITLE_NAMES = """
about advanced appendix background basics changes conclusion configuration contents details
description discussion example examples exceptions faq features further general getting-started
guide help info information introduction intro miscellaneous misc more next-steps note notes options
other other-changes overview parameters preface questions reading reference references related
remarks requirements resources returns see-also setup summary synopsis terms tips usage whats-new
"""
_GENERIC_TITLES = frozenset(("", *_GENERIC_TITLE_NAMES.split()))
_NUMBERS = frozenset((*ascii_lowercase, *ROMAN_NUMERALS))
_NOT_LETTER = re.compile(r"[^\w\s]|[\d_]")
_SEPARATORS = " \t:\uff1a-\u2013\u2014|>\u2192,;."


# The questions of a conversation need the same one or two outlines, which take 45 ms each for 2,000 files.
# The cache keeps their libraries in memory.
@lru_cache(maxsize=2)
def compute_outline_budget(library: Library, tokens_max: int | None) -> int:
    """Compute the budget of an outline in tokens: at most `tokens_max`, and 12 % of the library (or 400).

    Many top nodes raise the default budget, so that each has a line. `tokens_max` is what a request has room
    for, or None if the model's context window is not known.
    """
    tokens = _PAGED_OUTLINE_TOKENS if library.root.page_starts else OUTLINE_TOKENS
    for_roots = len(list_roots(library)) * _ROOT_TOKENS
    budget = max(tokens, min(for_roots, _ROOTS_TOKENS_MAX))
    budget = min(budget, max(_OUTLINE_TOKENS_MIN, int(library.tokens * _LIBRARY_SHARE)))
    return budget if tokens_max is None else min(budget, tokens_max)


@lru_cache(maxsize=2)
def render_outline(library: Library, *, budget_tokens: int | None = None) -> str:
    """Return the outline of a library as text, including the nodes that are not loaded yet.

    The outline does not depend on which sections are open. The default budget fits any context window.
    """
    if not library.root.columns.kinds:
        return "(The document is empty.)\n"
    title_id = library.title_id
    roots = list_roots(library)
    outside: tuple[str, ...] = ()
    if title_id is None:
        name = format_library_title(library)
    else:
        node = library.node(title_id)
        name = f"[{title_id}] {format_node_title(node)} ({format_size(library, title_id)})"
        # the roots outside the title come first
        outside = tuple(takewhile(lambda root: library.node(root).parent is None, roots))
    head = [f"Outline of {name}", _LEGEND]
    budget = compute_outline_budget(library, None) if budget_tokens is None else budget_tokens
    parent_id = title_id or library.root_id
    left = budget - _estimate_lines(head)
    lines = fill_lines(library, roots, left, parent_id=parent_id, outside_parent=outside, is_below=False)
    return "\n".join([*head, *(lines or ["(Nothing in it has text.)"])]) + "\n"


def _estimate_lines(lines: Iterable[str]) -> int:
    return sum(estimate_tokens(line) + 1 for line in lines)


def fill_lines(
    library: Library,
    node_ids: Sequence[str],
    budget_tokens: int,
    *,
    parent_id: str,
    outside_parent: Sequence[str] = (),
    is_below: bool = True,
) -> list[str]:
    """Render lines for the nodes that have text, and for the most useful nodes below.

    If the nodes do not fit, render those `outside_parent`, which are not below `parent_id`, and then ranges
    of the children of `parent_id`. If not even these fit, one line stands for the whole library.
    """
    outline = _Outline(library=library, tokens_left=budget_tokens, is_below=is_below)
    for length_max in _NAME_LENGTHS:
        lines = outline.list_lines(node_ids, depth=0, name_length_max=length_max)
        if lines is not None:
            break
    else:
        return _render_ranges(outline, parent_id, outside_parent)
    outline.add_lines_below(lines)
    outline.add_previews(lines)
    return list(_render(lines))


class _OutlineLine(Struct, eq=False):
    entry: OutlineEntry
    node: Node
    tokens: int
    """Tokens of its subtree."""
    depth: int
    text: str
    is_vague: bool = False
    """Whether its title says nothing about its content, or another section on its level has it too."""
    below: list[_OutlineLine] = field(default_factory=list)
    rest: str = ""
    """Lines for ranges of the nodes below it, if these have no lines of their own."""


class _Outline(Struct):
    library: Library
    tokens_left: int
    is_below: bool
    """Whether it lists only the nodes below a section. One more call must then lead to each of them."""

    def list_lines(
        self, node_ids: Sequence[str], depth: int, *, name_length_max: int = _NAME_LENGTHS[0]
    ) -> list[_OutlineLine] | None:
        """Make a line for each node with text, and subtract their tokens; None if they do not fit."""
        if len(node_ids) * _LINE_TOKENS_MIN > self.tokens_left:
            return None
        entries = make_entries(self.library, node_ids)
        lines = [self._make_line(entry, depth, name_length_max) for entry in entries]
        cost = _estimate_lines(line.text for line in lines)
        if cost > self.tokens_left:
            return None
        self.tokens_left -= cost
        titles = Counter(_strip_number(line.node.title) for line in lines)
        for line in lines:
            is_repeated = titles[_strip_number(line.node.title)] > 1
            is_section = line.node.kind is NodeKind.SECTION
            line.is_vague = is_section and (is_repeated or _is_generic(line.node.title))
        return lines

    def _make_line(self, entry: OutlineEntry, depth: int, name_length_max: int) -> _OutlineLine:
        node = self.library.node(entry.section_id)
        name = shorten(entry.name, name_length_max)
        text = f"{'  ' * depth}- [{entry.section_id}] {name} ({format_size(self.library, node.id)})"
        return _OutlineLine(entry, node, self.library.count_tokens(node.id)[1], depth, text)

    def add_lines_below(self, roots: Sequence[_OutlineLine]) -> None:
        """Add lines below these while they fit: first below folders, then below large nodes near the top."""
        queue: list[tuple[tuple[bool, bool, float], int, _OutlineLine]] = []
        order = count()

        def push(lines: Sequence[_OutlineLine]) -> None:
            for line in lines:
                if (rank := self._rank_line(line)) is not None:
                    heappush(queue, (rank, next(order), line))

        push(roots)
        reserved = int(_RANGES_SHARE * self.tokens_left)
        if not self.is_below:  # every large node at the top gets a preview
            previews = sum(self._rank_line(root) is not None for root in roots) * _PREVIEW_LENGTH
            reserved = min(self.tokens_left, previews // _CHARACTERS_PER_TOKEN)
        self.tokens_left -= reserved
        partial: list[_OutlineLine] = []
        while queue:
            (_, is_later, _), _, line = heappop(queue)
            if is_later and reserved:
                self.tokens_left += reserved
                reserved = 0
                self._add_ranges(partial)
                partial = []
            below = self.list_lines(line.entry.below, line.depth + 1)
            if below is not None:
                line.below = below
                push(below)
            elif self.is_below:
                partial.append(line)
        self.tokens_left += reserved
        self._add_ranges(partial)

    def _rank_line(self, line: _OutlineLine) -> tuple[bool, bool, float] | None:
        """Return a sort key, lowest for the most useful line to expand, or None if expanding is useless."""
        below = map(self.library.node, line.entry.below[:_RANGE_CHILDREN])
        unread = sum(not node.is_loaded for node in below)
        tokens = line.tokens + unread * _ASSUMED_PAGE_TOKENS  # the size of an unread page is unknown
        if not line.entry.below or tokens < _EXPANDED_TOKENS_MIN:
            return None
        worth = tokens / (line.depth + 1)
        return line.node.kind is not NodeKind.FOLDER, self.is_below and tokens <= WHOLE_TOKENS_MAX, -worth

    def _add_ranges(self, lines: Sequence[_OutlineLine]) -> None:
        """Add ranges of the nodes below each line while they fit. Each range can be opened whole."""
        for line in lines:
            ranges = ChildRanges.for_section(self.library, line.entry.section_id)
            if ranges.children != line.entry.below:
                continue  # the line also lists nodes that are not children of the section
            for length_max in _RANGE_TITLE_LENGTHS_BELOW:
                described = ranges.describe(line.entry.section_id, title_length_max=length_max)
                cost = _estimate_lines(described)
                if cost <= self.tokens_left and len(described) > 1:
                    self.tokens_left -= cost
                    line.rest = "\n".join(f"{'  ' * (line.depth + 1)}{text}" for text in described)
                    break

    def add_previews(self, roots: Sequence[_OutlineLine]) -> None:
        """Add previews to lines without lines below, largest first: a summary, titles, or first words.

        Each gets the usual length, or a share of the remaining tokens by its node's size if that is more.
        """
        leaves: list[_OutlineLine] = []
        pending = [*reversed(roots)]
        while pending:
            line = pending.pop()
            pending += reversed(line.below)
            if not line.below and not line.rest:
                leaves.append(line)
        leaves.sort(key=lambda line: -line.tokens)
        unseen_tokens = sum(line.tokens for line in leaves)
        for line in leaves:
            share = self.tokens_left * line.tokens // max(1, unseen_tokens)
            unseen_tokens -= line.tokens
            fair_length = max(_PREVIEW_LENGTH, _CHARACTERS_PER_TOKEN * share)
            length_max = min(fair_length, _PREVIEW_LENGTH_MAX, _CHARACTERS_PER_TOKEN * self.tokens_left)
            preview = self._make_preview(line, length_max)
            cost = estimate_tokens(preview) + 1
            if preview and cost <= self.tokens_left:
                self.tokens_left -= cost
                line.text = f"{line.text}: {preview}"

    def _make_preview(self, line: _OutlineLine, length_max: int) -> str:
        if summary := self.library.summary(line.entry.node_id) or self.library.summary(line.entry.section_id):
            return shorten(escape(summary), length_max)
        if line.entry.below:
            return _preview_titles_below(self.library, line.node, length_max=length_max)
        if line.node.kind is NodeKind.LINK and not line.node.is_loaded:
            note = extract_opening_words(self.library, line.node.id, length_max=length_max)
            return note.removeprefix(format_node_title(line.node)).strip(_SEPARATORS)
        if line.is_vague and line.node.is_loaded:
            length_max = min(OPENING_LENGTH, length_max)
            return extract_opening_words(self.library, line.node.id, length_max=length_max)
        return ""


def _render(lines: Sequence[_OutlineLine]) -> Iterator[str]:
    for line in lines:
        yield line.text
        yield from _render(line.below)
        if line.rest:
            yield line.rest


def _render_ranges(outline: _Outline, parent_id: str, outside_parent: Sequence[str]) -> list[str]:
    library = outline.library
    entries = make_entries(library, outside_parent)
    named = [
        f"- [{entry.section_id}] {entry.name} ({format_size(library, entry.section_id)})" for entry in entries
    ]
    ranges = ChildRanges.for_section(library, parent_id)
    for title_length_max in _RANGE_TITLE_LENGTHS:
        lines = [*named, *ranges.describe(parent_id, title_length_max=title_length_max)]
        if _estimate_lines(lines) <= outline.tokens_left:
            return lines
    if outline.is_below:
        return ranges.describe(parent_id, title_length_max=0)
    return [*named, f"- [{parent_id}] all {library.section_count} sections, listed when it is opened"]


def _is_generic(title: str) -> bool:
    """Return whether a title says nothing about the content, such as "FAQ", "2.1" or "Other changes"."""
    return _strip_number(title).replace(" ", "-") in _GENERIC_TITLES


def _strip_number(title: str) -> str:
    """Return the words of a title in small letters without its numbers: "Article IV." is "article"."""
    words = _NOT_LETTER.sub("", title.lower()).split()
    return " ".join(word for word in words if word not in _NUMBERS)


def _preview_titles_below(library: Library, parent: Node, *, length_max: int) -> str:
    """List the titles below a node on one line, and how many are left out. Vague titles come last."""
    children = list_outline_children(library, parent.id)
    read = map(library.node, children[:_PREVIEW_READ_MAX])
    # "2. Fees" and titles without a number come before "2.1 Fees"
    by_depth = sorted(read, key=lambda node: max(1, len(parse_clause_number(node.title))))
    headings = by_depth[:_PREVIEW_TITLES_MAX]
    titled = [
        node
        for node in headings
        if node.title
        and (node.has_children or has_own_text(library, node.id) or len(parse_clause_number(node.title)) == 1)
    ]
    titled.sort(key=lambda node: node.kind not in LISTED and _is_generic(node.title))
    titles = dict.fromkeys(format_node_title(node, length_max=_PREVIEW_TITLE_LENGTH_MAX) for node in titled)
    total = len(children) - len(titled) + len(titles)
    kept: list[str] = []
    for title in titles:
        if kept and len("; ".join([*kept, title])) > length_max:
            break
        kept.append(shorten(title, length_max))
    if kept and total > len(kept):
        kept.append(f"+{total - len(kept)}")
    return "; ".join(kept)
