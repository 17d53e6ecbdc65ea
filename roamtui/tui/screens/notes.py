"""`NotesScreen`: the list of a person's notes on the document, and the prompt for their comment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from typing_extensions import override

from roamtui.agent.recheck import LocatedNote, list_path_titles
from roamtui.conversation.notes import NoteStore
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import StoreError
from roamtui.export.markdown import format_location, render_notes
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import SectionTarget, wrap
from roamtui.tui.chat.exchange_view import strip_links
from roamtui.tui.labels import STEP
from roamtui.tui.screens.dialogs import ItemList, PromptDialog, SavedItemsScreen
from roamtui.tui.status_line import ScreenKeyHints

_QUOTE_LINES = 3
_QUOTE_LENGTH_MAX = 600


class NotesScreen(SavedItemsScreen[LocatedNote | None]):
    """Lists notes. The result is the note to go to, or None if the person leaves."""

    AUTO_FOCUS = "ItemList"
    BINDINGS = make_bindings(Scope.NOTES)

    def __init__(self, notes: NoteStore, placed: tuple[LocatedNote, ...], library: Library, keys: Keymap) -> None:
        super().__init__(keys, Scope.NOTES)
        self._notes = notes
        self._placed = placed
        self._library = library
        self._list = ItemList[LocatedNote]()

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(classes="head")
            yield self._list
            yield Static(self._notes.damage, classes="said", markup=False)
            yield ScreenKeyHints(self._keys, Scope.NOTES)

    @on(events.Mount)
    @on(events.Resize)
    def _lay_out(self) -> None:
        self._show()

    @property
    def _visible(self) -> list[LocatedNote]:
        return [one for one in self._placed if one.note.id not in self._deleted_ids]

    @override
    def _show(self, chosen_id: str | None = None) -> None:
        visible = self._visible
        ids = [one.note.id for one in visible]
        place = ids.index(chosen_id) if chosen_id in ids else min(self._list.highlighted or 0, len(ids) - 1)
        self._list.set_items([(one, self._draw(one)) for one in visible], place if ids else None)
        self._show_title("Notes", f"this document · {len(ids):,}" if ids else "this document · none")

    @override
    def _delete(self, deleted_ids: list[str]) -> list[str]:
        try:
            self._notes.delete(deleted_ids)
        except StoreError as error:
            return [str(error)]
        return []

    def _draw(self, placed: LocatedNote) -> Content:
        """Return a note as lines: its section, its quote, the comment, and what has changed since."""
        width = self._list.room
        names = STEP.join(list_path_titles(placed.current_citation, self._library.title)) or "(untitled)"
        place = format_location(placed.current_citation, "").rpartition(" · ")[2]
        lines = [Content.assemble((names, "bold"), (f" · {place}", "$muted")).truncate(width, ellipsis=True)]
        if placed.note.citation.quote is not None:
            quote = shorten(strip_links(placed.note.citation.quote), _QUOTE_LENGTH_MAX)
            told = wrap(Content.styled(f"“{quote}”", "italic"), width, lead="  ", follow="  ")
            lines += told[:_QUOTE_LINES]
            if len(told) > _QUOTE_LINES:
                lines[-1] = lines[-1].truncate(width - 1) + "…"
        if placed.note.words:
            lead = Content.styled("  ✎ ", "$accent")
            lines += wrap(Content.styled(sanitise_line(placed.note.words), "$accent"), width, lead=lead, follow="    ")
        if placed.change_note:
            lead = Content.styled("  ! ", "$warning")
            lines += wrap(Content.styled(placed.change_note, "$warning"), width, lead=lead, follow="    ")
        return Content("\n").join(lines)

    @on(OptionList.OptionSelected)
    def action_go(self) -> None:
        """Go to the section or quote of the note."""
        placed = self._list.chosen
        if placed is not None and make_note_target(placed, self._library) is None:
            self._set_message(placed.change_note[:1].upper() + placed.change_note[1:] + ".")
        elif placed is not None:
            self._close(placed)

    @override
    def action_leave(self) -> None:
        """Leave the list."""
        self._close(None)

    def action_edit(self) -> None:
        """Change the comment."""
        if self._list.chosen is not None:
            self.run_worker(self._edit(self._list.chosen), exclusive=True, exit_on_error=False)

    async def _edit(self, placed: LocatedNote) -> None:
        words = await prompt_for_comment(self.app, placed.note.words, placed.note.citation.quote or "")
        if words is not None:
            note = replace(placed.note, words=words)
            self._placed = tuple(replace(one, note=note) if one is placed else one for one in self._placed)
            self._show()
            await asyncio.to_thread(self._notes.save, note)

    def action_delete(self) -> None:
        """Delete the note when the person leaves the list."""
        if self._list.chosen is not None:
            self._mark_deleted(self._list.chosen.note.id, "")

    def action_export(self) -> None:
        """Write all notes to a file."""
        if self._visible:
            self.run_worker(self._export(), exclusive=True, exit_on_error=False)

    async def _export(self) -> None:
        source = self._visible[0].note.source
        text = render_notes(self._visible, source, self._library.title)
        name = "notes" if "://" in source or source.startswith("-") else f"{Path(source).stem}-notes"
        prompt = PromptDialog("Write the notes to this file, as Markdown", str(Path.cwd() / f"{name}.md"))
        await self._export_to(prompt, lambda _path: text)


def make_note_target(placed: LocatedNote, library: Library) -> SectionTarget | None:
    """Return where a note leads: its text, else the link that it came from; None if the document has neither."""
    if placed.now is not None:
        return SectionTarget(placed.now.section_id, placed.now)
    link = next((link for link in reversed(placed.note.links) if link in library), None)
    return None if link is None else SectionTarget(link)


async def prompt_for_comment(app: App[None], words: str, quote: str, where: str = "") -> str | None:
    """Return the comment that the person types, or None if they leave."""
    told = f"“{shorten(strip_links(quote), _QUOTE_LENGTH_MAX)}”" if quote else ""
    foot = "enter keeps it, also without words; esc leaves it as it was"
    detail = "\n".join(filter(None, [where, told]))
    heading = "Keep among your notes, with words of your own" if where else "Your own words"
    prompt = PromptDialog(heading, words, detail=detail, foot=foot, may_be_empty=True)
    return await app.push_screen_wait(prompt)
