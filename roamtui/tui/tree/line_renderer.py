"""`LineRenderer`: draws the lines of the tree from the state of a conversation. Independent of the screen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.conversation.events import ExpandStatus, SectionsExpanded
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.document.tokens import format_tokens
from roamtui.tui.labels import format_node
from roamtui.tui.tree.visible_lines import FoldState, VisibleLines

_SIZE_TOKENS_MIN = 1_000
"""A folded node with more tokens shows its size."""
_TITLE_WIDTH_MIN = 8
"""In cells. If a title would get less, the page and the size are left out."""
_TITLE_LENGTH_MAX = 1_000
"""In characters. No screen shows more, and a heading may have a million."""
_CHARACTERS_PER_TOKEN = 4
"""For documents whose tokens have not been counted yet."""
_BRANCH, _LAST_BRANCH, _TRUNK, _GAP, _CUT_GUIDES = "├ ", "└ ", "│ ", "  ", "‥ "

FOREGROUND_STYLES = ("guides", "triangle", "title", "untitled", "open", "mark", "size")
"""Names of the styles that set only the foreground. Those of `BACKGROUND_STYLES` set only the background."""
BACKGROUND_STYLES = ("batch", "cursor-blurred")
Palette = Mapping[str, Style]
"""Styles by the names above, and by ``base`` and ``cursor``, which set foreground and background."""


class LineRenderer:
    """Draws `lines` for one `state`. What all lines need is computed when a line first needs it."""

    def __init__(
        self,
        lines: VisibleLines,
        state: ConversationState,
        opened: frozenset[str] = frozenset(),
        found: frozenset[str] = frozenset(),
    ) -> None:
        """Draw lines.

        Args:
            lines: The nodes to draw.
            state: Most signs follow from it.
            opened: Ids of the nodes that the model opened last.
            found: Ids of the nodes that the last search found.
        """
        self._lines = lines
        self._state = state
        self._opened = opened
        self._found = found

    @cached_property
    def _cited(self) -> set[str]:
        """Sections that an answer cites, including sections that are open only as part of an ancestor."""
        return {cited.section_id for exchange in self._state.transcript.exchanges for cited in exchange.citations}

    @cached_property
    def _read(self) -> set[str | None]:
        """Sections that the model has read at any time in this conversation."""
        events = (event for exchange in self._state.transcript.exchanges for event in exchange.events)
        results = (result for event in events if isinstance(event, SectionsExpanded) for result in event.results)
        return {result.section_id for result in results if result.status is ExpandStatus.OPENED}

    @cached_property
    def _reading_line(self) -> int | None:
        """The line of the section that the person reads, or of its nearest visible ancestor."""
        reading_id = self._state.reading_id
        return None if reading_id is None else self._lines.find_nearest_line(reading_id)

    def draw(
        self, line: int, width: int, palette: Palette, *, is_cursor: bool = False, has_focus: bool = False
    ) -> Strip:
        """Draw a line of exactly `width` cells: guides, triangle, title, signs, page or size."""
        document, row = self._lines.numbering.locate(self._lines.numbers[line])
        section_id, fold = document.ids[row], self._lines.fold_at(line)
        base, overlay = palette["base"], Style.null()
        if is_cursor and has_focus:
            # Only the cursor's own foreground is sure to be readable on its background.
            overlay = palette["cursor"]
        elif is_cursor:
            base += palette["cursor-blurred"]
        elif section_id in self._opened:
            base += palette["batch"]
        section = self._state.get_open(section_id)
        title = strip_anchor(sanitise_line(document.columns.titles[row][:_TITLE_LENGTH_MAX]))
        style = palette["title" if title else "untitled"] + palette["open" if section is not None else "title"]
        title = title or format_node(self._lines.library, section_id)
        head = [
            (self.draw_guides(line, width), palette["guides"]),
            (f"{fold} ", palette["mark" if fold is FoldState.FAILED else "triangle"]),
            ("◆ " if section is not None else "", palette["open"]),
        ]
        drawn = (
            "⚑" if section is not None and section.is_pinned else "",
            "❝" if section_id in self._cited or (section is not None and section.last_cited > 0) else "",
            "◦" if section is None and section_id in self._read else "",
            "¶" if line == self._reading_line else "",
            "⌕" if section_id in self._found else "",
        )
        signs = "".join(drawn) and f" {''.join(drawn)}"
        room = width - sum(cell_len(text) for text, _ in head) - cell_len(signs)
        place = self._format_place(document, row, fold)
        place = place if room - len(place) > _TITLE_WIDTH_MIN else ""
        title_room = max(0, room - len(place))
        if cell_len(title) > title_room:
            title = set_cell_size(title, max(0, title_room - 1)).rstrip() + "…"
        gap = " " * (title_room - cell_len(title))
        parts = [*head, (title, style), (signs, palette["mark"]), (gap, Style.null()), (place, palette["size"])]
        segments = [Segment(text, base + style + overlay) for text, style in parts if text]
        return Strip(segments).adjust_cell_length(width, base + overlay)

    def draw_guides(self, line: int, width: int) -> str:
        """Draw the guides of a line. Of a deep line, the first ones are cut."""
        flags = self._lines.compute_guide_flags(line)
        if not flags:
            return ""
        guides = [_TRUNK if follows else _GAP for follows in flags[:-1]]
        guides.append(_BRANCH if flags[-1] else _LAST_BRANCH)
        depth_max = max(1, width // 5)
        if len(guides) > depth_max:
            guides = [_CUT_GUIDES, *guides[len(guides) - depth_max + 1 :]]
        return "".join(guides[:depth_max])

    def _format_place(self, document: Document, row: int, fold: FoldState) -> str:
        """Format the page of a section, or the size of a folded node that is large. May be empty."""
        if document.page_starts:
            return f" p. {document.page_at(document.columns.starts[row])}"
        is_sized = fold is FoldState.FOLDED and document.columns.kinds[row] is not NodeKind.FOLDER
        tokens = self._estimate_tokens(document, row) if is_sized else 0
        return f" {format_tokens(tokens)} tok" if tokens > _SIZE_TOKENS_MIN else ""

    def _estimate_tokens(self, document: Document, row: int) -> int:
        """Estimate the tokens of a node and its descendants. Fast even in long documents."""
        graft = self._lines.library.grafts.get(document.ids[row])
        below = estimate_row_tokens(graft, 0, len(graft.columns)) if graft is not None else 0
        return below + estimate_row_tokens(document, row, document.columns.ends[row])


def estimate_row_tokens(document: Document, first: int, end: int) -> int:
    """Return the tokens of the rows `first` to `end` of a document: roughly, unless they have been counted."""
    if "tokens_before" in vars(document):
        return document.tokens_before[end] - document.tokens_before[first]
    return (document.columns.starts[end] - document.columns.starts[first]) // _CHARACTERS_PER_TOKEN
