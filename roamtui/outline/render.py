"""The outline that a model reads: one line for each section that can be opened, filled by worth up to a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from roamtui.document.library import Library
from roamtui.document.node import Node, NodeKind
from roamtui.document.plain import shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import TITLE_LENGTH_MAX, WHOLE_TOKENS_MAX, describe_size, escape, is_optional, name_node
from roamtui.outline.preview import find_shared_titles, is_generic, name_briefly, preview_below, preview_opening
from roamtui.outline.references import Ranges
from roamtui.outline.structure import Entry, find_entry, list_roots

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


def limit_outline(library: Library, window_tokens: int | None, *, tokens: int | None = None) -> int:
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
    head = [_name_whole(library), _LEGEND]
    title_id = library.title_id()
    roots = list_roots(library)
    budget = limit_outline(library, None) if budget_tokens is None else budget_tokens
    left = budget - sum(estimate_tokens(line) + 1 for line in head)
    beside = tuple(root for root in roots if library.parent(root) is None) if title_id is not None else ()
    lines = fill_lines(library, roots, left, parent_id=title_id or library.root_id, beside=beside, is_whole=True)
    return "\n".join([*head, *(lines or ["(Nothing in it has text.)"])]) + "\n"


def _name_whole(library: Library) -> str:
    title_id = library.title_id()
    if title_id is None:
        return f"Outline of {shorten(escape(library.title), TITLE_LENGTH_MAX)}"
    node = library.node(title_id)
    return f"Outline of [{title_id}] {name_node(node)} ({describe_size(library, node)})"


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
    tries = (outline.list_lines(node_ids, depth=0, name_length_max=length_max) for length_max in _NAME_LENGTHS)
    lines = next((lines for lines in tries if lines is not None), None)
    if lines is None:
        return _list_ranges(library, node_ids, budget_tokens, parent_id, beside, is_whole=is_whole)
    outline.roots = lines
    reserve = int(outline.left * _PREVIEW_SHARE) if is_whole else 0
    outline.left -= reserve
    outline.deepen()
    outline.left += reserve
    outline.preview()
    return list(outline.render())


@dataclass(slots=True, eq=False)
class _Line:
    entry: Entry
    node: Node
    depth: int
    text: str
    below: list[_Line] = field(default_factory=list)
    rest: str = ""
    """Names of what stands below it without lines of their own."""

    @property
    def is_leaf(self) -> bool:
        return not self.entry.below


@dataclass(slots=True)
class _Outline:
    library: Library
    left: int
    """Tokens of the budget that are not spent yet."""
    is_below: bool = False
    """Whether it lists what stands below a section, of which another call shall lead to any part."""
    roots: list[_Line] = field(default_factory=list)

    def list_lines(
        self, node_ids: Sequence[str], depth: int, *, name_length_max: int = _NAME_LENGTHS[0]
    ) -> list[_Line] | None:
        """Return a line for each node that holds anything and take their room, None where they do not fit."""
        if len(node_ids) * _LINE_TOKENS_MIN > self.left:
            return None
        lines = [self._make_line(entry, depth, name_length_max) for entry in self._find_entries(node_ids)]
        cost = sum(estimate_tokens(line.text) + 1 for line in lines)
        if cost > self.left:
            return None
        self.left -= cost
        return lines

    def _find_entries(self, node_ids: Sequence[str]) -> Iterator[Entry]:
        for node_id in node_ids:
            entry = find_entry(self.library, node_id)
            if entry is not None:
                yield entry

    def _make_line(self, entry: Entry, depth: int, name_length_max: int = _NAME_LENGTHS[0]) -> _Line:
        node = self.library.node(entry.section_id)
        name = shorten(entry.name, name_length_max)
        text = f"{'  ' * depth}- [{entry.section_id}] {name} ({describe_size(self.library, node)})"
        if not entry.below and node.is_loaded and node.kind is NodeKind.SECTION and is_generic(node.title):
            opening = preview_opening(self.library, node)
            text = f"{text}: {opening}" if opening else text
        return _Line(entry, node, depth, text)

    def deepen(self) -> None:
        """List what stands below lines, all folders first, then what is large and not deep, while there is room."""
        queue: list[tuple[bool, bool, float, int, _Line]] = []
        partial: list[_Line] = []
        count = 0

        def push(lines: Sequence[_Line]) -> None:
            nonlocal count
            for line in lines:
                tokens = self._count_tokens(line)
                if line.entry.below and tokens >= _WORTH_MIN and not is_optional(line.node):
                    count += 1
                    is_later = self.is_below and tokens <= WHOLE_TOKENS_MAX
                    worth = self._weigh(line, tokens)
                    heappush(queue, (line.node.kind is not NodeKind.FOLDER, is_later, -worth, count, line))

        push(self.roots)
        reserve = int(self.left * _RANGES_SHARE) if self.is_below else 0
        self.left -= reserve
        while queue:
            is_no_folder, is_later, _, _, line = heappop(queue)
            if is_later and reserve:
                self.left, reserve = self.left + reserve, 0
                self._list_all_ranges(partial)
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
        self._list_all_ranges(partial)

    def _list_all_ranges(self, lines: list[_Line]) -> None:
        """List ranges for lines that have none yet, and empty the list."""
        for line in lines:
            self._list_ranges(line)
        lines.clear()

    def _weigh(self, line: _Line, tokens: int) -> float:
        """Return what it is worth to list what is below a line; a mere list at the top comes before all others."""
        worth = tokens / (line.depth + 1) ** 2
        is_list = line.depth == 0 and not self.is_below and line.node.own_tokens < _LIST_SHARE_MAX * tokens
        return worth + self.library.tokens if is_list else worth

    def _count_tokens(self, line: _Line) -> int:
        """Return what there is to read at a line and below; a page that was not fetched is taken for some."""
        pages = sum(not self.library.is_loaded(node_id) for node_id in line.entry.below[:_RANGES_OF])
        return line.node.tokens + pages * _PAGE_TOKENS

    def _list_part(self, line: _Line) -> bool:
        """List the largest nodes below one that has too many, and name the others as far as there is room."""
        children = line.entry.below[:_LARGEST_OF_MAX]
        chosen = self.choose_largest(children, line.depth + 1, int(self.left * _PART_SHARE))
        if len(chosen) < _PART_LINES_MIN:
            return False
        line.below = [*chosen.values()]
        self.left -= sum(estimate_tokens(part.text) + 1 for part in line.below)
        others = [node_id for node_id in children if node_id not in chosen]
        line.rest = self._name_rest(line, others, len(line.entry.below) - len(chosen))
        self.left -= estimate_tokens(line.rest) + 1
        return True

    def _list_ranges(self, line: _Line) -> None:
        """List ranges of what stands below a line, each of which can be opened whole, if there is room."""
        if len(line.entry.below) * _LINE_TOKENS_MIN > _RANGES_OF * self.left:
            return
        ranges = Ranges.of(self.library, line.entry.section_id)
        if ranges.children != line.entry.below:
            return
        start = "  " * (line.depth + 1)
        for length_max in _RANGE_LENGTHS_BELOW:
            described = ranges.describe(line.entry.section_id, title_length_max=length_max)
            cost = sum(estimate_tokens(text) + 1 for text in described)
            if cost <= self.left and len(described) > 1:
                self.left -= cost
                line.rest = "\n".join(f"{start}{text}" for text in described)
                return

    def choose_largest(self, node_ids: Sequence[str], depth: int, budget_tokens: int) -> dict[str, _Line]:
        """Return lines for the largest of these nodes that fit, in the order of the document."""
        sizes = {node_id: self.library.node(node_id).tokens for node_id in node_ids}
        chosen: dict[str, _Line] = {}
        for node_id in sorted(sizes, key=lambda node_id: -sizes[node_id]):
            entry = find_entry(self.library, node_id)
            if entry is None:
                continue
            line = self._make_line(entry, depth)
            budget_tokens -= estimate_tokens(line.text) + 1
            if budget_tokens < 0:
                break
            chosen[node_id] = line
        return {node_id: chosen[node_id] for node_id in node_ids if node_id in chosen}

    def _name_rest(self, line: _Line, node_ids: Sequence[str], count: int) -> str:
        """Return a line with the names of nodes that have none of their own; each can be opened by its name."""
        room = int(self.left * _PART_SHARE)
        named: list[str] = []
        for node_id in node_ids:
            name = name_briefly(self.library.heading(node_id), length_max=40)
            room -= estimate_tokens(name) + 1
            if room < 0:
                break
            named.append(name)
        more = f"; +{count - len(named)} more" if count > len(named) else ""
        start = "  " * (line.depth + 1)
        return f"{start}- also in [{line.entry.section_id}]: {'; '.join(named)}{more}" if named else ""

    def preview(self) -> None:
        """Say what is in lines that stand alone, the largest first: titles below them, or first words."""
        lines = (line for line in self._walk(self.roots) if not line.below and not line.rest)
        alone = sorted(lines, key=lambda line: -line.node.tokens)
        counts = Counter(line.node.title.casefold() for line in alone)
        shared = find_shared_titles(self.library, [line.entry.section_id for line in alone if not line.is_leaf])
        for line in alone:
            if self.left < _PREVIEW_TOKENS_MIN:
                break
            for length_max in _PREVIEW_LENGTHS[line.is_leaf :]:
                preview = self._make_preview(line, length_max, counts, shared)
                if len(preview) <= _PREVIEW_WHOLE_MAX and self._add_preview(line, preview):
                    break

    def _make_preview(self, line: _Line, length_max: int, counts: Counter[str], shared: frozenset[str]) -> str:
        entry = line.entry
        if summary := self.library.summary(entry.node_id) or self.library.summary(entry.section_id):
            return shorten(escape(summary), length_max)
        if not line.is_leaf:
            return preview_below(self.library, line.node, length_max=length_max, shared=shared)
        is_link = line.node.kind is NodeKind.LINK and not line.node.is_loaded
        if is_link or (counts[line.node.title.casefold()] > 1 and not is_generic(line.node.title)):
            return preview_opening(self.library, line.node, length_max=length_max if is_link else min(80, length_max))
        return ""

    def _add_preview(self, line: _Line, preview: str) -> bool:
        """Give a line its preview if the budget allows it; nothing to say is said always."""
        cost = estimate_tokens(preview) + 1 if preview else 0
        if cost > self.left:
            return False
        self.left -= cost
        line.text = f"{line.text}: {preview}" if preview else line.text
        return True

    def _walk(self, lines: Sequence[_Line]) -> Iterator[_Line]:
        for line in lines:
            yield line
            yield from self._walk(line.below)

    def render(self) -> Iterator[str]:
        """Yield the lines in the order of the document."""
        yield from self._render(self.roots)

    def _render(self, lines: Sequence[_Line]) -> Iterator[str]:
        for line in lines:
            yield line.text
            yield from self._render(line.below)
            if line.rest:
                yield line.rest


def _list_largest(library: Library, node_ids: Sequence[str], budget_tokens: int) -> list[str]:
    """Return lines for the largest of many nodes, as far as there is room beside their ranges."""
    if len(node_ids) > _LARGEST_OF_MAX:
        return []
    outline = _Outline(library=library, left=budget_tokens)
    return [line.text for line in outline.choose_largest(node_ids, 0, budget_tokens).values()]


def _list_ranges(
    library: Library,
    node_ids: Sequence[str],
    budget_tokens: int,
    parent_id: str,
    beside: Sequence[str],
    *,
    is_whole: bool,
) -> list[str]:
    """Return ranges of nodes, with shorter titles where the budget is small; of a whole library else its one id."""
    entries = [entry for entry in (find_entry(library, node_id) for node_id in beside) if entry is not None]
    named = [f"- [{entry.section_id}] {entry.name}" for entry in entries]
    ranges = Ranges.of(library, parent_id)
    for title_length_max in _RANGE_TITLE_LENGTHS:
        lines = [*named, *ranges.describe(parent_id, title_length_max=title_length_max)]
        left = budget_tokens - sum(estimate_tokens(line) + 1 for line in lines)
        if left >= 0:
            return [*_list_largest(library, node_ids, left), *lines]
    if is_whole:
        return [*named, f"- [{parent_id}] all {len(library)} sections, listed when it is opened"]
    return ranges.describe(parent_id, title_length_max=0)
