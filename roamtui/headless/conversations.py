"""`roamtui conversations`: list, show, export, delete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from roamtui.conversation.export import describe_conversation, render_markdown
from roamtui.conversation.store import Store
from roamtui.document.library import Library
from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError
from roamtui.headless.output import write_json, write_note, write_text


def print_list(store: Store, *, as_json: bool) -> None:
    """Write a line for each conversation, newest first."""
    summaries = store.list()
    if as_json:
        write_json([asdict(summary) for summary in summaries])
        return
    if not summaries:
        write_text("No conversations yet.\n")
    for summary in summaries:
        count = f"{summary.questions} question{'s' if summary.questions != 1 else ''}"
        title = plain_line(summary.title) or "(no question yet)"
        write_text(f"{summary.id}  {summary.updated_at[:16]}  {title}  ({count}, {plain_line(summary.source)})\n")


def print_conversation(store: Store, conversation_id: str, form: str, read: Callable[[str], Library]) -> None:
    """Write a whole conversation.

    Args:
        store: Where it is kept.
        conversation_id: Which one.
        form: `md`, `json` or `html`.
        read: Opens a source as it is now.

    Raises:
        StoreError: There is none with this id.
    """
    saved = store.load(conversation_id)
    source = next((summary.source for summary in store.list() if summary.id == conversation_id), "")
    if form == "json":
        write_json(describe_conversation(saved, source))
    elif form == "html":
        from roamtui.headless.replay import render_replay  # noqa: PLC0415 - the other forms need no Markdown parser

        library = None
        try:
            library = read(source)
        except RoamtuiError as error:
            write_note(f"roamtui: without the sections: {error}")
        write_text(render_replay(saved.title, saved.model, saved.transcript.exchanges, source, library))
    else:
        write_text(render_markdown(saved, source))
