"""`NotesScreen`: the list of a person's notes on the document, and the prompt for their comment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from textual import events, on, work
from textual.app import App
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList
from typing_extensions import override

from roamtui.conversation.notes import NoteStore
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.export.markdown import format_location, render_notes
from roamtui.quotes.recheck import LocatedNote
from roamtui.quotes.source_list import list_path_titles, strip_links
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import SectionTarget, wrap
from roamtui.tui.labels import STEP
from roamtui.tui.screens.dialogs import ItemList, PromptDialog
from roamtui.tui.screens.saved_items import ExportDialog, SavedItemsScreen

_QUOTE_LINES_MAX = 3
_QUOTE_LENGTH_MAX = 600


class NotesScreen(SavedItemsScreen[LocatedNote, LocatedNote | None]):
    """Lists notes. The result is the note to go to, or None if the person leaves."""

    AUTO_FOCUS = "ItemList"
    HEADING = "Notes"

    def __init__(self, notes: NoteStore, located: tuple[LocatedNote, ...], library: Library, keys: Keymap) -> None:
        super().__init__(keys)
        self._notes = notes
        self._located = located
        self._library = library
        self._list = ItemList[LocatedNote]()

    @override
    def _compose_list(self) -> tuple[Widget, ...]:
        return (self._list,)

    @on(events.Mount)
    @on(events.Resize)
    def _lay_out(self) -> None:
        self._show()

    @override
    def _list_items(self) -> tuple[LocatedNote, ...]:
        return self._located

    @override
    def _get_id(self, item: LocatedNote) -> str:
        return item.note.id

    @override
    def _fill(self, index: int) -> None:
        self._list.set_items([(note, self._draw(note)) for note in self._visible], index if self._visible else None)

    @override
    def _describe(self) -> str:
        return f"this document · {len(self._visible):,}" if self._visible else "this document · no notes"

    @override
    def _delete(self, item: LocatedNote) -> None:
        self._notes.delete([item.note.id])

    @override
    def _forget(self, item: LocatedNote) -> None:
        self._located = tuple(other for other in self._located if other is not item)

    def _draw(self, located: LocatedNote) -> Content:
        """Return a note as lines: its section, its quote, the comment, and what has changed since it was saved."""
        width = self._list.line_width
        path = STEP.join(list_path_titles(located.current_citation, self._library.title)) or "(untitled)"
        position = format_location(located.current_citation, "").rpartition(" · ")[2]
        lines = [Content.assemble((path, "bold"), (f" · {position}", "$muted")).truncate(width, ellipsis=True)]
        if located.note.citation.quote is not None:
            quote = shorten(strip_links(located.note.citation.quote), _QUOTE_LENGTH_MAX)
            quote_lines = wrap(Content.styled(f"“{quote}”", "italic"), width, lead="  ", follow="  ")
            lines += quote_lines[:_QUOTE_LINES_MAX]
            if len(quote_lines) > _QUOTE_LINES_MAX:
                lines[-1] = lines[-1].truncate(width - 1) + "…"
        if located.note.words:
            lead = Content.styled("  ✎ ", "$accent")
            lines += wrap(Content.styled(sanitise_line(located.note.words), "$accent"), width, lead=lead, follow="    ")
        if located.change_note:
            lead = Content.styled("  ! ", "$warning")
            lines += wrap(Content.styled(located.change_note, "$warning"), width, lead=lead, follow="    ")
        return Content("\n").join(lines)

    @on(OptionList.OptionSelected)
    def action_choose(self) -> None:
        located = self._selected
        if located is not None and make_note_target(located, self._library) is None:
            self._show_message(located.change_note[:1].upper() + located.change_note[1:] + ".")
        elif located is not None:
            self.dismiss(located)

    @override
    def action_leave(self) -> None:
        self.dismiss(None)

    @work(exclusive=True, exit_on_error=False)
    async def action_edit(self) -> None:
        located = self._selected
        if located is None:
            return
        words = await prompt_for_comment(self.app, located.note.words, located.note.citation.quote or "")
        if words is not None:
            note = replace(located.note, words=words)
            self._located = tuple(replace(other, note=note) if other is located else other for other in self._located)
            self._show()
            await asyncio.to_thread(self._notes.save, note)

    def action_delete(self) -> None:
        if (located := self._selected) is not None:
            note = located.note
            self._confirm_deletion(located, sanitise_line(note.words or note.citation.quote or "") or "this note")

    def action_export(self) -> None:
        if self._visible:
            source = self._visible[0].note.source
            text = render_notes(self._visible, source, self._library.title)
            stem = "notes" if "://" in source or source.startswith("-") else f"{Path(source).stem}-notes"
            self._export(ExportDialog("Export notes as Markdown to", stem, {".md": lambda _: text}))


def make_note_target(located: LocatedNote, library: Library) -> SectionTarget | None:
    """Return where a note leads: to its text, or else to the link to its page. None if both are gone."""
    if located.new_citation is not None:
        return SectionTarget(located.new_citation.section_id, located.new_citation)
    link = next((link for link in reversed(located.note.links) if link in library), None)
    return None if link is None else SectionTarget(link)


async def prompt_for_comment(app: App[None], words: str, quote: str, where: str = "") -> str | None:
    """Ask for a comment. Return it, or None if the person leaves.

    `words` is the existing comment, and `where` the path of the section of a new note.
    """
    quoted = f"“{shorten(strip_links(quote), _QUOTE_LENGTH_MAX)}”" if quote else ""
    foot = "enter to save (comment optional), esc to cancel"
    detail = "\n".join(filter(None, [where, quoted]))
    heading = "Add note" if where else "Edit comment"
    prompt = PromptDialog(heading, words, detail=detail, foot=foot, may_be_empty=True)
    return await app.push_screen_wait(prompt)
