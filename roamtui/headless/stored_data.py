"""Prints or deletes data stored on this machine: `roamtui conversations`, `roamtui notes`, `roamtui cache`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from roamtui.agent.recheck import locate_notes
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.notes import NoteStore, count_notes
from roamtui.conversation.store import ConversationStore
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown, render_notes
from roamtui.headless.output import warn, write_json, write_notes, write_text
from roamtui.sources.web.page import FetchOptions

_LISTED = ("id", "source", "title", "model", "created_at", "updated_at", "questions")
"""Fields of a conversation in `--json`."""
_DELETE_INDEXES = "`roamtui index SOURCE --delete` deletes one; to delete all, delete that folder"


def print_conversations(store: ConversationStore, *, as_json: bool) -> None:
    """Write a line per conversation, newest first."""
    summaries = store.list()
    if as_json:
        write_json([{name: getattr(summary, name) for name in _LISTED} for summary in summaries])
        return
    if not summaries:
        write_text("No conversations yet.\n")
    for summary in summaries:
        count = f"{summary.questions} question{'s' if summary.questions != 1 else ''}"
        title = sanitise_line(summary.title) or "(no question yet)"
        write_text(f"{summary.id}  {summary.updated_at[:16]}  {title}  ({count}, {sanitise_line(summary.source)})\n")


def print_conversation(
    store: ConversationStore, conversation_id: str, form: str, read: Callable[[str], Library]
) -> None:
    """Write a whole conversation.

    Args:
        store: The store.
        conversation_id: Id of the conversation.
        form: `md`, `json` or `html`.
        read: Opens the current version of a source.

    Raises:
        StoreError: There is no conversation with this id.
    """
    saved = store.load(conversation_id)
    source = next((summary.source for summary in store.list() if summary.id == conversation_id), "")
    if form == "json":
        write_text(render_json(saved, source))
    elif form == "html":
        from roamtui.export.html import render_html  # noqa: PLC0415 - the other forms need no Markdown parser

        library = None
        try:
            library = read(source)
        except RoamtuiError as error:
            warn(f"without the sections: {error}")
        write_text(render_html(saved, source, library))
    else:
        write_text(render_markdown(saved, source))


def run_notes(folder: Path, source: str | None, read: Callable[[str], Library], *, is_deleted: bool) -> None:
    """Print or delete the notes on a document, or list the documents with notes.

    Args:
        folder: The folder of notes.
        source: The document, or None for the list.
        read: Opens the document.
        is_deleted: Whether to delete its notes.

    Raises:
        RoamtuiError: There are no notes, the document cannot be opened, or its notes cannot be deleted.
    """
    if source is None:
        if is_deleted:
            raise UsageError("--delete needs a SOURCE.")
        counts = count_notes(folder)
        for name, count in counts.items():
            write_text(f"{sanitise_line(name)}  ({_count_notes(count)})\n")
        if not counts:
            write_text("No notes yet. In the app, b adds one.\n")
        if Path("notes").exists():
            write_notes(["To open the file or folder named notes: roamtui ./notes"])
        return
    notes, library = NoteStore(folder, source), None
    try:
        library = read(source)
        notes = NoteStore(folder, get_source_key(library))
    except RoamtuiError as error:
        if not notes.read():
            raise
        warn(f"showing notes as saved: {error}")
    kept = notes.read()
    write_notes(filter(None, [notes.damage]))
    if is_deleted:
        notes.delete([note.id for note in kept])
        write_notes([f"Deleted {_count_notes(len(kept))}."])
    elif kept:
        title = library.title if library is not None else kept[0].source
        write_text(render_notes(locate_notes(kept, library), kept[0].source, title))
    else:
        raise RoamtuiError("No notes on this document. In the app, b adds one.")


def _count_notes(number: int) -> str:
    return "1 note" if number == 1 else f"{number:,} notes"


def run_cache(action: str, *, pages_path: Path, converted_path: Path, indexes_path: Path, as_json: bool) -> int:
    """Write the size of the cache, or clear it except for indexes, and return the exit status.

    Args:
        action: `show` or `clear`.
        pages_path: Folder of web pages.
        converted_path: Folder of converted files.
        indexes_path: Folder of search indexes, which are the most expensive to rebuild and never cleared here.
        as_json: Whether to write JSON.
    """
    bytes_max, is_cleared = FetchOptions().cache_bytes_max, action == "clear"
    listed = {folder: _list_files(folder) for folder in (pages_path, converted_path, indexes_path)}
    sizes = {folder: sum(files.values()) for folder, files in listed.items()}
    if is_cleared:
        for path in (*listed[pages_path], *listed[converted_path]):
            with suppress(OSError):
                path.unlink()
    if as_json:
        others = {
            folder.name: {"folder": str(folder), "files": len(listed[folder]), "bytes": sizes[folder]}
            for folder in (converted_path, indexes_path)
        }
        described: dict[str, Any] = {"folder": str(pages_path)}
        if is_cleared:
            kept = {indexes_path.name: others.pop(indexes_path.name)}
            described |= {"dropped_pages": len(listed[pages_path]), "dropped_bytes": sizes[pages_path]}
            described |= {**others, "left": kept}
        else:
            described |= {
                "pages": len(listed[pages_path]),
                "bytes": sizes[pages_path],
                "bytes_max": bytes_max,
                **others,
            }
        write_json(described)
        return 0

    def format_count(noun: str, plural: str, folder: Path) -> str:
        count = len(listed[folder])
        return f"{count:,} {noun if count == 1 else plural}, {_format_bytes(sizes[folder])}"

    verb, left = ("Deleted ", "Left ") if is_cleared else ("", "")
    limit = "from" if is_cleared else f"of at most {_format_bytes(bytes_max)} in"
    lines = [f"{verb}{format_count('page', 'pages', pages_path)} {limit} {pages_path}"]
    if listed[converted_path]:
        files = format_count("converted file", "converted files", converted_path)
        lines.append(f"{verb}{files} {'from' if is_cleared else 'in'} {converted_path}")
    if listed[indexes_path]:
        files = format_count("file of search indexes", "files of search indexes", indexes_path)
        hint = f": {_DELETE_INDEXES}" if is_cleared else f" ({_DELETE_INDEXES})"
        lines.append(f"{left}{files} in {indexes_path}{hint}")
    write_text("\n".join(lines) + "\n")
    return 0


def _list_files(folder: Path) -> dict[Path, int]:
    """Return the files directly in a folder with their sizes; empty if the folder cannot be read."""
    sizes: dict[Path, int] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_file() and not path.is_symlink():
                with suppress(OSError):
                    sizes[path] = path.stat().st_size
    return sizes


def _format_bytes(count: int) -> str:
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
