"""The commands `notebook`, `notebooks` and `notes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.document.counts import format_count
from roamtui.document.library_source import NOTEBOOK_MARK
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.headless.output import warn, write_notices, write_text
from roamtui.library_loader import open_library
from roamtui.option_fields import (
    FILES_HELP,
    JSON_HELP,
    PLAIN_HELP,
    SEARCH,
    AppArguments,
    ConversationArguments,
    WebArguments,
    add_argument_group,
    declare_overrides,
    option,
)
from roamtui.paths import conversations_path, notebooks_path, reading_positions_path
from roamtui.sources.file_sources import split_sources

_TAKES = {
    "list": "no NAME",
    "delete": "the NAME of a notebook",
    "rename": "the NAME of a notebook and NEW",
    "export": "the NAME of a notebook and NEW",
}
"""The arguments of each action of `notebooks`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookCommand:
    """Open a notebook: a named set of sources with its conversations and notes. With SOURCE, make it or add to it."""

    name: str = option(..., "its name; @NAME stands for it wherever a SOURCE does", name="NAME")
    sources: tuple[str, ...] = option(
        (), f"{FILES_HELP}; or a folder that `notebooks export` wrote", name="SOURCE", nargs="*"
    )
    no_open: bool = option(False, "make it or add to it, without opening the app", name="--no-open")
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = add_argument_group(ConversationArguments)
    is_plain: bool = option(False, PLAIN_HELP, name="--plain")

    def run(self) -> int:
        from roamtui.conversation.notebooks import NotebookStore
        from roamtui.headless.notebooks import add_to_notebook
        from roamtui.launch import run_app

        name = self.name.removeprefix(NOTEBOOK_MARK)
        add_to_notebook(NotebookStore(notebooks_path()), name, self.sources)
        if self.no_open:
            return 0
        return run_app(
            AppArguments(
                sources=(f"{NOTEBOOK_MARK}{name}",),
                web=self.web,
                overrides=self.overrides,
                conversation=self.conversation,
                is_plain=self.is_plain,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebooksCommand:
    """List, rename, delete or export notebooks. Their sources are never touched."""

    action: str = option(
        "list",
        "list (default) all; rename NAME to NEW; delete NAME; or export NAME to the new folder NEW",
        name="{list,rename,delete,export}",
        choices=("list", "rename", "delete", "export"),
        nargs="?",
    )
    name: str | None = option(None, "of the notebook", name="NAME", nargs="?")
    target: str | None = option(None, "its new name, or the folder to export it to", name="NEW", nargs="?")
    as_json: bool = option(False, JSON_HELP, name="--json")

    def run(self) -> int:
        from roamtui.conversation.notebooks import NotebookStore
        from roamtui.conversation.reading_positions import ReadingPositions
        from roamtui.conversation.store import ConversationStore
        from roamtui.headless.notebooks import print_notebooks, rename_notebook, write_export

        store = NotebookStore(notebooks_path())
        match self.action, self.name and self.name.removeprefix(NOTEBOOK_MARK), self.target:
            case "list", None, None:
                print_notebooks(store, as_json=self.as_json)
            case "delete", str(name), None:
                conversations = ConversationStore(conversations_path())
                store.delete(name)
                count = len(conversations.list(f"{NOTEBOOK_MARK}{name}"))
                words = f"{count} conversation{'s stay' if count > 1 else ' stays'}"
                kept = f" Its {words}: roamtui conversations" if count else ""
                write_notices([f'Deleted the notebook "{name}". Its sources are untouched.{kept}'])
            case "rename", str(name), str(target):
                target = target.removeprefix(NOTEBOOK_MARK)
                positions = ReadingPositions(reading_positions_path())
                rename_notebook(store, ConversationStore(conversations_path()), positions, name, target)
                write_notices([f'The notebook "{name}" is now "{target}".'])
            case "export", str(name), str(target):
                write_export(store.read(name), ConversationStore(conversations_path()), Path(target))
                write_notices([f"Wrote {target}. To open it: roamtui notebook NAME {target}"])
            case _:
                raise UsageError(f"{self.action} takes {_TAKES[self.action]}.")
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesCommand:
    """Print your notes on a document as Markdown; without SOURCE, list documents with notes."""

    source: str | None = option(
        None, "the document; if it no longer exists, its name as listed", name="SOURCE", nargs="?"
    )
    web: WebArguments = add_argument_group(WebArguments)
    delete: bool = option(False, "delete all notes on it permanently", name="--delete")

    def run(self) -> int:
        from roamtui.agent.recheck import locate_notes
        from roamtui.conversation.library_sync import get_source_key
        from roamtui.conversation.notes import NoteStore, count_notes
        from roamtui.conversation.store import ConversationStore
        from roamtui.export.markdown import render_notes

        folder = ConversationStore(conversations_path()).notes_folder
        if self.source is None:
            if self.delete:
                raise UsageError("--delete needs a SOURCE.")
            counts = count_notes(folder)
            for name, count in counts.items():
                write_text(f"{sanitise_line(name)}  ({format_count(count, 'note')})\n")
            if not counts:
                write_text("No notes yet. In the app, b adds one.\n")
            if Path("notes").exists():
                write_notices(["To open the file or folder named notes: roamtui ./notes"])
            return 0
        store, library = NoteStore(folder, self.source), None
        try:
            library = open_library(split_sources(self.source), self.web)
            store = NoteStore(folder, get_source_key(library))
        except RoamtuiError as error:
            if not store.read():
                raise
            warn(f"showing notes as saved: {error}")
        notes = store.read()
        write_notices(filter(None, [store.damage]))
        if self.delete:
            store.delete([note.id for note in notes])
            write_notices([f"Deleted {format_count(len(notes), 'note')}."])
        elif notes:
            title = library.title if library is not None else notes[0].source
            write_text(render_notes(locate_notes(notes, library), notes[0].source, title))
        else:
            raise RoamtuiError("No notes on this document. In the app, b adds one.")
        return 0
