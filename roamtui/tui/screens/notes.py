"""A person's notes of the document: keeping a place or words of it, and the list of what is kept."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.agent.placed_notes import PlacedNote, cite_place, describe_place, name_path, place_notes, render_notes
from roamtui.conversation.loading import identify_source
from roamtui.conversation.notes import Notes, make_note
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.errors import StoreError
from roamtui.tui.actions import Scope
from roamtui.tui.app import describe_failure
from roamtui.tui.chat.content_view import SectionTarget, wrap
from roamtui.tui.chat.sources_view import show_words
from roamtui.tui.commands import KeepWanted
from roamtui.tui.keys import Keys, bind
from roamtui.tui.marked_list import SIGN_WIDTH, MarkedList
from roamtui.tui.node_names import STEP, name_whole
from roamtui.tui.screens.asking import Asking
from roamtui.tui.screens.overlays import ListOverlay, PromptScreen
from roamtui.tui.screens.pane_switch import Panes
from roamtui.tui.screens.reading import Reading, find_span
from roamtui.tui.screens.writing import ask_and_write
from roamtui.tui.status_line import ScreenHints

_QUOTE_LINES = 3
_QUOTE_LENGTH_MAX = 600
_NOT_KEPT = "nothing is saved here, so nothing can be kept"


class NotesScreen(ListOverlay[PlacedNote | None]):
    """Lists notes; what is deleted here can be brought back until it is left. The result is a place to go to."""

    AUTO_FOCUS = "MarkedList"
    BINDINGS = bind(Scope.NOTES)
    DEFAULT_CSS = """
    NotesScreen {
        & > Vertical { width: 100; max-width: 96%; height: 90%; max-height: 90%; padding: 0 1; }
        & OptionList { height: 1fr; }
        & .said { height: auto; color: $accent; }
    }
    """

    def __init__(self, notes: Notes, placed: tuple[PlacedNote, ...], library: Library, keys: Keys) -> None:
        super().__init__()
        self._notes = notes
        self._placed = placed
        self._library = library
        self._keys = keys
        self._deleted_ids: list[str] = []

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="notes-title")
            yield MarkedList()
            yield Static(self._notes.damage, classes="said", markup=False)
            yield ScreenHints(self._keys, Scope.NOTES)

    def on_mount(self) -> None:
        """Show what is kept."""
        self._show(0)

    def on_resize(self) -> None:
        """Lay the notes out for another width."""
        self._show(self.query_one(MarkedList).highlighted)

    def on_unmount(self) -> None:
        """Delete what is left to delete, where the program ends from here."""
        with suppress(StoreError):
            self._notes.delete(self._deleted_ids)

    @property
    def _visible(self) -> list[PlacedNote]:
        return [one for one in self._placed if one.note.id not in self._deleted_ids]

    @property
    def _selected(self) -> PlacedNote | None:
        line = self.query_one(MarkedList).highlighted
        return None if line is None else self._visible[line]

    def _show(self, chosen: int | None) -> None:
        visible = self._visible
        last = len(visible) - 1
        lines = [self._draw(one) for one in visible]
        self.query_one(MarkedList).show_lines(lines, chosen=min(chosen or 0, last) if visible else None)
        count = f"{len(visible):,}" if visible else "none"
        title = Content.assemble(("Notes", "bold $primary"), (f" · this document · {count}", "$muted"))
        self.query_one("#notes-title", Static).update(title)

    def _draw(self, placed: PlacedNote) -> Content:
        """Return a note in lines: where it stands, the words that were kept, the person's own, and what changed."""
        width = max(20, self.query_one(MarkedList).scrollable_content_region.width - SIGN_WIDTH)
        names = STEP.join(name_path(placed.citation, self._library.title)) or "(untitled)"
        place = describe_place(placed.citation, "").rpartition(" · ")[2]
        lines = [Content.assemble((names, "bold"), (f" · {place}", "$muted")).truncate(width, ellipsis=True)]
        if placed.note.citation.quote is not None:
            quote = shorten(show_words(placed.note.citation.quote), _QUOTE_LENGTH_MAX)
            told = wrap(Content.styled(f"“{quote}”", "italic"), width, lead="  ", follow="  ")
            lines += told[:_QUOTE_LINES]
            if len(told) > _QUOTE_LINES:
                lines[-1] = lines[-1].truncate(width - 1) + "…"
        if placed.note.words:
            lead = Content.styled("  ✎ ", "$accent")
            lines += wrap(Content.styled(plain_line(placed.note.words), "$accent"), width, lead=lead, follow="    ")
        if placed.news:
            lead = Content.styled("  ! ", "$warning")
            lines += wrap(Content.styled(placed.news, "$warning"), width, lead=lead, follow="    ")
        return Content("\n").join(lines)

    def _say(self, words: str) -> None:
        self.query_one(".said", Static).update(Content(words))

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._say(describe_failure(event.worker.error))

    @on(OptionList.OptionSelected)
    def _go_to_chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_go()

    def action_go(self) -> None:
        """Read the place."""
        placed = self._selected
        if placed is not None and find_target(placed, self._library) is None:
            self._say(placed.news[:1].upper() + placed.news[1:] + ".")
        elif placed is not None:
            self._close(placed)

    @override
    def action_leave(self) -> None:
        """Leave the list."""
        self._close(None)

    def _close(self, chosen: PlacedNote | None) -> None:
        deleted_ids, self._deleted_ids = self._deleted_ids, []
        try:
            self._notes.delete(deleted_ids)
        except StoreError as error:
            self.app.notify(str(error), severity="warning", markup=False)
        self.dismiss(chosen)

    def action_edit(self) -> None:
        """Change the person's own words."""
        if self._selected is not None:
            self.run_worker(self._edit(self._selected), exclusive=True, exit_on_error=False)

    async def _edit(self, placed: PlacedNote) -> None:
        words = await ask_for_words(self.app, placed.note.words, placed.note.citation.quote or "")
        if words is not None:
            note = replace(placed.note, words=words)
            self._placed = tuple(replace(one, note=note) if one is placed else one for one in self._placed)
            self._show(self.query_one(MarkedList).highlighted)
            await asyncio.to_thread(self._notes.keep, note)

    def action_delete(self) -> None:
        """Delete the note when the list is left."""
        placed, line = self._selected, self.query_one(MarkedList).highlighted
        if placed is not None:
            self._deleted_ids.append(placed.note.id)
            self._show(line)
            self._say(f"Deleted. {self._keys.show_first('notes.undo')} brings it back until you leave this list.")

    def action_undo(self) -> None:
        """Bring back what was deleted last."""
        if self._deleted_ids:
            brought_id = self._deleted_ids.pop()
            self._show([one.note.id for one in self._visible].index(brought_id))
            self._say("It is back.")

    def action_export(self) -> None:
        """Write all notes into a file."""
        if self._visible:
            self.run_worker(self._export(), exclusive=True, exit_on_error=False)

    async def _export(self) -> None:
        source = self._visible[0].note.source
        text = render_notes(self._visible, source, self._library.title)
        name = "notes" if "://" in source or source.startswith("-") else f"{Path(source).stem}-notes"
        prompt = PromptScreen("Write the notes to this file, as Markdown", str(Path.cwd() / f"{name}.md"))
        self._say(await ask_and_write(self.app, prompt, lambda _path: text))


def find_target(placed: PlacedNote, library: Library) -> SectionTarget | None:
    """Return where to go for a note: its place, else the link that leads to it; None where there is neither."""
    if placed.now is not None:
        return SectionTarget(placed.now.section_id, placed.now)
    link = next((link for link in reversed(placed.note.links) if link in library), None)
    return None if link is None else SectionTarget(link)


async def ask_for_words(app: App[None], words: str, quote: str, where: str = "") -> str | None:
    """Return a person's own words for what they keep, None where they leave."""
    told = f"“{shorten(show_words(quote), _QUOTE_LENGTH_MAX)}”" if quote else ""
    foot = "enter keeps it, also without words; esc leaves it as it was"
    detail = "\n".join(filter(None, [where, told]))
    heading = "Keep among your notes, with words of your own" if where else "Your own words"
    prompt = PromptScreen(heading, words, detail=detail, foot=foot, may_be_empty=True)
    return await app.push_screen_wait(prompt)


class Noting:
    """Keeps what a person points at, and shows what they keep."""

    def __init__(self, screen: Screen[None], asking: Asking, reading: Reading, panes: Panes, keys: Keys) -> None:
        """Keep places of the document that `asking` asks about; `reading` goes to them."""
        self._screen = screen
        self._asking = asking
        self._reading = reading
        self._panes = panes
        self._keys = keys

    @cached_property
    def _notes(self) -> Notes | None:
        session = self._asking.session
        if session.store is None:
            return None
        return Notes(session.store.notes_folder, identify_source(session.state.library))

    async def keep(self, wanted: KeepWanted) -> None:
        """Keep a section or words, with the person's own; what is kept already gets other words."""
        state = self._asking.session.state
        library, span = state.library, wanted.span or find_span(wanted.citation, state)
        if self._notes is None or wanted.section_id not in library:
            self._panes.status.change(message=_NOT_KEPT if self._notes is None else "there is no such section")
            return
        citation = cite_place(wanted.section_id, span, library)
        place = (citation.section_id, citation.quote)
        kept = await asyncio.to_thread(self._notes.read)
        before = next((one for one in kept if (one.citation.section_id, one.citation.quote) == place), None)
        where = name_whole(library, citation.section_id)
        words = await ask_for_words(self._screen.app, before.words if before else "", citation.quote or "", where)
        if words is None:
            return
        note = replace(before, words=words) if before else make_note(library, citation, words)
        try:
            await asyncio.to_thread(self._notes.keep, note)
            self._panes.status.change(message=f"kept: {self._keys.show_first('global.notes')} lists your notes")
        finally:
            self._screen.clear_selection()
            await self.mark()

    async def mark(self) -> None:
        """Mark the sections of notes in the outline."""
        notes = await asyncio.to_thread(self._notes.read) if self._notes else ()
        self._panes.tree.outline.mark(noted=(note.citation.section_id for note in notes))

    async def show(self) -> None:
        """List what is kept, and go to what the person chooses."""
        library = await self._asking.conversing.load_all()
        notes = await asyncio.to_thread(self._notes.read) if self._notes else ()
        if self._notes is None or not notes:
            keep_key = self._keys.show_first("reader.keep")
            self._panes.status.change(message=f"nothing is kept yet: {keep_key} keeps a section or selected words")
            return
        placed = await asyncio.to_thread(place_notes, notes, library)
        chosen = await self._screen.app.push_screen_wait(NotesScreen(self._notes, placed, library, self._keys))
        await self.mark()
        target = find_target(chosen, library) if chosen is not None else None
        if target is not None:
            self._reading.jump(target, came_from=self._panes.tree.outline)

    def save_left(self) -> None:
        """Write what could not be written before, where the program ends."""
        with suppress(StoreError):
            if self._notes is not None:
                self._notes.keep()
