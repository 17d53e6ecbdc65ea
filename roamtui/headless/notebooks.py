"""`roamtui notebook` and `roamtui notebooks`: create, list, rename and export notebooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from roamtui.agent.recheck import locate_notes
from roamtui.conversation.notebook_export import export_notebook
from roamtui.conversation.notebooks import Notebook, NotebookStore, has_missing_files, list_named_sources
from roamtui.conversation.notes import NoteStore
from roamtui.conversation.reading_positions import ReadingPositions
from roamtui.conversation.store import ConversationStore
from roamtui.document.counts import format_count
from roamtui.document.library_source import NOTEBOOK_MARK, LibrarySource
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.export.markdown import render_markdown, render_notes
from roamtui.headless.output import warn, write_json, write_text
from roamtui.paths import display_path


def add_to_notebook(store: NotebookStore, name: str, sources: Sequence[str]) -> None:
    """Create a notebook, or add sources to it. Without sources, only check that it exists.

    Raises:
        RoamtuiError: A source cannot be in a notebook, or the notebook's file cannot be changed. Nothing changes.
    """
    if not sources:
        store.read(name)
        return
    is_new = not store.exists(name)
    present = () if is_new else store.read(name).sources
    added = list_named_sources(sources, present, store, name)
    saved = store.change(name, lambda now: [*now, *list_named_sources(sources, now, store, name)])
    if is_new:
        count = format_count(len(saved), "source")
        warn(f'Made the notebook "{name}" of {count}: {store.get_path(name)}')
    elif added:
        warn(f'Added to the notebook "{name}": {", ".join(source.title for source in added)}.')


def ask_for_missing_sources(store: NotebookStore, name: str) -> None:
    """Ask for the new path of each missing file or folder, if a person is at the terminal. Enter keeps the old one.

    Raises:
        RoamtuiError: The notebook cannot be read or written.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty() and store.exists(name)):
        return
    for gone in [source for source in store.read(name).sources if has_missing_files(source.name)]:
        place = sanitise_line(display_path(gone.name))
        prompt = f"{sanitise_line(gone.title)} is no longer at {place}. Its new path (enter to leave it): "
        try:
            answer = input(prompt).strip()
        except EOFError:
            return
        if not answer:
            continue
        path = os.path.abspath(os.path.expanduser(answer))  # noqa: PTH100, PTH111 - links are kept
        if not os.path.lexists(path):
            warn(f"there is no file {sanitise_line(answer)}, so it stays as it was.")
            continue
        store.change(name, partial(_replace_path, key=gone.key, path=path))


def _replace_path(sources: Sequence[LibrarySource], *, key: str, path: str) -> list[LibrarySource]:
    return [replace(source, name=path) if source.key == key else source for source in sources]


def print_notebooks(store: NotebookStore, *, as_json: bool) -> None:
    """Write each notebook with its sources, or why its file cannot be read.

    Raises:
        StoreError: The folder of notebooks cannot be read.
    """
    rows = []
    for name in store.list_names():
        try:
            sources, problem = store.read(name).sources, ""
        except RoamtuiError as error:
            sources, problem = (), str(error)
        rows.append((name, sources, problem))
    if as_json:
        write_json(
            [
                {
                    "name": name,
                    "sources": [
                        {"source": source.name, "key": source.key, "muted": source.is_muted} for source in sources
                    ],
                    "problem": problem or None,
                }
                for name, sources, problem in rows
            ]
        )
        return
    for name, sources, problem in rows:
        titles = ", ".join(sanitise_line(source.title) for source in sources)
        count = format_count(len(sources), "source")
        write_text(f"{name}  {problem or f'({count}: {titles})'}\n")
    if not rows:
        write_text("No notebooks yet. Make one: roamtui notebook NAME SOURCE...\n")


def rename_notebook(
    store: NotebookStore, conversations: ConversationStore, positions: ReadingPositions, old: str, new: str
) -> None:
    """Rename a notebook with its conversations, notes and reading positions.

    The file of the notebook is renamed last, so that the same command can be repeated if it was interrupted.

    Raises:
        RoamtuiError: There is no such notebook, the name is taken, or something cannot be written.
    """
    store.read(old)
    if store.exists(new):
        raise UsageError(f'there is a notebook "{new}" already. Choose another name, or delete it first.')
    source, target = NOTEBOOK_MARK + old, NOTEBOOK_MARK + new
    conversations.change_source(source, target)
    notes = NoteStore(conversations.notes_folder, source)
    if kept := notes.read():
        NoteStore(conversations.notes_folder, target).save(*(replace(note, source=target) for note in kept))
        notes.delete([note.id for note in kept])
    positions.rename(source, target)
    store.rename(old, new)


def write_export(notebook: Notebook, conversations: ConversationStore, folder: Path) -> None:
    """Export a notebook for someone else: its file and sources, its conversations and notes as Markdown.

    Raises:
        RoamtuiError: Something cannot be read or written.
    """
    source = NOTEBOOK_MARK + notebook.name
    pages = {
        f"conversations/{summary.id}.md": render_markdown(conversations.load(summary.id), source)
        for summary in conversations.list(source)
    }
    if notes := NoteStore(conversations.notes_folder, source).read():
        pages["notes.md"] = render_notes(locate_notes(notes, None), source, notebook.name)
    export_notebook(notebook, folder, pages)
