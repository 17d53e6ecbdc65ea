"""`roamtui conversations`: list, show, export, delete."""

from __future__ import annotations

from typing import Any

from roamtui.conversation.export import describe_conversation, render_markdown
from roamtui.conversation.store import ConversationSummary, Store
from roamtui.document.plain import plain_line
from roamtui.headless.output import write_json, write_text


def print_list(store: Store, *, as_json: bool) -> None:
    """Write a line for each conversation, newest first."""
    summaries = store.list()
    if as_json:
        write_json([_describe_summary(summary) for summary in summaries])
        return
    if not summaries:
        write_text("No conversations yet.\n")
    for summary in summaries:
        count = f"{summary.questions} question{'s' if summary.questions != 1 else ''}"
        title = plain_line(summary.title) or "(no question yet)"
        write_text(f"{summary.id}  {summary.updated_at[:16]}  {title}  ({count}, {plain_line(summary.source)})\n")


def print_conversation(store: Store, conversation_id: str, *, as_json: bool) -> None:
    """Write a whole conversation as Markdown or JSON.

    Raises:
        StoreError: There is none with this id.
    """
    saved = store.load(conversation_id)
    source = next((summary.source for summary in store.list() if summary.id == conversation_id), "")
    if as_json:
        write_json(describe_conversation(saved, source))
    else:
        write_text(render_markdown(saved, source))


def _describe_summary(summary: ConversationSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "source": summary.source,
        "title": summary.title,
        "model": summary.model,
        "created_at": summary.created_at,
        "updated_at": summary.updated_at,
        "questions": summary.questions,
    }
