"""`VisibleLines`: the nodes of a library that the tree shows, one per line. Independent of the screen.

Nodes are the ordered numbers of a `NodeNumbering`, so a hundred thousand lines are one sorted array: finding the line
of a node takes logarithmic time. An opening text of only white space is left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from roamtui.conversation.events import SectionsExpanded
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.text import format_tokens

_BRANCH, _LAST_BRANCH, _TRUNK, _GAP, _CUT_GUIDES = "├ ", "└ ", "│ ", "  ", "‥ "
_SIZE_TOKENS_MIN = 1_000
"""A folded node with more tokens shows its size."""
_CHARACTERS_PER_TOKEN = 4
"""For documents whose tokens have not been counted yet."""


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
    """The visible lines of a library: those of nodes below `unfolded` ones. A single top heading is never folded."""

    def __init__(self, library: Library, unfolded: frozenset[str]) -> None:
        self.library = library
        self.unfolded = unfolded
        self.numbering = library.numbering
        self._find_end: Callable[[int], int] = library.root.columns.ends.__getitem__
        """Returns the number after a node's last descendant. In one document, numbers are rows, so it is a look-up."""
        if library.grafts:
            self._find_end = lambda number: self.numbering.subtree(number).stop
        row = library.root.title_row
        title_number = None if row is None else self.numbering.number_of(library.root, row)
        hidden_ids = (hidden_id for document in library.documents for hidden_id in document.hidden_ids)
        self._hidden_numbers = set(map(self.numbering.find, hidden_ids))
        self._unfolded_numbers = {title_number, *map(self.numbering.find, unfolded)}
        self.numbers = array("Q")
        """The number of the node on each line."""
        number, end = 0, len(self.numbering)
        while number < end:
            if number not in self._hidden_numbers:
                self.numbers.append(number)
            number = number + 1 if number in self._unfolded_numbers else self._find_end(number)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return map(self.numbering.id_of, self.numbers)

    def id_at(self, line: int) -> str:
        """Return the id of the node on a line."""
        return self.numbering.id_of(self.numbers[line])

    def get_line(self, number: int | None) -> int | None:
        """Return the line of a node, or None if the node is hidden."""
        if number is None:
            return None
        line = bisect_left(self.numbers, number)
        return line if line < len(self.numbers) and self.numbers[line] == number else None

    def find_nearest_line(self, section_id: str) -> int | None:
        """Return the line of a node or of its nearest visible ancestor, or None."""
        number = self.numbering.find(section_id)
        while number is not None and self.get_line(number) is None:
            number = self.parent(number)
        return self.get_line(number)

    def parent(self, number: int) -> int | None:
        """Return the parent of a node, or None at the top."""
        parent = self.numbering.parent(number)
        return None if parent < 0 else parent

    def draw_guides(self, line: int, width: int) -> str:
        """Draw the guides of a line, which show where siblings follow. Of a deep line, the first ones are cut."""
        guides, number = "", self.numbers[line]
        while (parent := self.parent(number)) is not None:
            follows = self._next_shown(self._find_end(number)) < self._find_end(parent)
            continued, ended = (_TRUNK, _GAP) if guides else (_BRANCH, _LAST_BRANCH)
            guides = (continued if follows else ended) + guides
            number = parent
        excess = len(guides) - 2 * max(1, width // 5)
        return _CUT_GUIDES + guides[excess + len(_CUT_GUIDES) :] if excess > 0 else guides

    def fold_at(self, line: int) -> FoldState:
        """Return the fold state of the node on a line."""
        number = self.numbers[line]
        section_id = self.numbering.id_of(number)
        if not self.library.is_loaded(section_id):
            return FoldState.FAILED if self.library.node(section_id).problem else FoldState.UNLOADED
        if self._next_shown(number + 1) >= self._find_end(number):
            return FoldState.LEAF
        return FoldState.UNFOLDED if number in self._unfolded_numbers else FoldState.FOLDED

    def format_place(self, line: int) -> str:
        """Format the page of a section, or the size of a folded node that is large. May be empty."""
        document, row = self.numbering.locate(self.numbers[line])
        if document.page_starts:
            return f" p. {document.page_at(document.columns.starts[row])}"
        if self.fold_at(line) is not FoldState.FOLDED or document.columns.kinds[row] is NodeKind.FOLDER:
            return ""
        graft = self.library.grafts.get(document.ids[row])
        below = estimate_row_tokens(graft, 0, len(graft.columns)) if graft is not None else 0
        tokens = below + estimate_row_tokens(document, row, document.columns.ends[row])
        return f" {format_tokens(tokens)} tok" if tokens > _SIZE_TOKENS_MIN else ""

    def _next_shown(self, number: int) -> int:
        while number in self._hidden_numbers:
            number += 1
        return number


def list_signs(state: ConversationState, lines: VisibleLines) -> Mapping[str, str]:
    """Return the signs of sections by id: pinned, cited, read by the model, read by the person."""
    exchanges = state.transcript.exchanges
    cited = {citation.section_id for exchange in exchanges for citation in exchange.citations}
    batches = [event for one in exchanges for event in one.events if isinstance(event, SectionsExpanded)]
    opened = {section_id for batch in batches for section_id in batch.opened_ids}
    reading_line = lines.find_nearest_line(state.reading_id or "")
    groups = {
        "⚑": {section.section_id for section in state.open_sections if section.is_pinned},
        "❝": cited | {section.section_id for section in state.open_sections if section.last_cited},
        "◦": opened - {*state.open_ids},
        "¶": set() if reading_line is None else {lines.id_at(reading_line)},
    }
    signs: defaultdict[str, str] = defaultdict(str)
    for sign, section_ids in groups.items():
        for section_id in section_ids:
            signs[section_id] += sign
    return signs


def estimate_row_tokens(document: Document, first: int, end: int) -> int:
    """Return the tokens of the rows `first` to `end` of a document: roughly, unless they have been counted."""
    if "tokens_before" in vars(document):
        return document.tokens_before[end] - document.tokens_before[first]
    return (document.columns.starts[end] - document.columns.starts[first]) // _CHARACTERS_PER_TOKEN
