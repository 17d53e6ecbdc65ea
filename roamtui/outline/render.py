"""The outline that a model reads: one line for each section that can be opened, filled by worth up to a budget.

A line adds to its title the titles below it, or first words where the title says little alone. Titles below decide most
(measured over 220 pages); words that neighbours say too tell nothing apart, so they come last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from roamtui.document.library import Library
from roamtui.document.node import Node, NodeKind, NodeLabel
from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.text import normalise_line_ends
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import (
    EMPHASIS,
    LINK,
    TITLE_LENGTH_MAX,
    WHOLE_TOKENS_MAX,
    escape,
    extract_opening_words,
    format_node_title,
    format_size,
    has_own_text,
    is_optional,
)
from roamtui.outline.structure import ChildRanges, OutlineEntry, list_headings_below, list_roots, make_entry

OUTLINE_TOKENS = 700
"""Measured with a strong reader in the model's place: more led to the same answers and cost each request. What is saved
is better spent on search results: five more of them answer four questions in a hundred more at once."""
_PAGED_OUTLINE_TOKENS = 1_000
"""Of what has pages: so many name every Item and statement of a yearly report, which questions about it ask for."""
_DOCUMENT_SHARE = 0.12
_OUTLINE_TOKENS_MIN = 400
_WINDOW_SHARE = 0.1
"""Outline, what search finds and what is opened at once may have a quarter of the window together."""
_ROOT_TOKENS = 26
"""Of a line with a short name. A few more tokens are better spent than ranges of top chapters that nobody can tell
apart."""
_ROOTS_TOKENS_MAX = 1_450
"""As many ranges as there may be, without titles, take less: without them a call would be needed to list them."""
_NAME_LENGTHS = (240, 60, 24)
"""Characters of names at the top, tried in this order until all have a line."""
_LEGEND = (
    '"[id] title (tokens)" can be opened; "(300 of 12k)": its own text, and with all below; '
    '"list": opening it lists what is below; after a colon: what is in it.'
)
_LINE_TOKENS_MIN = 9
_RANGE_TITLE_LENGTHS = (50, 24, 12, 0)
"""Characters of titles in ranges, tried in this order until the budget holds."""
_RANGE_LENGTHS_BELOW = (24, 0)
_PREVIEW_LENGTHS = (10_000, 160, 60)
"""Characters of the titles below a line that stands alone: what all take, usual, and where there is little room."""
_PREVIEW_WHOLE_MAX = 560
"""Characters in which all titles are named, the financial statements of a report for one."""
_LIST_SHARE_MAX = 0.25
"""Of its text, that a heading at the top has itself at most to be a mere list, such as a part of a book or a filing."""
_PREVIEW_TOKENS_MIN = 12
_PREVIEW_SHARE = 0.3
"""Of the room beside the lines at the top, kept to say what is in lines that stand alone: titles alone cost a third."""
_PART_SHARE = 0.5
"""Of the room that is left, for lines of a node of which not all can have one."""
_PART_LINES_MIN = 4
_PART_SHARE_MIN = 0.3
"""Of all text, that a section must hold to have lines for its largest parts before smaller sections have any."""
_RANGES_SHARE = 0.6
"""Of the room of a list below a section, kept for ranges of what is large: another call shall lead to any part."""
_LARGEST_OF_MAX = 2_000
_RANGES_OF = 40
"""Nodes in the place of one of which a range may stand, on average."""
_PAGE_TOKENS = 1_000
_WORTH_MIN = 300
"""Tokens; a smaller node is opened as a whole, so that lines for its parts save nothing."""
_PLACES = (NodeKind.FILE, NodeKind.FOLDER)
_TITLES_MAX = 60
_TITLE_LENGTH = 60
"""Characters of a title below a line."""
_SHARED_MIN = 2
"""Neighbours that must have a title below them before it tells none of them apart."""
_NOTE_SOURCE = 2_000
_GENERIC = frozenset(
    {
        *("about", "advanced", "appendix", "background", "basics", "changes", "conclusion", "configuration"),
        *("contents", "details", "description", "discussion", "example", "examples", "exceptions", "faq", "features"),
        *("further", "general", "getting-started", "guide", "help", "info", "information", "introduction", "intro"),
        *("miscellaneous", "misc", "more", "next-steps", "note", "notes", "options", "other", "other-changes"),
        *("overview", "parameters", "preface", "questions", "reading", "reference", "references", "related"),
        *("remarks", "requirements", "resources", "returns", "see-also", "setup", "summary", "synopsis", "terms"),
        *("tips", "usage", "whats-new"),
    }
)
LIMITING = re.compile(
    r"(?i)\b(?:but not|caveats?|exceptions?|exclusions?|except|limits?|limitations?|restrictions?"
    r"|unless|warnings?|ausnahmen?|grenzen|einschränkungen)\b"
)
"""Titles of sections that limit what stands beside them: an answer without them is wrong."""
_OPENING_SOURCE = 600
_OPENING_LENGTH = 80
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_DEFINES = re.compile(r"^(?:An?|The|[A-Z`\"]\S*)(?:\s+\S+){0,5}?\s+(?:is|are|means|refers to|defines|denotes)\s")
_NO_LETTER = re.compile(r"[^\w\s]|[\d_]")
_ENUMERATOR = re.compile(r"(?:[ivxlcdm]+|[a-z])\Z")
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_ADDRESS = re.compile(r"<?https?://[^\s>]+>?")
_BETWEEN = " \t:\uff1a-\u2013\u2014|>\u2192,;."


def compute_outline_budget(library: Library, window_tokens: int | None, *, tokens: int | None = None) -> int:
    """Return the budget of an outline in tokens.

    Args:
        library: What is outlined; of a small one the outline may have a quarter of what it has.
        window_tokens: The model's context window, None where that is unknown.
        tokens: What it may have at most; None for what serves best.
    """
    tokens = tokens or (_PAGED_OUTLINE_TOKENS if library.root.page_starts else OUTLINE_TOKENS)
    for_roots = len(list_roots(library)) * _ROOT_TOKENS
    budget = max(tokens, min(for_roots, _ROOTS_TOKENS_MAX))
    budget = min(budget, max(_OUTLINE_TOKENS_MIN, int(library.tokens * _DOCUMENT_SHARE)))
    return budget if window_tokens is None else min(budget, int(window_tokens * _WINDOW_SHARE))


def render_outline(library: Library, *, budget_tokens: int | None = None) -> str:
    """Return the outline of a library.

    It depends on the library and the budget alone, never on what is open.

    Args:
        library: What is outlined; nodes that are not loaded yet are lines too.
        budget_tokens: Estimated tokens that the text may have, None for what a model of any window is given.
    """
    if not len(library):
        return "(The document is empty.)\n"
    title_id = library.title_id()
    roots = list_roots(library)
    beside: tuple[str, ...] = ()
    if title_id is None:
        name = shorten(escape(library.title), TITLE_LENGTH_MAX)
    else:
        node = library.node(title_id)
        name = f"[{title_id}] {format_node_title(node)} ({format_size(library, node)})"
        beside = tuple(root for root in roots if library.parent(root) is None)
    head = [f"Outline of {name}", _LEGEND]
    budget = compute_outline_budget(library, None) if budget_tokens is None else budget_tokens
    left = budget - _estimate_lines(head)
    lines = fill_lines(library, roots, left, parent_id=title_id or library.root_id, beside=beside, is_whole=True)
    return "\n".join([*head, *(lines or ["(Nothing in it has text.)"])]) + "\n"


def _estimate_lines(lines: Iterable[str]) -> int:
    """Return the estimated tokens of some lines with their ends."""
    return sum(estimate_tokens(line) + 1 for line in lines)


def fill_lines(
    library: Library,
    node_ids: Sequence[str],
    budget_tokens: int,
    *,
    parent_id: str,
    beside: Sequence[str] = (),
    is_whole: bool = False,
) -> list[str]:
    """Return lines for nodes and for what is worth most below them; ranges where the nodes do not fit.

    Args:
        library: Holds the nodes.
        node_ids: Each that holds anything gets a line.
        budget_tokens: Estimated tokens of all lines.
        parent_id: What they stand below, whose ranges take their place.
        beside: Those of them that stand elsewhere.
        is_whole: Whether they are all there is, so that one id of them all will do where even ranges do not fit.
    """
    outline = _Outline(library=library, left=budget_tokens, is_below=not is_whole)
    for length_max in _NAME_LENGTHS:
        lines = outline.list_lines(node_ids, depth=0, name_length_max=length_max)
        if lines is not None:
            break
    else:
        return _list_ranges(outline, node_ids, parent_id, beside)
    reserve = int(outline.left * _PREVIEW_SHARE) if is_whole else 0
    outline.left -= reserve
    outline.deepen(lines)
    outline.left += reserve
    outline.preview(lines)
    return list(_render(lines))


@dataclass(slots=True, eq=False)
class _Line:
    entry: OutlineEntry
    node: Node
    depth: int
    text: str
    below: list[_Line] = field(default_factory=list)
    rest: str = ""
    """Names of what stands below it without lines of their own."""


@dataclass(slots=True)
class _Outline:
    library: Library
    left: int
    """Tokens of the budget that are not spent yet."""
    is_below: bool
    """Whether it lists what stands below a section, of which another call shall lead to any part."""

    def list_lines(
        self, node_ids: Sequence[str], depth: int, *, name_length_max: int = _NAME_LENGTHS[0]
    ) -> list[_Line] | None:
        """Return a line for each node that holds anything and take their room, None where they do not fit."""
        if len(node_ids) * _LINE_TOKENS_MIN > self.left:
            return None
        entries = (make_entry(self.library, node_id) for node_id in node_ids)
        lines = [self._make_line(entry, depth, name_length_max) for entry in entries if entry is not None]
        cost = _estimate_lines(line.text for line in lines)
        if cost > self.left:
            return None
        self.left -= cost
        return lines

    def _make_line(self, entry: OutlineEntry, depth: int, name_length_max: int = _NAME_LENGTHS[0]) -> _Line:
        node = self.library.node(entry.section_id)
        name = shorten(entry.name, name_length_max)
        text = f"{'  ' * depth}- [{entry.section_id}] {name} ({format_size(self.library, node)})"
        if not entry.below and node.is_loaded and node.kind is NodeKind.SECTION and is_generic(node.title):
            opening = preview_opening(self.library, node)
            text = f"{text}: {opening}" if opening else text
        return _Line(entry, node, depth, text)

    def deepen(self, roots: Sequence[_Line]) -> None:
        """List what stands below lines, all folders first, then what is large and not deep, while there is room."""
        queue: list[tuple[tuple[bool, bool, float], int, _Line]] = []
        partial: list[_Line] = []
        order = count()

        def push(lines: Sequence[_Line]) -> None:
            for line in lines:
                if (rank := self._rank(line)) is not None:
                    heappush(queue, (rank, next(order), line))

        push(roots)
        reserve = int(self.left * _RANGES_SHARE) if self.is_below else 0
        self.left -= reserve
        while queue:
            (is_no_folder, is_later, _), _, line = heappop(queue)
            if is_later and reserve:
                self.left, reserve = self.left + reserve, 0
                self._list_ranges(partial)
                partial = []
            below = self.list_lines(line.entry.below, line.depth + 1)
            if below is not None:
                line.below = below
                push(below)
            elif is_no_folder and line.node.tokens < _PART_SHARE_MIN * self.library.tokens:
                partial.append(line)
            elif self._list_part(line):
                push(line.below)
            elif not is_no_folder:
                break
        self.left += reserve
        self._list_ranges(partial)

    def _rank(self, line: _Line) -> tuple[bool, bool, float] | None:
        """Return what sorts lines by the worth of listing what is below them, None where it is worth nothing."""
        unread = sum(not self.library.is_loaded(node_id) for node_id in line.entry.below[:_RANGES_OF])
        tokens = line.node.tokens + unread * _PAGE_TOKENS
        if not line.entry.below or tokens < _WORTH_MIN or is_optional(line.node):
            return None
        worth = tokens / (line.depth + 1) ** 2
        if line.depth == 0 and not self.is_below and line.node.own_tokens < _LIST_SHARE_MAX * tokens:
            worth += self.library.tokens  # a mere list at the top comes before all others
        return line.node.kind is not NodeKind.FOLDER, self.is_below and tokens <= WHOLE_TOKENS_MAX, -worth

    def _list_part(self, line: _Line) -> bool:
        """List the largest nodes below one that has too many, and name the others, as far as there is room.

        Each can be opened by its name.
        """
        children = line.entry.below[:_LARGEST_OF_MAX]
        chosen = self.choose_largest(children, line.depth + 1, int(self.left * _PART_SHARE))
        if len(chosen) < _PART_LINES_MIN:
            return False
        line.below = [*chosen.values()]
        self.left -= _estimate_lines(part.text for part in line.below)
        room = int(self.left * _PART_SHARE)
        named: list[str] = []
        for node_id in children:
            if node_id not in chosen:
                name = format_short_title(self.library.get_label(node_id), length_max=40)
                room -= estimate_tokens(name) + 1
                if room < 0:
                    break
                named.append(name)
        more = len(line.entry.below) - len(chosen) - len(named)
        if named:
            names = "; ".join([*named, *([f"+{more} more"] if more else [])])
            line.rest = f"{'  ' * (line.depth + 1)}- also in [{line.entry.section_id}]: {names}"
        self.left -= estimate_tokens(line.rest) + 1
        return True

    def _list_ranges(self, lines: Sequence[_Line]) -> None:
        """List ranges of what stands below lines, each of which can be opened whole, as far as there is room."""
        for line in lines:
            if len(line.entry.below) * _LINE_TOKENS_MIN > _RANGES_OF * self.left:
                continue
            ranges = ChildRanges.for_section(self.library, line.entry.section_id)
            if ranges.children != line.entry.below:
                continue
            for length_max in _RANGE_LENGTHS_BELOW:
                described = ranges.describe(line.entry.section_id, title_length_max=length_max)
                cost = _estimate_lines(described)
                if cost <= self.left and len(described) > 1:
                    self.left -= cost
                    line.rest = "\n".join(f"{'  ' * (line.depth + 1)}{text}" for text in described)
                    break

    def choose_largest(self, node_ids: Sequence[str], depth: int, budget_tokens: int) -> dict[str, _Line]:
        """Return lines for the largest of these nodes that fit, in the order of the document."""
        sizes = {node_id: self.library.node(node_id).tokens for node_id in node_ids}
        chosen: dict[str, _Line] = {}
        for node_id in sorted(sizes, key=lambda node_id: -sizes[node_id]):
            entry = make_entry(self.library, node_id)
            if entry is None:
                continue
            line = self._make_line(entry, depth)
            budget_tokens -= estimate_tokens(line.text) + 1
            if budget_tokens < 0:
                break
            chosen[node_id] = line
        return {node_id: chosen[node_id] for node_id in node_ids if node_id in chosen}

    def preview(self, roots: Sequence[_Line]) -> None:
        """Say what is in lines that stand alone, the largest first: titles below them, or first words."""
        alone: list[_Line] = []
        pending = [*reversed(roots)]
        while pending:
            line = pending.pop()
            pending += reversed(line.below)
            if not line.below and not line.rest:
                alone.append(line)
        alone.sort(key=lambda line: -line.node.tokens)
        titles = Counter(line.node.title.casefold() for line in alone)
        below: Counter[str] = Counter()
        for line in alone:
            if line.entry.below:
                headings, _ = list_headings_below(self.library, line.entry.section_id, _TITLES_MAX)
                below.update({heading.title.casefold() for heading in headings})
        shared = frozenset(title for title, times in below.items() if times >= _SHARED_MIN)
        for line in alone:
            if self.left < _PREVIEW_TOKENS_MIN:
                break
            is_repeated = titles[line.node.title.casefold()] > 1
            for length_max in _PREVIEW_LENGTHS[0 if line.entry.below else 1 :]:
                preview = self._make_preview(line, length_max, shared, is_repeated=is_repeated)
                cost = estimate_tokens(preview) + 1 if preview else 0
                if len(preview) <= _PREVIEW_WHOLE_MAX and cost <= self.left:
                    self.left -= cost
                    line.text = f"{line.text}: {preview}" if preview else line.text
                    break

    def _make_preview(self, line: _Line, length_max: int, shared: frozenset[str], *, is_repeated: bool) -> str:
        if summary := self.library.summary(line.entry.node_id) or self.library.summary(line.entry.section_id):
            return shorten(escape(summary), length_max)
        if line.entry.below:
            return preview_below(self.library, line.node, length_max=length_max, shared=shared)
        is_link = line.node.kind is NodeKind.LINK and not line.node.is_loaded
        if is_link or (is_repeated and not is_generic(line.node.title)):
            return preview_opening(
                self.library, line.node, length_max=length_max if is_link else min(_OPENING_LENGTH, length_max)
            )
        return ""


def _render(lines: Sequence[_Line]) -> Iterator[str]:
    for line in lines:
        yield line.text
        yield from _render(line.below)
        if line.rest:
            yield line.rest


def _list_ranges(outline: _Outline, node_ids: Sequence[str], parent_id: str, beside: Sequence[str]) -> list[str]:
    """Return ranges of nodes, with shorter titles where there is little room; of a whole library else its one id.

    The largest of the nodes have lines before them, where there is room.
    """
    library = outline.library
    entries = (make_entry(library, node_id) for node_id in beside)
    named = [f"- [{entry.section_id}] {entry.name}" for entry in entries if entry is not None]
    ranges = ChildRanges.for_section(library, parent_id)
    for title_length_max in _RANGE_TITLE_LENGTHS:
        lines = [*named, *ranges.describe(parent_id, title_length_max=title_length_max)]
        left = outline.left - _estimate_lines(lines)
        if left >= 0:
            largest = outline.choose_largest(node_ids, 0, left) if len(node_ids) <= _LARGEST_OF_MAX else {}
            return [*(line.text for line in largest.values()), *lines]
    if outline.is_below:
        return ranges.describe(parent_id, title_length_max=0)
    return [*named, f"- [{parent_id}] all {len(library)} sections, listed when it is opened"]


def is_generic(title: str) -> bool:
    """Return whether a title says nothing about its content, as "FAQ", "2.1" and "Other changes" do."""
    words = " ".join(_NO_LETTER.sub("", title.lower()).split())
    return not words or words.replace(" ", "-") in _GENERIC or _ENUMERATOR.match(words) is not None


def format_short_title(heading: NodeLabel, *, length_max: int) -> str:
    """Return the title of a node; of a file its name without the ending, by which it can be opened too."""
    name = format_node_title(heading, length_max=length_max)
    return name.rpartition(".")[0] or name if heading.kind is NodeKind.FILE else name


def preview_below(library: Library, node: Node, *, length_max: int, shared: frozenset[str]) -> str:
    """Return the titles below a node on one line, those that tell it from its neighbours first, and how many more.

    Args:
        library: Holds the node.
        node: Has others below it, none of which has a line of its own.
        length_max: Characters; whole titles are left out past it.
        shared: Titles that stand below its neighbours too.
    """
    headings, count = list_headings_below(library, node.id, _TITLES_MAX)
    named = [one for one in headings if one.title and (one.has_more or has_own_text(library, one.id))]
    said = [
        (one.title.casefold() in shared or is_generic(one.title)) and not LIMITING.search(one.title) for one in named
    ]
    telling = [one for one, is_said in zip(named, said, strict=True) if one.kind in _PLACES or not is_said]
    kept: list[str] = []
    length = 0
    for heading in telling or named:
        title = format_short_title(heading, length_max=_TITLE_LENGTH)
        if title in kept:
            count -= 1
            continue
        length += len(title) + 2
        if kept and length > length_max:
            break
        kept.append(shorten(title, max(20, length_max)))
    return "; ".join([*kept, *([f"+{count - len(kept)}"] if kept and count > len(kept) else [])])


def preview_opening(library: Library, node: Node, *, length_max: int = _OPENING_LENGTH) -> str:
    """Return the first sentence of a node that defines something, else its first words; of a link what stands by it."""
    if node.kind is NodeKind.LINK and not node.is_loaded:
        return extract_link_note(library, node.id, length_max=length_max)
    opening = extract_opening_words(library, node.id, length_max=_OPENING_SOURCE)
    sentences = _SENTENCE_END.split(opening)
    definition = next((sentence for sentence in sentences if _DEFINES.search(sentence)), opening)
    return shorten(definition, length_max)


def extract_link_note(library: Library, section_id: str, *, length_max: int) -> str:
    """Return what the list item of a link says besides the link, on one line; may be empty."""
    document, row = library.locate(section_id)
    starts = document.columns.starts
    start = starts[row]
    end = next((one for one in starts[row + 1 :] if one > start), start)
    item = normalise_line_ends(document.text[start : min(end, start + _NOTE_SOURCE)])
    item = _MARKER.sub("", item, count=1).strip().partition("\n\n")[0]
    title = sanitise_line(document.columns.titles[row])
    words = sanitise_line(EMPHASIS.sub("", _ADDRESS.sub("", LINK.sub(r"\1", item))))
    note = words.removeprefix(EMPHASIS.sub("", title)).strip(_BETWEEN)
    return shorten(escape(note), length_max)
