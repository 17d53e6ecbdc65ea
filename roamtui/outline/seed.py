"""The seed form: headings as Markdown, opening words, a guiding comment after each, as in the first Roaming RAG."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import describe_size, find_opening, find_shared_lines, is_blank, is_optional, name_shown
from roamtui.outline.notes import find_note
from roamtui.outline.scent import make_scent
from roamtui.outline.tops import list_below, list_head, list_tops

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.document.node import Node


_OPTIONAL_LENGTH = 300
"""Characters of the titles that stand for what an llms.txt calls optional."""


def guide(node: Node, *, is_empty: bool = False) -> str:
    """Return the guiding comment after a collapsed heading; an empty section keeps its id, so that it can be cited."""
    size = "empty" if is_empty else describe_size(node)
    return f'<!-- Section collapsed - expand with expand_sections(["{node.id}"]) | {size} -->'


def render_seed(library: Library, budget_tokens: int) -> str | None:
    """Return the outline in seed form, None where not all headings fit the budget.

    The compact form says more for the same tokens, so this one is for documents of which it can show everything.
    """
    outline = _SeedOutline(library)
    if outline.tokens > budget_tokens or not outline.deepen(budget_tokens):
        return None
    return outline.render()


class _SeedOutline:
    """Listed nodes with their blocks of text; deepening lists more of them, breadth-first."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._blocks: dict[str, str] = {}
        self._listed_below: set[str] = set()
        self._tops = list_tops(library)
        self._title_id = library.title_id()
        self._shared = find_shared_lines(library, self._tops)
        self.tokens = 0
        self._frontier: deque[str] = deque()
        if self._title_id is not None:
            self._add(self._title_id, is_top=True)
        for top_id in self._tops:
            self._add(top_id, is_top=True)
        for top_id in self._tops:
            self._list_children(top_id)

    def _add(self, section_id: str, *, is_top: bool) -> None:
        node = self._library.node(section_id)
        self._blocks[section_id] = block = self._render_node(node, is_top=is_top)
        self.tokens += estimate_tokens(block) + 1

    def _render_node(self, node: Node, *, is_top: bool) -> str:
        is_empty = is_blank(self._library, node.id)
        hashes = "#" * max(1, self._find_level(node))
        dots = "" if is_top else "..."
        lines = [f"{hashes} {name_shown(self._library, node)}{dots} {guide(node, is_empty=is_empty)}"]
        opening = find_note(self._library, node.id) if node.kind is NodeKind.LINK else ""
        if is_top and is_optional(node):
            opening = make_scent(self._library, node, length_max=_OPTIONAL_LENGTH)
        elif is_top and not is_empty:
            opening = opening or find_opening(self._library, node.id, shared=self._shared)
        if opening:
            lines.append(f"{opening}..." if not opening.endswith(("…", ".", "!", "?")) else opening)
        return "\n\n".join(lines)

    def _find_level(self, node: Node) -> int:
        """Return the level of a heading; in a folder and in pages of links, its depth, a file and its title as one."""
        if node.doc == "" and not self._library.root.columns.has_files:
            return node.level
        above = self._library.ancestors(node.id)
        titles = {section_id for one in above for section_id in list_head(self._library, one)}
        return 1 + sum(section_id not in titles for section_id in above)

    def _list_children(self, section_id: str) -> None:
        if is_optional(self._library.node(section_id)):
            return
        children = list_below(self._library, section_id)
        for child_id in children:
            self._add(child_id, is_top=False)
        self._listed_below.add(section_id)
        self._frontier.extend(children)

    def deepen(self, budget_tokens: int) -> bool:
        """List all further headings, level by level. Return whether they fit."""
        while self._frontier:
            self._list_children(self._frontier.popleft())
            if self.tokens > budget_tokens:
                return False
        return True

    def render(self) -> str:
        """Return the whole text, in document order."""
        parts = [self._blocks[self._title_id]] if self._title_id is not None else []
        for top_id in self._tops:
            self._render_below(top_id, parts)
        return "\n\n".join(parts) + "\n"

    def _render_below(self, section_id: str, parts: list[str]) -> None:
        parts.append(self._blocks[section_id])
        if section_id in self._listed_below:
            for child_id in list_below(self._library, section_id):
                self._render_below(child_id, parts)
