"""`LineRenderer`: draws the lines of the tree from the state of a conversation. Independent of the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
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
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.markdown.plain_words import extract_words
from roamtui.tui.labels import format_node
from roamtui.tui.tree.visible_lines import FoldState, VisibleLines

SIZE_WIDTH_MIN = 33
"""Minimum width of a tree that shows sizes, in cells. A narrower one leaves their cells to the titles."""
_TITLE_WIDTH_MIN = 8
"""In cells. If a title would get less, the page and then the size are left out."""
_TITLE_LENGTH_MAX = 1_000
"""In characters. No screen shows more, and a heading may have a million."""
_NEARBY_LINES = 24
"""Maximum distance in lines between siblings whose titles are compared. They are likely on the screen together."""
_OPENING_LENGTH = 300
"""Number of characters, from the start of a heading, in which the words below it are looked for. These words
distinguish siblings with the same title."""
_SIZE_WIDTH = 5
"""In cells. Sizes after a page number are padded to this width, so that page numbers line up."""
_BRANCH, _LAST_BRANCH, _TRUNK, _GAP, _CUT_GUIDES = "├ ", "└ ", "│ ", "  ", "‥ "
_OPEN_SIGNS = {Origin.AGENT: ("◆", "open-agent"), Origin.PERSON: ("◇", "open-person")}
"""Sign and style of an open section, by who opened it."""

FOREGROUND_STYLES = ("guides", "triangle", "title", "untitled", "open-agent", "open-person", "mark", "count", "size")
"""Names of the styles that set only the foreground. Those of `BACKGROUND_STYLES` set only the background."""
BACKGROUND_STYLES = ("batch", "cursor-blurred")
Palette = Mapping[str, Style]
"""Styles by the names above, and by ``base`` and ``cursor``, which set foreground and background."""


class LineSegment(NamedTuple):
    """A styled part of a line."""

    text: str
    style: Style
    activates: bool = False
    """Whether a click on it activates the node: the title, diamond and marks."""
    toggles_fold: bool = False
    """Whether a click on it folds or unfolds the node: the triangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHighlights:
    """Nodes with marks that do not follow from the conversation state."""

    opened: frozenset[str] = frozenset()
    """Ids of the nodes that the model opened last."""
    found: frozenset[str] = frozenset()
    """Ids of the nodes that the last search found."""
    noted: frozenset[str] = frozenset()
    """Ids of the nodes with a note."""


class LineRenderer:
    """Draws `lines` for one `state`. Counts are computed when a line first needs them."""

    def __init__(self, lines: VisibleLines, state: ConversationState, highlights: TreeHighlights) -> None:
        self._lines = lines
        self._state = state
        self._highlights = highlights
        self._titles: dict[int, tuple[int | None, str]] = {}

    @cached_property
    def _open_by_id(self) -> dict[str, OpenSection]:
        return {section.section_id: section for section in self._state.open_sections}

    @cached_property
    def _cited(self) -> set[str]:
        """Sections that an answer cites, including sections that are open only as part of an ancestor."""
        return {cited.section_id for exchange in self._state.transcript.exchanges for cited in exchange.citations}

    @cached_property
    def _read_tokens(self) -> Counter[str]:
        """Number of tokens of each section that the model has read at any time in this conversation."""
        read: Counter[str] = Counter()
        for exchange in self._state.transcript.exchanges:
            for event in exchange.events:
                if isinstance(event, SectionsExpanded):
                    for result in event.results:
                        if result.section_id is not None and result.status is ExpandStatus.OPENED:
                            read[result.section_id] += result.tokens
        return read

    @cached_property
    def _hidden_counts(self) -> tuple[Counter[int], Counter[int], Counter[int]]:
        """How many open sections, found sections and tokens read each line hides in its folded descendants."""
        return (
            self._count_hidden(dict.fromkeys(self._open_by_id, 1)),
            self._count_hidden(dict.fromkeys(self._highlights.found, 1)),
            self._count_hidden(self._read_tokens),
        )

    def _count_hidden(self, amounts: Mapping[str, int]) -> Counter[int]:
        """Add up the amounts of hidden nodes by the line of their nearest visible ancestor."""
        counts: Counter[int] = Counter()
        for section_id, amount in amounts.items():
            line = self._lines.find_nearest_line(section_id)
            if line is not None and self._lines.id_at(line) != section_id:
                counts[line] += amount
        return counts

    @cached_property
    def _is_loaded(self) -> bool:
        """Whether all files are loaded. Only then are the sizes of folders known."""
        return not self._lines.library.list_unloaded_files()

    def draw(
        self, line: int, width: int, palette: Palette, *, is_cursor: bool = False, has_focus: bool = False
    ) -> Strip:
        """Draw a line of exactly `width` cells: guides, triangle, diamond, title, marks, page and size."""
        base, overlay = palette["base"], Style.null()
        if is_cursor and has_focus:
            # Only the cursor's own foreground is sure to be readable on its background.
            overlay = palette["cursor"]
        elif is_cursor:
            base += palette["cursor-blurred"]
        elif self._lines.id_at(line) in self._highlights.opened:
            base += palette["batch"]
        parts = self.list_segments(line, width, palette, is_cursor=is_cursor)
        return Strip(
            [Segment(part.text, base + part.style + overlay) for part in parts if part.text]
        ).adjust_cell_length(width, base + overlay)

    def list_segments(self, line: int, width: int, palette: Palette, *, is_cursor: bool = False) -> list[LineSegment]:
        """List the parts of a line from left to right. Time grows with the line's depth and title length."""
        document, row = self._lines.numbering.locate(self._lines.numbers[line])
        section_id, fold = document.ids[row], self._lines.fold_at(line)
        section = self._open_by_id.get(section_id)
        title = strip_anchor(sanitise_line(document.columns.titles[row][:_TITLE_LENGTH_MAX]))
        source = self._lines.library.source_of(section_id)  # None unless a person added some
        style = palette["size" if source is not None and source.is_muted else "title" if title else "untitled"]
        title = title or format_node(self._lines.library, section_id)
        head = [
            LineSegment(_draw_guides(self._lines.compute_guide_flags(line), width), palette["guides"]),
            LineSegment(
                f"{fold} ",
                palette["mark" if fold is FoldState.FAILED else "triangle"],
                toggles_fold=fold is not FoldState.LEAF,
            ),
        ]
        if source is not None and document is self._lines.library.root and document.columns.parents[row] < 0:
            sign, name = ("–", "size") if source.is_muted else ("✓", "mark")
            head.append(LineSegment(f"{sign} ", palette[name], activates=True))
        if section is not None:
            sign, name = _OPEN_SIGNS[section.opened_by]
            style += palette[name]
            head.append(LineSegment(f"{sign}{'…' if section.is_closing else ''} ", palette[name], activates=True))
        tokens = self._estimate_tokens(document, row) if fold not in (FoldState.UNLOADED, FoldState.FAILED) else 0
        tail = [
            LineSegment(self._format_marks(line, section_id, section), palette["mark"], activates=True),
            LineSegment(self._format_counts(line, tokens), palette["count"], activates=True),
        ]
        room = width - sum(cell_len(part.text) for part in (*head, *tail))
        size = format_tokens(tokens) if tokens and width >= SIZE_WIDTH_MIN else ""
        size = f" {size}" if size and room - len(size) > _TITLE_WIDTH_MIN else ""
        if size and document.page_starts:
            paged = f" p. {document.page_at(document.columns.starts[row])} {size[1:]:>{_SIZE_WIDTH}}"
            size = paged if room - len(paged) > _TITLE_WIDTH_MIN else size
        if is_cursor and cell_len(title) > room - len(size):
            size = ""  # under the cursor, the title is more important
        title_room = max(1, room - len(size))
        shared_length, is_repeated = self._compare_siblings(line, title)
        if is_repeated:
            words = self._format_opening(document, row)
            title = _cut_middle(title, max(title_room - cell_len(words), title_room * 3 // 5)) + words
        elif shared_length >= title_room - 1:
            title = _cut_middle(title, title_room)
        if cell_len(title) > title_room:
            title = set_cell_size(title, max(0, room - len(size) - 1)).rstrip() + "…"
        gap = " " * (room - len(size) - cell_len(title))
        return [
            *head,
            LineSegment(title, style, activates=True),
            *tail,
            LineSegment(gap, Style.null()),
            LineSegment(size, palette["size"]),
        ]

    @cached_property
    def _reading_line(self) -> int | None:
        """The line of the section that the person reads, or of its nearest visible ancestor."""
        reading_id = self._state.reading_id
        return None if reading_id is None else self._lines.find_nearest_line(reading_id)

    def _compare_siblings(self, line: int, title: str) -> tuple[int, bool]:
        """Compare a title with the titles of its siblings on nearby lines.

        Returns:
            The length of the longest beginning shared with another title, and whether another title is the same.
        """
        parent = self._lines.parent(self._lines.numbers[line])
        shared_length, is_repeated = 0, False
        for other in range(max(0, line - _NEARBY_LINES), min(len(self._lines), line + _NEARBY_LINES + 1)):
            if other != line:
                other_parent, other_title = self._get_title(other)
                if other_parent == parent and other_title[:1] == title[:1]:
                    shared_length = max(shared_length, len(commonprefix((title, other_title))))  # noqa: RUF071 - characters are meant
                    is_repeated = is_repeated or title == other_title
        return shared_length, is_repeated

    def _get_title(self, line: int) -> tuple[int | None, str]:
        """Return the parent and the title of a line. The result is cached."""
        if line not in self._titles:
            number = self._lines.numbers[line]
            document, row = self._lines.numbering.locate(number)
            title = strip_anchor(sanitise_line(document.columns.titles[row][:_TITLE_LENGTH_MAX]))
            self._titles[line] = self._lines.parent(number), title
        return self._titles[line]

    def _format_opening(self, document: Document, row: int) -> str:
        """Return the first words below a heading, to distinguish it from siblings with the same title. May be empty."""
        start, ends = document.columns.starts[row], document.columns.starts[row + 1 : row + 2]
        opening = document.text[start : min([start + _OPENING_LENGTH, *ends])]
        words = extract_words(opening.partition("\n")[2])
        return f" · {words}" if words else ""

    def _format_marks(self, line: int, section_id: str, section: OpenSection | None) -> str:
        is_cited = section_id in self._cited or (section is not None and section.last_cited > 0)
        marks = (
            ("⚑", section is not None and section.is_pinned),
            ("❝", is_cited),
            ("◦", section is None and section_id in self._read_tokens),
            ("¶", line == self._reading_line),
            ("✎", section_id in self._highlights.noted),
        )
        drawn = "".join(sign for sign, is_set in marks if is_set)
        found_inside = self._hidden_counts[1][line]
        if found_inside or section_id in self._highlights.found:
            drawn += f"⌕{found_inside or ''}"
        return f" {drawn}" if drawn else ""

    def _format_counts(self, line: int, tokens: int) -> str:
        """Format the number of hidden open sections and the share of the text that the model has read. May be empty."""
        count, _, read = (counts[line] for counts in self._hidden_counts)
        parts = [f"{count} open"] if count else []
        if read and tokens:
            parts.append(f"{max(1, round(100 * min(1.0, read / tokens)))}% read")
        return f" ({', '.join(parts)})" if parts else ""

    def _estimate_tokens(self, document: Document, row: int) -> int:
        """Estimate the tokens of a node and its descendants. Fast even in long documents."""
        if document.columns.kinds[row] is NodeKind.FOLDER:
            return self._lines.library.node(document.ids[row]).tokens if self._is_loaded else 0
        graft = self._lines.library.grafts.get(document.ids[row])
        below = estimate_row_tokens(graft, 0, len(graft.columns)) if graft is not None else 0
        return below + estimate_row_tokens(document, row, document.columns.ends[row])


def _cut_middle(title: str, width: int) -> str:
    """Shorten a title to at most `width` cells by leaving out its middle."""
    if cell_len(title) <= width:
        return title
    end = ""
    for character in reversed(title):
        if cell_len(character + end) > (width - 1) // 2:
            break
        end = character + end
    return set_cell_size(title, max(0, width - 1 - cell_len(end))) + "…" + end


def _draw_guides(guide_flags: tuple[bool, ...], width: int) -> str:
    if not guide_flags:
        return ""
    guides = [_TRUNK if follows else _GAP for follows in guide_flags[:-1]]
    guides.append(_BRANCH if guide_flags[-1] else _LAST_BRANCH)
    depth_max = max(1, width // 5)
    if len(guides) > depth_max:
        guides = [_CUT_GUIDES, *guides[len(guides) - depth_max + 1 :]]
    return "".join(guides[:depth_max])


_COUNTED_DOCUMENT_LENGTH_MAX = 1_000_000
"""Maximum length of a document whose tokens are all counted, in characters. That takes no noticeable time."""
_COUNTED_LENGTH_MAX = 20_000
"""In characters. For longer sections, only this much text is counted, and the result is scaled up."""


def estimate_row_tokens(document: Document, first: int, end: int) -> int:
    """Estimate the tokens of the rows `first` to `end` of a document.

    The count is exact unless the document is long and has not been counted yet.
    """
    if "tokens_before" in vars(document) or len(document.text) <= _COUNTED_DOCUMENT_LENGTH_MAX:
        return document.tokens_before[end] - document.tokens_before[first]
    start, stop = document.columns.starts[first], document.columns.starts[end]
    counted = estimate_tokens(document.text[start : min(stop, start + _COUNTED_LENGTH_MAX)])
    return counted * max(stop - start, _COUNTED_LENGTH_MAX) // _COUNTED_LENGTH_MAX
