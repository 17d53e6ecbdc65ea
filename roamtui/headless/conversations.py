"""`roamtui conversations`: list and print saved conversations."""

from __future__ import annotations

from collections.abc import Callable

from roamtui.conversation.log import ConversationStore
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.headless.output import warn, write_json, write_notice, write_text
from roamtui.paths import conversations_path

_JSON_FIELDS = ("id", "source", "title", "model", "created_at", "updated_at", "questions")
"""Fields of each conversation when conversations are listed as JSON."""


def print_conversations(*, as_json: bool, lists_one_shots: bool) -> None:
    """Write a line for each conversation. With `lists_one_shots`, also for those of `roamtui ask`.

    Raises:
        StoreError: The conversations cannot be read.
    """
    saved = ConversationStore(conversations_path()).list()
    summaries = [summary for summary in saved if lists_one_shots or not summary.is_one_shot]
    if as_json:
        write_json([{name: getattr(summary, name) for name in _JSON_FIELDS} for summary in summaries])
        return
    for summary in summaries:
        count = format_count(summary.questions, "question")
        title = sanitise_line(summary.title) or "(no question yet)"
        details = f"({count}, {sanitise_line(summary.source)})"
        write_text(f"{summary.id}  {summary.updated_at[:16]}  {title}  {details}\n")
    if not summaries:
        write_text("No conversations yet.\n")
    if hidden := len(saved) - len(summaries):
        write_notice(f"{format_count(hidden, 'conversation')} of `roamtui ask` not listed. Add --all to list all.")


def delete_conversation(conversation_id: str) -> None:
    """Delete a conversation, and say so."""
    ConversationStore(conversations_path()).delete(conversation_id)
    write_notice(f"Deleted {conversation_id}.")


def print_conversation(prefix: str, output_format: str, open_source: Callable[..., Library]) -> None:
    """Write one conversation.

    Args:
        prefix: Beginning of the id of the conversation.
        output_format: `"md"`, `"json"`, or `"html"` for a page that replays it.
        open_source: `Bootstrap.reopen`, which opens the sources of the conversation for the page.

    Raises:
        UsageError: Several conversations begin with `prefix`.
        StoreError: There is no such conversation, or it cannot be read.
    """
    store = ConversationStore(conversations_path())
    source_by_id = {summary.id: summary.source for summary in store.list()}
    matches = [known_id for known_id in source_by_id if known_id.startswith(prefix)]
    if len(matches) > 1 and prefix not in source_by_id:
        raise UsageError(f'several conversations begin with "{sanitise_line(prefix)}": {", ".join(matches)}.')
    conversation_id = matches[0] if len(matches) == 1 else prefix  # the store refuses an unknown one
    state, source = store.load(conversation_id), source_by_id.get(conversation_id, "")
    if output_format == "json":
        write_text(render_json(state, source))
    elif output_format == "md":
        write_text(render_markdown(state, source))
    else:
        library = None
        try:
            library = open_source(source, added=state.sources)
        except RoamtuiError as error:
            warn(f"without the sections: {error}")
        write_text(render_html(state, source, library))
