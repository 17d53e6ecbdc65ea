"""`LineRenderer`: draws the lines of the tree from the state of a conversation. Independent of the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import ExpandStatus, SectionsExpanded
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import OpenSection
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

FOREGROUND_STYLES = ("guides", "triangle", "title", "untitled", "open-agent", "open-person", "mark", "size")
"""Names of the styles that set only the foreground. Those of `BACKGROUND_STYLES` set only the background."""
BACKGROUND_STYLES = ("batch", "cursor-blurred")
Palette = Mapping[str, Style]
"""Styles by the names above, and by ``base`` and ``cursor``, which set foreground and background."""


class LineSegment(NamedTuple):
    """A styled part of a line."""

    text: str
    style: Style
    activates: bool = False
    """Whether a click on it activates the node: the title and its signs."""
    toggles_fold: bool = False
    """Whether a click on it folds or unfolds the node: the triangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHighlights:
    """Nodes with signs that do not follow from the conversation state."""

    opened: frozenset[str] = frozenset()
    """Ids of the nodes that the model opened last."""
    found: frozenset[str] = frozenset()
    """Ids of the nodes that the last search found."""


class LineRenderer:
    """Draws `lines` for one `state`. Counts are computed when a line first needs them."""

    def __init__(self, lines: VisibleLines, state: ConversationState, highlights: TreeHighlights) -> None:
        self._lines = lines
        self._state = state
        self._highlights = highlights

    @cached_property
    def _open_by_id(self) -> dict[str, OpenSection]:
        return {section.section_id: section for section in self._state.open_sections}

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
    def _hidden_open(self) -> Counter[int]:
        return self._count_hidden(self._open_by_id)

    @cached_property
    def _hidden_found(self) -> Counter[int]:
        return self._count_hidden(self._highlights.found)

    def _count_hidden(self, section_ids: Iterable[str]) -> Counter[int]:
        """Count how many of these sections each line hides in its folded descendants."""
        shown = ((self._lines.find_nearest_line(section_id), section_id) for section_id in section_ids)
        return Counter(line for line, section_id in shown if line is not None and self._lines.id_at(line) != section_id)

    @cached_property
    def _reading_line(self) -> int | None:
        """The line of the section that the person reads, or of its nearest visible ancestor."""
        reading_id = self._state.reading_id
        return None if reading_id is None else self._lines.find_nearest_line(reading_id)

    @cached_property
    def _is_loaded(self) -> bool:
        """Whether all files are loaded. Only then are the sizes of folders known."""
        return not self._lines.library.list_unloaded_files()

    def draw(
        self, line: int, width: int, palette: Palette, *, is_cursor: bool = False, has_focus: bool = False
    ) -> Strip:
        """Draw a line of exactly `width` cells: guides, triangle, title, signs, page and size."""
        base, overlay = palette["base"], Style.null()
        if is_cursor and has_focus:
            # Only the cursor's own foreground is sure to be readable on its background.
            overlay = palette["cursor"]
        elif is_cursor:
            base += palette["cursor-blurred"]
        elif self._lines.id_at(line) in self._highlights.opened:
            base += palette["batch"]
        parts = self.list_segments(line, width, palette)
        return Strip(
            [Segment(part.text, base + part.style + overlay) for part in parts if part.text]
        ).adjust_cell_length(width, base + overlay)

    def list_segments(self, line: int, width: int, palette: Palette) -> list[LineSegment]:
        """List the parts of a line from left to right. Time grows with the line's depth and title length."""
        document, row = self._lines.numbering.locate(self._lines.numbers[line])
        section_id, fold = document.ids[row], self._lines.fold_at(line)
        section = self._open_by_id.get(section_id)
        title = strip_anchor(sanitise_line(document.columns.titles[row][:_TITLE_LENGTH_MAX]))
        style = palette["title" if title else "untitled"]
        title = title or format_node(self._lines.library, section_id)
        folding = palette["mark" if fold is FoldState.FAILED else "triangle"]
        head = [
            LineSegment(_draw_guides(self._lines.compute_guide_flags(line), width), palette["guides"]),
            LineSegment(f"{fold} ", folding, toggles_fold=fold is not FoldState.LEAF),
        ]
        if section is not None:
            opened = palette["open-person" if section.opened_by is Origin.PERSON else "open-agent"]
            style += opened
            head.append(LineSegment(f"◆{'…' if section.is_closing else ''} ", opened, activates=True))
        signs = LineSegment(self._format_signs(line, section_id, section), palette["mark"], activates=True)
        room = width - sum(cell_len(part.text) for part in (*head, signs))
        place = self._format_place(document, row, fold)
        place = place if room - len(place) > _TITLE_WIDTH_MIN else ""
        title_room = max(0, room - len(place))
        if cell_len(title) > title_room:
            title = set_cell_size(title, max(0, title_room - 1)).rstrip() + "…"
        gap = " " * (title_room - cell_len(title))
        return [
            *head,
            LineSegment(title, style, activates=True),
            signs,
            LineSegment(gap, Style.null()),
            LineSegment(place, palette["size"]),
        ]

    def _format_signs(self, line: int, section_id: str, section: OpenSection | None) -> str:
        """Format the signs after a title. A number counts sections in what is folded away."""
        is_pinned = section is not None and section.is_pinned
        is_cited = section_id in self._cited or (section is not None and section.last_cited > 0)
        hidden_open, hidden_found = self._hidden_open[line], self._hidden_found[line]
        is_found = hidden_found or section_id in self._highlights.found
        signs = (
            "⚑" if is_pinned else "",
            "❝" if is_cited else "",
            "◦" if section is None and section_id in self._read else "",
            "¶" if line == self._reading_line else "",
            f"⌕{hidden_found or ''}" if is_found else "",
            f"◆{hidden_open}" if hidden_open else "",
        )
        drawn = "".join(signs)
        return f" {drawn}" if drawn else ""

    def _format_place(self, document: Document, row: int, fold: FoldState) -> str:
        """Format the page of a section, or the size of a folded node that is large. May be empty."""
        if document.page_starts:
            return f" p. {document.page_at(document.columns.starts[row])}"
        tokens = self._estimate_tokens(document, row) if fold is FoldState.FOLDED else 0
        return f" {format_tokens(tokens)} tok" if tokens > _SIZE_TOKENS_MIN else ""

    def _estimate_tokens(self, document: Document, row: int) -> int:
        """Estimate the tokens of a node and its descendants. Fast even in long documents."""
        if document.columns.kinds[row] is NodeKind.FOLDER:
            return self._lines.library.node(document.ids[row]).tokens if self._is_loaded else 0
        graft = self._lines.library.grafts.get(document.ids[row])
        below = estimate_row_tokens(graft, 0, len(graft.columns)) if graft is not None else 0
        return below + estimate_row_tokens(document, row, document.columns.ends[row])


def _draw_guides(guide_flags: tuple[bool, ...], width: int) -> str:
    if not guide_flags:
        return ""
    guides = [_TRUNK if follows else _GAP for follows in guide_flags[:-1]]
    guides.append(_BRANCH if guide_flags[-1] else _LAST_BRANCH)
    depth_max = max(1, width // 5)
    if len(guides) > depth_max:
        guides = [_CUT_GUIDES, *guides[len(guides) - depth_max + 1 :]]
    return "".join(guides[:depth_max])


def estimate_row_tokens(document: Document, first: int, end: int) -> int:
    """Return the tokens of the rows `first` to `end` of a document: roughly, unless they have been counted."""
    if "tokens_before" in vars(document):
        return document.tokens_before[end] - document.tokens_before[first]
    return (document.columns.starts[end] - document.columns.starts[first]) // _CHARACTERS_PER_TOKEN
