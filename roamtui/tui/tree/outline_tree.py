"""`OutlineTree`: the outline of a library, drawn from the state of a conversation.

It owns the cursor and the scroll position. The conversation owns which nodes are unfolded and open, so keys
and clicks only post messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, is_

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from typing_extensions import override

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationStarted,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    SectionsOpened,
    SectionsSearched,
)
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Node
from roamtui.outline.labels import extract_opening_words, format_node_title
from roamtui.sanitiser import sanitise_line
from roamtui.tui.actions import Scope, make_bindings
from roamtui.tui.messages import CommandRequested, SectionTarget, TargetActivated
from roamtui.tui.section_commands import make_section_command, make_unfold_command
from roamtui.tui.tree.visible_lines import OPEN_SIGN, SIGNS, FoldState, VisibleLines, list_signs

_MARGIN = 2
"""Lines kept above and below a revealed line, to show its context."""
_TITLE_LENGTH_MAX = 1_000
"""In characters. No screen shows more, and a heading may have a million."""
_TITLE_WIDTH_MIN = 8
"""In cells. If a title would get less, the page is left out."""
_get_drawn = attrgetter("library", "unfolded", "open_sections", "cited", "reading_id")
"""Returns the parts of a state that the tree draws."""
_CURSOR_STYLE = "bold $block-cursor-foreground on $block-cursor-background"
_FOLD_META_KEY = "roamtui_fold"
"""The style metadata key of a triangle. The value says whether its node can be folded."""


class OutlineTree(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the outline of a conversation's library, one strip a line. `show` replaces its state."""

    ALLOW_SELECT = False
    BINDINGS = make_bindings(Scope.TREE, Scope.SECTION, Scope.MOVE)

    @dataclass
    class CursorMoved(Message):
        """The cursor moved to another node."""

        section_id: str

    def __init__(self, state: ConversationState) -> None:
        super().__init__()
        self.lines = VisibleLines(state.library, state.unfolded)
        self.cursor_line = 0
        self.cursor_id = self.lines.id_at(0)
        """Id of the node under the cursor, or None in an empty outline."""
        self._state = state
        self._marked: frozenset[str] = frozenset()
        """The nodes that the last search found."""
        self._signs = list_signs(state, self.lines, self._marked)
        self._pending_id: str | None = None
        """The node to go to once its ancestors are unfolded."""

    @override
    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if self.lines.id_at(line) is None:
            return Strip.blank(width, self.visual_style.rich_style)
        content = self.draw_line(line, width)
        if line == self.cursor_line:
            # A focused cursor covers all colours: only its own is sure to be readable on its background.
            content = content.stylize(_CURSOR_STYLE if self.has_focus else "on $foreground 15%")
        return Strip(content.render_segments(self.visual_style)).adjust_cell_length(width)

    def draw_line(self, line: int, width: int) -> Content:
        """Draw a line of exactly `width` cells: guides, triangle, title, signs and page."""
        node = self.lines.library.node(self.lines.ids[line])
        fold = self.lines.fold_at(line)
        is_open = node.id in self._state.open_sections
        guides = self.lines.draw_guides(line, width)
        opened = f"{OPEN_SIGN} " if is_open else ""
        signs = self._signs.get(node.id, "")
        signs = signs and f" {signs}"
        triangle = Content.styled(f"{fold} ", "$text-warning" if fold is FoldState.FAILED else "$muted")
        triangle = triangle.stylize(Style.from_meta({_FOLD_META_KEY: fold is not FoldState.LEAF}))
        room = width - sum(map(cell_len, (guides, opened, signs))) - len(triangle)
        page = self.lines.format_page(line)
        page = page if room - len(page) > _TITLE_WIDTH_MIN else ""
        room = max(0, room - len(page))
        shown = self._draw_title(node, room, is_open=is_open)
        mark = Content.styled(opened, "bold $text-accent")
        head = Content.assemble((guides, "$foreground 30%"), triangle, mark, shown)
        head = (head + Content.styled(signs, "$text-warning")).truncate(width - len(page), pad=True)
        return head + Content.styled(page, "$muted")

    def _draw_title(self, node: Node, room: int, *, is_open: bool) -> Content:
        """Draw a title in `room` cells. If it has no letters, add the first words or first title below it."""
        title = sanitise_line(node.title[:_TITLE_LENGTH_MAX])
        style = "" if title else "italic $muted"
        if is_open:
            style = "bold $text-accent"
        shown = Content.styled(title or format_node_title(node), style)
        if title and not any(map(str.isalpha, title)):
            library = self.lines.library
            titles = (format_node_title(library.node(child_id)) for child_id in library.children(node.id))
            words = extract_opening_words(library, node.id) or next(titles, "")
            shown += Content.styled(f" {words}", "$muted")
        return shown.truncate(room, ellipsis=True)

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation. The cursor and the view stay on the same nodes."""
        shown = self._state
        self._state = state
        if not all(map(is_, _get_drawn(shown), _get_drawn(state))):  # most events change nothing drawn
            self._lay_out()

    def _lay_out(self) -> None:
        state = self._state
        top_id = self.lines.id_at(round(self.scroll_target_y))
        if state.library is not self.lines.library or state.unfolded != self.lines.unfolded:
            self.lines = VisibleLines(state.library, state.unfolded)
        self._signs = list_signs(state, self.lines, self._marked)
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.lines.ids))
        top = self.lines.find_line(top_id)
        self.scroll_to(y=self.scroll_target_y if top < 0 else top, animate=False, force=True)
        line = self.lines.find_line(self.cursor_id)
        self._set_cursor(self.cursor_line if line < 0 else line)
        self.refresh()
        pending_id = self._pending_id
        if pending_id is not None and self.lines.id_at(self.lines.find_line(pending_id)) == pending_id:
            self._pending_id = None
            self.move_to(pending_id)

    def handle_event(self, event: ConversationEvent) -> None:
        """Mark what was found, and scroll to what was opened and to the first citation."""
        match event:
            case QuestionAnswered():
                for citation in self._state.exchanges[-1].citations[:1]:
                    self.reveal(citation.section_id)
            case SectionsSearched(hits=hits):
                self.mark([*self._marked, *(hit.section_id for hit in hits)])
            case SectionsOpened(origin=Origin.AGENT, opened_ids=opened) if opened:
                self.reveal(opened[-1])
            case QuestionAsked() | ConversationStarted():
                self.mark(())
            case _:
                pass

    def mark(self, section_ids: Iterable[str]) -> None:
        """Mark the nodes that a search found, instead of earlier ones."""
        self._marked = frozenset(section_ids)
        self._signs = list_signs(self._state, self.lines, self._marked)
        self.refresh()

    def explain_signs(self) -> Sequence[tuple[str, str]]:
        """Return the signs of the selected line, each with its meaning."""
        if self.cursor_id is None:
            return ()
        shown = self._signs.get(self.cursor_id, "") + self.lines.fold_at(self.cursor_line)
        shown += OPEN_SIGN if self.cursor_id in self._state.open_sections else ""
        return [
            (signs, meaning)
            for signs, meaning in SIGNS.items()
            if any(sign in shown for sign in signs.split())
        ]

    def reveal(self, section_id: str | None) -> None:
        """Scroll a node, or its nearest visible ancestor, into view with some lines around it."""
        line = self.lines.find_line(section_id)
        height = self.scrollable_content_region.height
        if line >= 0 and height:
            margin = max(0, min(_MARGIN, (height - 1) // 2))
            top = max(line - height + 1 + margin, min(self.scroll_target_y, line - margin))
            self.scroll_to(y=top, animate=False, force=True)

    def move_to(self, section_id: str) -> None:
        """Move the cursor to a node, or to its nearest visible ancestor, and scroll it into view."""
        line = self.lines.find_line(section_id)
        if line >= 0:
            self._move_to_line(line)

    def go_to(self, section_id: str) -> None:
        """Move the cursor to a section, after unfolding its ancestors if it is hidden."""
        self.move_to(section_id)
        library = self.lines.library
        ancestors = library.node(section_id).ancestors if section_id in library else ()
        if not self.lines.unfolded.issuperset(ancestors):
            self._pending_id = section_id
            self.post_message(CommandRequested(lambda state: make_unfold_command(state, *ancestors)))

    def _move_to_line(self, line: int) -> None:
        """Move the cursor to a line, or to the first or last one if out of range, and scroll it into view."""
        self._set_cursor(line)
        self.reveal(self.cursor_id)

    def _set_cursor(self, line: int) -> None:
        before_line = self.cursor_line
        before_id = self.cursor_id
        self.cursor_line = max(0, min(line, len(self.lines.ids) - 1))
        self.cursor_id = self.lines.id_at(self.cursor_line)
        if self.cursor_line != before_line:
            self.refresh_line(before_line)
            self.refresh_line(self.cursor_line)
        if self.cursor_id is not None and self.cursor_id != before_id:
            self.post_message(self.CursorMoved(self.cursor_id))

    def on_resize(self) -> None:
        """Draw in the new width, with the cursor in view."""
        self._lay_out()
        self.reveal(self.cursor_id)

    @on(events.Focus)
    @on(events.Blur)
    def _redraw_cursor(self) -> None:
        self.refresh_line(self.cursor_line)

    def action_move(self, lines: int) -> None:
        self._move_to_line(self.cursor_line + lines)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.scrollable_content_region.height - 1))

    def action_first(self) -> None:
        self._move_to_line(0)

    def action_last(self) -> None:
        self._move_to_line(len(self.lines.ids) - 1)

    def action_move_sideways(self, direction: int) -> None:
        """Unfold the node or go to its first child (1); fold it or go to its parent (-1)."""
        if self.cursor_id is None:
            return
        fold = self.lines.fold_at(self.cursor_line)
        can_fold = fold is FoldState.UNFOLDED and self.cursor_id in self.lines.unfolded
        if direction > 0 and fold is FoldState.UNFOLDED:
            self.action_move(1)
        elif can_fold or (direction > 0 and fold is not FoldState.LEAF):
            self.action_fold()
        elif direction < 0:
            self.move_to(self.lines.library.node(self.cursor_id).parent or self.cursor_id)

    def action_fold(self) -> None:
        if self.cursor_id is not None:
            make_command = partial(make_section_command, "fold", section_id=self.cursor_id)
            self.post_message(CommandRequested(make_command))

    def action_read(self) -> None:
        if self.cursor_id is not None:
            self.post_message(TargetActivated(SectionTarget(self.cursor_id)))

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        """Fold or unfold a node whose triangle is clicked. Read any other node."""
        offset = event.get_content_offset(self)
        line = -1 if offset is None else offset.y + self.scroll_offset.y
        if self.lines.id_at(line) is None:
            return
        self._move_to_line(line)
        if event.style.meta.get(_FOLD_META_KEY):
            self.action_fold()
        else:
            self.action_read()
