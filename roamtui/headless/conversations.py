"""`roamtui conversations` and `notes`: list, print and delete what a person has saved."""

import os
from collections.abc import Callable
from pathlib import Path

from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.log import format_time, open_store
from roamtui.conversation.notes import NoteStore, count_notes
from roamtui.conversation.notices import format_cost
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.export.conversation import CONVERSATION_RENDERERS, reopen_document
from roamtui.export.markdown import render_notes
from roamtui.output import (
    check_output_path,
    confirm_replacing,
    require_confirmation,
    warn,
    write_data,
    write_display,
    write_export,
    write_notice,
)
from roamtui.paths import is_standard_input
from roamtui.quotes.located_notes import locate_notes
from roamtui.sanitiser import sanitise_line
from roamtui.sources.listing import list_paths
from roamtui.sources.read import is_path
from roamtui.sources.source_names import format_sources
from roamtui.text import format_count
from roamtui.web.urls import normalise_url

_NO_NOTES = "You have no notes on this document. In the app, b adds one."


def print_conversations(*, lists_one_shots: bool) -> None:
    """Write a line for each conversation. Those of `roamtui ask` are listed only with `lists_one_shots`.

    A damaged conversation is always listed. Raise `StoreError` if the conversations cannot be read.
    """
    saved = open_store().list()
    summaries = [each for each in saved if lists_one_shots or each.is_listed]
    for summary in summaries:
        parts = [summary.id, format_time(summary.used_at)]
        if summary.source or not summary.problem:
            names = (summary.source, *summary.added_sources)
            sources = [sanitise_line(format_sources(name)) for name in names]
            facts = [summary.size_label, format_cost(summary.usage), *sources]
            parts += [sanitise_line(summary.title), f"({', '.join(filter(None, facts))})"]
        if summary.problem:
            parts.append(summary.problem)
        write_display("  ".join(filter(None, parts)) + "\n")
    if not summaries:
        write_display("No conversations yet.\n")
    if hidden := len(saved) - len(summaries):
        count = format_count(hidden, "conversation")
        write_notice(f"Not shown: {count} from `roamtui ask`. To see all, add --all.")


def delete_conversation(conversation_id: str, *, assume_yes: bool) -> None:
    """Delete a conversation after the person has confirmed it. One without a question needs no confirmation.

    Raises:
        RoamtuiError: There is no such conversation, it cannot be deleted, or the person did not confirm.
    """
    store = open_store()
    for summary in store.list():
        if summary.id == conversation_id:
            facts = ", ".join(filter(None, [summary.title, summary.size_label]))
            question = f"Delete conversation {conversation_id} ({facts}) permanently?"
            require_confirmation(question, "the conversation was not deleted", assume_yes=assume_yes)
    store.delete(conversation_id)
    write_notice(f"Deleted conversation {conversation_id}.")


def export_conversation(
    conversation_id: str,
    output_format: str,
    open_source: Callable[[str, ConversationState], Library],
    output_path: Path | None = None,
    moved_to: str | None = None,
) -> None:
    """Write one conversation to a file, in the format of its suffix, or to stdout in `output_format`.

    `moved_to` is where the document is now, if it was moved. If the document can be opened, its quotes are
    looked up again, and a web page includes its text.

    Raises:
        RoamtuiError: The file has a wrong suffix or cannot be written.
    """
    log = open_store().read(conversation_id)
    if log.warning:
        warn(f"conversation {conversation_id}: {log.warning}")
    state = log.ended_state
    source = moved_to or state.source
    if output_path is not None:
        names = (state.source, source, *state.added_sources)
        check_output_path(output_path, CONVERSATION_RENDERERS, list_paths(names))
        confirm_replacing(output_path)
    state, problem = reopen_document(state, source, open_source)
    if problem:
        warn(problem)
    suffix = f".{output_format}" if output_path is None else output_path.suffix.lower()
    text = CONVERSATION_RENDERERS[suffix](state, source)
    if output_path is None:
        write_data(text)
        return
    write_export(output_path, text)
    write_notice(f"Wrote {output_path}.")


def print_noted_documents() -> None:
    """Write the names of the documents that have notes, and how many. Then raise what is damaged."""
    counts, problems = count_notes(open_store().notes_folder)
    lines = [f"{sanitise_line(name)}  ({format_count(count, 'note')})\n" for name, count in counts.items()]
    if lines or not problems:
        write_display("".join(lines) or "No notes yet. In the app, b adds one.\n")
    if problems:
        raise problems[0]


def print_notes(source: str, open_source: Callable[[str], Library]) -> None:
    """Write the notes on a document as Markdown. If it cannot be opened, write them as they were saved.

    Raises:
        RoamtuiError: There are no notes under this name. If the document cannot be opened, this says why.
    """
    library: Library | None = None
    problem: RoamtuiError | None = None
    try:
        library = open_source(source)
    except RoamtuiError as error:
        problem = error
    key = _make_key(source) if library is None else get_source_key(library)
    notes = NoteStore(open_store().notes_folder, key).read()
    if not notes:
        raise problem or RoamtuiError(_NO_NOTES)
    if problem is not None:
        warn(f"the document cannot be opened, so the notes are shown as they were saved. {problem}")
    title = key if library is None else library.title
    write_data(render_notes(locate_notes(notes, library), key, title))


def delete_notes(source: str, *, assume_yes: bool) -> None:
    """Delete the notes on a document after the person has confirmed it. The document is not opened."""
    key = _make_key(source)
    store = NoteStore(open_store().notes_folder, key)
    notes = store.read()
    if not notes:
        raise RoamtuiError(_NO_NOTES)
    count = format_count(len(notes), "note")
    question = f"Delete {count} on {format_sources(key)} permanently?"
    require_confirmation(question, "the notes were not deleted", assume_yes=assume_yes)
    store.delete([note.id for note in notes])
    write_notice(f"Deleted {count}.")


def _make_key(source: str) -> str:
    """Return the key of a document by its path, its URL, or its name in `print_noted_documents`."""
    if is_path(source):
        return os.path.abspath(source)  # noqa: PTH100 - links are kept
    return source if is_standard_input(source) else normalise_url(source)
