"""The compact form: one line a section, with scent; ranges where not even the top titles fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.document.plain import shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import (
    TITLE_LENGTH_MAX,
    defuse,
    describe_size_briefly,
    find_opening,
    is_blank,
    is_optional,
    name_node,
    name_shown,
)
from roamtui.outline.ranges import list_ranges
from roamtui.outline.scent import find_terms, make_scent
from roamtui.outline.tops import is_hidden, list_below, list_tops

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.document.node import Node

_LEGEND = (
    "<!-- Each line is a collapsed section: [id] title (+subsections, ~tokens): what it holds. "
    'Expand with expand_sections(["id", ...]) -->'
)
_TOKENS_PER_CHARACTER = 0.28
_RANGE_TITLE_LENGTHS = (50, 24, 12, 0)
"""Characters of titles in ranges, tried in this order until the budget holds."""
_LISTED_SCENT_LENGTH = 400
"""Characters of the scent that a line below another one has."""
_SCENT_LENGTH_MIN = 24
"""Characters; a shorter scent says nothing."""


@dataclass(slots=True)
class _Line:
    node: Node
    depth: int
    base: str
    scent: str = ""
    is_listed_below: bool = False
    tokens: int = 0


@dataclass(slots=True)
class _CompactOutline:
    library: Library
    budget_tokens: int
    lines: dict[str, _Line] = field(default_factory=dict)
    tokens: int = 0

    def add(self, section_id: str, depth: int, *, scent_length_max: int = 0) -> _Line:
        node = self.library.node(section_id)
        is_empty = is_blank(self.library, section_id)
        size = "empty" if is_empty else describe_size_briefly(node)
        base = f"{'  ' * depth}- [{section_id}] {name_shown(self.library, node)} ({size})"
        scent = make_scent(self.library, node, length_max=scent_length_max) if scent_length_max else ""
        line = _Line(node=node, depth=depth, base=base, scent=scent)
        self.lines[section_id] = line
        self._count(line)
        return line

    def _count(self, line: _Line) -> None:
        text = f"{line.base}: {line.scent}" if line.scent and not line.is_listed_below else line.base
        before, line.tokens = line.tokens, estimate_tokens(text) + 1
        self.tokens += line.tokens - before

    def set_scent(self, line: _Line, scent: str) -> bool:
        """Give a line its scent if the budget allows it."""
        before, line.scent = line.scent, scent
        self._count(line)
        if self.tokens <= self.budget_tokens:
            return True
        line.scent = before
        self._count(line)
        return False

    def list_below(self, line: _Line) -> list[_Line] | None:
        """Replace a line's scent by lines for its children, each with scent, if the budget allows it."""
        children = list_below(self.library, line.node.id)
        if len(children) * 8 > self.budget_tokens - self.tokens + line.tokens:
            return None
        line.is_listed_below = True
        self._count(line)
        added: list[_Line] = []
        for child_id in children:
            if self.tokens > self.budget_tokens:
                break
            added.append(self.add(child_id, line.depth + 1, scent_length_max=_LISTED_SCENT_LENGTH))
        if self.tokens <= self.budget_tokens:
            return added
        for child in added:
            self.tokens -= child.tokens
            del self.lines[child.node.id]
        line.is_listed_below = False
        self._count(line)
        return None

    def render(self, roots: tuple[str, ...]) -> list[str]:
        texts: list[str] = []
        for root in roots:
            self._render_below(root, texts)
        return texts

    def _render_below(self, section_id: str, texts: list[str]) -> None:
        line = self.lines[section_id]
        texts.append(f"{line.base}: {line.scent}" if line.scent and not line.is_listed_below else line.base)
        if line.is_listed_below:
            for child_id in list_below(self.library, section_id):
                self._render_below(child_id, texts)


def render_compact(library: Library, budget_tokens: int) -> str:
    """Return the outline with one line a section, filled breadth-first up to the budget."""
    head = [_head_line(library), _LEGEND]
    outline = _CompactOutline(library=library, budget_tokens=budget_tokens)
    outline.tokens = sum(estimate_tokens(line) + 1 for line in head)
    tops = list_tops(library)
    if len(tops) * 8 > budget_tokens - outline.tokens:
        return _render_ranges(library, head, budget_tokens)
    lines = [outline.add(top_id, 0) for top_id in tops]
    if outline.tokens > budget_tokens:
        return _render_ranges(library, head, budget_tokens)
    if _fill_scent(outline, lines):
        leaves = _list_deeper(outline, lines)
        _fill_terms(outline, leaves)
    return "\n".join([*head, *outline.render(tops)]) + "\n"


def _head_line(library: Library) -> str:
    title_id = library.title_id()
    if title_id is None:
        return f"# {shorten(defuse(library.title), TITLE_LENGTH_MAX)}" if library.root.title else "# (no title)"
    node = library.node(title_id)
    opening = find_opening(library, title_id)
    return f"# [{title_id}] {name_node(node)} ({describe_size_briefly(node)})" + (f": {opening}" if opening else "")


def _fill_scent(outline: _CompactOutline, lines: list[_Line]) -> bool:
    """Give each line the titles below it, two levels deep, else one, else what fits. Return whether all fit."""
    before = outline.tokens
    for is_deep in (True, False):
        for line in lines:
            line.scent = make_scent(outline.library, line.node, is_deep=is_deep)
            outline._count(line)  # noqa: SLF001 - one idea in two parts
            if is_deep and outline.tokens > outline.budget_tokens:
                break
        if outline.tokens <= outline.budget_tokens:
            return True
    scents = [(line, line.scent) for line in lines]
    for line in lines:
        line.scent = ""
        outline._count(line)  # noqa: SLF001
    length_max = _share_length([len(scent) for _, scent in scents], outline.budget_tokens - before)
    for line, _ in sorted(scents, key=lambda pair: -pair[0].node.tokens):
        if length_max >= _SCENT_LENGTH_MIN:
            outline.set_scent(line, make_scent(outline.library, line.node, length_max=length_max))
    return False


def _share_length(lengths: list[int], tokens: int) -> int:
    """Return the length at which scents must be cut so that together they cost about `tokens`: the longest are cut."""
    remaining = int(tokens / _TOKENS_PER_CHARACTER)
    for position, length in enumerate(sorted(lengths)):
        share = remaining // (len(lengths) - position)
        if length > share:
            return share
        remaining -= length
    return max(lengths, default=0)


def _list_deeper(outline: _CompactOutline, lines: list[_Line]) -> list[_Line]:
    """List children as lines of their own, level by level, while whole levels fit. Return the lines with none below."""
    leaves: list[_Line] = []
    level = lines
    while level:
        following: list[_Line] = []
        all_fit = True
        for line in level:
            if not line.node.descendants or is_optional(line.node) or not list_below(outline.library, line.node.id):
                leaves.append(line)
                continue
            added = outline.list_below(line)
            if added is None:
                all_fit = False
                leaves.append(line)
            else:
                following.extend(added)
        if not all_fit:
            leaves.extend(following)
            break
        level = following
    return leaves


def _fill_terms(outline: _CompactOutline, leaves: list[_Line]) -> None:
    """Add terms that no title shows, the largest sections first, while there is room."""
    for line in sorted(leaves, key=lambda line: -line.node.tokens):
        terms = find_terms(outline.library, line.node)
        if terms:
            scent = "; ".join(part for part in (line.scent, "terms: " + ", ".join(terms)) if part)
            if not outline.set_scent(line, scent):
                break


def _render_ranges(library: Library, head: list[str], budget_tokens: int) -> str:
    """Return ranges of the top nodes, with shorter titles where the budget is small, else the one id of them all."""
    title_id = library.title_id()
    parent_id = title_id or library.root_id
    count = f"{len(library)} sections, too many to list"
    note = f"<!-- {count}: each line is a range of them. Expand a range by its id. -->"
    roots = library.children(library.root_id) if title_id is not None else ()
    beside = [_name_line(library, i) for i in roots if i != title_id and not is_hidden(library, i)]
    children = list_below(library, parent_id)
    for title_length_max in _RANGE_TITLE_LENGTHS:
        ranges = list_ranges(library, parent_id, title_length_max=title_length_max, children=children)
        lines = [*head, note, *beside, *ranges]
        text = "\n".join(lines) + "\n"
        if estimate_tokens(text) <= budget_tokens:
            return text
    note = f"<!-- {count} here: expanding the id lists them by ranges. -->"
    lines = [*head, note, *beside, *([f"- [{parent_id}] all {len(library)} sections"] if title_id is None else [])]
    return "\n".join(lines) + "\n"


def _name_line(library: Library, section_id: str) -> str:
    node = library.node(section_id)
    return f"- [{section_id}] {name_shown(library, node)} ({describe_size_briefly(node)})"
