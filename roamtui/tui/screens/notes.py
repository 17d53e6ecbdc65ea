"""`NotesDialog`: the list of a person's notes on the document, and the prompt for a note's comment."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace
from textual import events, on, work
from textual.app import App
from textual.content import Content
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.conversation.citations import Citation
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.drafts import DraftFile
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.notes import Note, NoteStore, make_note
from roamtui.errors import StoreError, UsageError
from roamtui.export.markdown import render_notes
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import PATH_STEP
from roamtui.paths import is_standard_input
from roamtui.quotes.located_notes import LocatedNote, locate_notes, make_span_citation
from roamtui.quotes.wording import list_path_titles
from roamtui.sanitiser import sanitise_line
from roamtui.text import Span, shorten
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import draw_parts, wrap
from roamtui.tui.key_queue import LOADING
from roamtui.tui.messages import SectionTarget
from roamtui.tui.screen_words import format_full_path
from roamtui.tui.screens.dialogs import ConfirmDialog, ExportDialog, PromptDialog, make_foot, make_key_hints
from roamtui.tui.screens.lists import ListDialog, Row, contains_words

_QUOTE_LINES_MAX = 3
_QUOTE_LENGTH_MAX = 600


class NotesDialog(ListDialog[LocatedNote, SectionTarget | None]):
    """Lists the notes on a document. The result is the place of the chosen note, or None."""

    AUTO_FOCUS = "ItemList"
    CLEARS_FIRST = True
    BINDINGS = make_bindings(Scope.SAVED)

    def __init__(self, agent: Agent, keys: Keymap) -> None:
        super().__init__("Notes", make_key_hints(keys, Scope.SAVED), placeholder="Search quotes and comments")
        self._agent = agent
        self._store = _get_store(agent.conversation)
        self._library = agent.conversation.state.library
        self._located: tuple[LocatedNote, ...] = ()
        note_key = keys.first_keys["section.note"]
        self._hint = (
            f"No notes yet · esc, then {note_key} in the outline or reader adds the section or selection"
        )

    @on(events.Mount)
    @work(group=LOADING, exit_on_error=False)
    async def _load(self) -> None:
        self._library = await self._agent.conversation.load_all()
        notes = await asyncio.to_thread(self._store.read)
        self._located = await asyncio.to_thread(locate_notes, notes, self._library)
        self.show()
        self.show_message("" if self._located else self._hint)

    @override
    def list_rows(self, typed: str) -> Iterator[Row[LocatedNote]]:
        for note in self._located:
            line = self._draw(note)
            if contains_words(line.plain, typed):
                yield Row(note, line)

    def _draw(self, located: LocatedNote) -> Content:
        width = self.list.line_width
        path = PATH_STEP.join(list_path_titles(located.current_citation, self._library.title)) or "(untitled)"
        head = Content.assemble((path, "bold"), (f" · {located.current_citation.position}", "$muted"))
        lines = [head.truncate(width, ellipsis=True)]
        if located.note.citation.quote is not None:
            if (surroundings := located.current_citation.surroundings) is not None:
                shown = draw_parts(surroundings.cut(width * _QUOTE_LINES_MAX))
            else:
                shown = Content.styled(f"“{_format_words(located.note.citation)}”", "italic")
            lines += wrap(shown, width, lead="  ", follow="  ")[:_QUOTE_LINES_MAX]
        for sign, words, style in (
            ("✎", located.note.comment, "$accent"),
            ("!", located.change_label, "$warning"),
        ):
            if words:
                lead = Content.styled(f"  {sign} ", style)
                lines += wrap(Content.styled(sanitise_line(words), style), width, lead=lead, follow="    ")
        return Content("\n").join(lines)

    @override
    def choose(self, item: LocatedNote) -> None:
        link = next((link for link in reversed(item.note.links) if link in self._library), None)
        section_id = item.new_citation.section_id if item.new_citation is not None else link
        if section_id is None:
            self.show_message(item.change_label[:1].upper() + item.change_label[1:] + ".")
            return
        if item.note.comment:
            self.notify(f"✎ {item.note.comment}", markup=False)
        self.dismiss(SectionTarget(section_id, item.new_citation))

    @work(exclusive=True, exit_on_error=False)
    async def action_edit(self) -> None:
        located = self.list.highlighted_item
        if located is None:
            return
        note = await _edit(self.app, self._agent.conversation, located.note, "Edit comment")
        if note is not None:
            self._located = tuple(
                replace(other, note=note) if other is located else other for other in self._located
            )
            self.show()

    @work(exclusive=True, exit_on_error=False)
    async def action_delete(self) -> None:
        if (located := self.list.highlighted_item) is None:
            return
        words = _format_words(located.note.citation)
        title = sanitise_line(located.note.comment) or words or "this note"
        if await self.app.push_screen_wait(ConfirmDialog("Delete this for good?", title, yes="Delete")):
            await asyncio.to_thread(self._store.delete, [located.note.id])
            self._located = tuple(other for other in self._located if other is not located)
            self.show()
            self.show_message("Deleted.")

    def action_export(self) -> None:
        if self._located:
            source = self._located[0].note.source_key
            text = render_notes(self._located, source, self._library.title)
            stem = "notes" if "://" in source or is_standard_input(source) else f"{Path(source).stem}-notes"
            renderers = {".md": lambda _: text}
            dialog = ExportDialog("Export notes as Markdown to", stem, renderers, self._library.source_names)
            self.app.push_screen(dialog, self.show_message)


def _get_store(conversation: Conversation) -> NoteStore:
    """Return the store of the document's notes. Raise `UsageError` if saving is off."""
    if conversation.store is None:
        raise UsageError("Notes cannot be saved here, because saving conversations is off.")
    return NoteStore(conversation.store.notes_folder, get_source_key(conversation.state.library))


async def add_note(app: App[None], conversation: Conversation, section_id: str, span: Span | None) -> bool:
    """Ask for a comment, and save it in a new note or in the one on the same place. Return whether it did."""
    library = conversation.state.library
    cited = make_span_citation(section_id, span, library)
    key = (cited.section_id, cited.quote)
    notes = await asyncio.to_thread(_get_store(conversation).read)
    existing = next((note for note in notes if (note.citation.section_id, note.citation.quote) == key), None)
    note = existing or make_note(library, cited, "")
    heading = "Add note" if existing is None else "Edit comment"
    where = format_full_path(library, cited.section_id)
    return await _edit(app, conversation, note, heading, where) is not None


def _format_words(citation: Citation) -> str:
    """Format the words of a note as a reader sees them. Empty for a note on a section."""
    return shorten(read_visible_line(citation.quote or ""), _QUOTE_LENGTH_MAX)


async def _edit(
    app: App[None], conversation: Conversation, note: Note, heading: str, where: str = ""
) -> Note | None:
    """Ask for a note's comment until the note is saved. The prompt shows its words and the path `where`.

    Return the saved note, or None if the person leaves. The typed text is then kept as a draft.
    """
    assert conversation.store is not None
    citation = note.citation
    key = ascii((note.source_key, citation.section_id, citation.quote))
    draft = DraftFile(conversation.store, key, "note")
    comment = "".join(draft.load())
    problem = "Your draft, not saved yet" if comment else ""
    comment = comment or note.comment
    words = _format_words(citation)
    detail = [where, f"“{words}”" if words else ""]
    foot = make_foot("enter to save (comment optional)", "esc to keep a draft")

    def keep(typed: str) -> None:
        draft.write([] if typed.strip() in ("", note.comment) else [typed])

    with closing(draft):
        while True:
            shown = "\n".join(filter(None, [problem, *detail]))
            prompt = PromptDialog(
                heading, comment, detail=shown, foot=foot, check=lambda _: "", on_typed=keep
            )
            answer = await app.push_screen_wait(prompt)
            if answer is None:
                return None
            comment = answer
            changed = replace(note, comment=comment)
            try:
                await asyncio.to_thread(_get_store(conversation).save, changed)
            except StoreError as error:
                problem = str(error)
            else:
                keep(note.comment)
                return changed
