"""`VisibleLines`: the nodes of a library that the tree shows, one per line. Does not use Textual.

Opening text that is only white space gets no line.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum

from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library

_BRANCH = "├ "
_LAST_BRANCH = "└ "
_TRUNK = "│ "
_GAP = "  "
_CUT_GUIDES = "‥ "


class FoldState(StrEnum):
    """The fold state of a line, with its sign."""

    UNFOLDED = "▾"
    FOLDED = "▸"
    LEAF = "·"
    UNLOADED = "⋯"
    """A link or file that is not loaded yet, so its children are unknown."""
    FAILED = "✗"
    """The last attempt to load it failed."""


class VisibleLines:
    """The visible lines of a library: nodes below `unfolded` ones. A single top heading is never folded."""

    def __init__(self, library: Library, unfolded: frozenset[str]) -> None:
        self.library = library
        self.unfolded = unfolded
        self._unfolded_with_title = unfolded | {library.title_id}
        self._hidden_ids = frozenset[str]().union(*(document.hidden_ids for document in library.documents))
        self.ids: list[str] = []
        """The id of the node on each line."""
        pending = [*reversed(library.children(library.root_id))]
        while pending:
            node_id = pending.pop()
            if node_id not in self._hidden_ids:
                self.ids.append(node_id)
            if node_id in self._unfolded_with_title:
                pending += reversed(library.children(node_id))
        self._lines_by_id = dict(zip(self.ids, range(len(self.ids)), strict=True))

    def id_at(self, line: int) -> str | None:
        """Return the id of the node on a line, or None if there is no such line."""
        return self.ids[line] if 0 <= line < len(self.ids) else None

    def find_line(self, section_id: str | None) -> int:
        """Return the line of a node or of its nearest visible ancestor, or -1 if there is neither."""
        if section_id is None or section_id not in self.library:
            return -1
        nearest = (section_id, *reversed(self.library.node(section_id).ancestors))
        return next((self._lines_by_id[near_id] for near_id in nearest if near_id in self._lines_by_id), -1)

    def draw_guides(self, line: int, width: int) -> str:
        """Draw the guides of a line: they show where siblings follow. On a deep line, the first are cut."""
        guides = ""
        node = self.library.node(self.ids[line])
        while node.parent is not None:
            continued, ended = (_TRUNK, _GAP) if guides else (_BRANCH, _LAST_BRANCH)
            siblings = reversed(self.library.children(node.parent))
            last_id = next(sibling for sibling in siblings if sibling not in self._hidden_ids)
            guides = (ended if node.id == last_id else continued) + guides
            node = self.library.node(node.parent)
        excess = len(guides) - 2 * (width // 5)
        return _CUT_GUIDES + guides[excess + len(_CUT_GUIDES) :] if excess > 0 else guides

    def fold_at(self, line: int) -> FoldState:
        """Return the fold state of the node on a line."""
        node = self.library.node(self.ids[line])
        if not node.is_loaded:
            return FoldState.FAILED if node.problem else FoldState.UNLOADED
        if not node.has_children or self._hidden_ids.issuperset(self.library.children(node.id)):
            return FoldState.LEAF
        return FoldState.UNFOLDED if node.id in self._unfolded_with_title else FoldState.FOLDED

    def format_page(self, line: int) -> str:
        """Format the page of a section, or return an empty string if its document has no pages."""
        node = self.library.node(self.ids[line])
        document = node.document
        return f" p. {document.page_at(document.columns.starts[node.row])}" if document.page_starts else ""


OPEN_SIGN = "◆"
_PINNED_SIGN = "⚑"
_CITED_SIGN = "❝"
_FOUND_SIGN = "⌕"
_READ_SIGN = "¶"
SIGNS = {
    OPEN_SIGN: "open: the model has its text; ◆2 at a folded line: two open sections below it",
    _PINNED_SIGN: "pinned: stays open",
    _CITED_SIGN: "cited in an answer",
    _FOUND_SIGN: "found for the last question or search",
    _READ_SIGN: "shown in the reader",
    f"{FoldState.FOLDED} {FoldState.UNFOLDED}": "folded, with the signs of what is below; unfolded",
    FoldState.UNLOADED: "not loaded yet; unfold or open to load",
    FoldState.FAILED: "failed to load; the reader shows why, unfold to retry",
}
"""What the signs of a line say about its section."""


def list_signs(
    state: ConversationState, lines: VisibleLines, found: Iterable[str]
) -> Mapping[str | None, str]:
    """Return the signs of lines by the ids of their nodes. A folded line has the signs of what it hides.

    `found` has the ids of the sections that a search found.
    """

    def find_line_id(section_id: str | None) -> str | None:
        return lines.id_at(lines.find_line(section_id))

    opened = state.open_sections.values()
    groups: Mapping[str, Iterable[str | None]] = {
        _PINNED_SIGN: (section.section_id for section in opened if section.is_pinned),
        _CITED_SIGN: (*state.cited, *(section.section_id for section in opened if section.last_cited)),
        _READ_SIGN: (state.reading_id,),
        _FOUND_SIGN: found,
        OPEN_SIGN: (each for each in state.open_sections if find_line_id(each) != each),
    }
    signs: defaultdict[str | None, str] = defaultdict(str)
    for sign, section_ids in groups.items():
        for line_id, count in Counter(map(find_line_id, {*section_ids})).items():
            signs[line_id] += f"{sign}{count if count > 1 else ''}"
    return signs
