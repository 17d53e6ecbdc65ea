"""A saved conversation as Markdown or JSON, to be read elsewhere."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from roamtui.conversation.events import EVENT_NAMES
from roamtui.conversation.notices import make_outcome_notices
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.plain import sanitise_line

_NEXT_ITEM = re.compile(r"(?<!\s)\s*\n[ \t]*(?=[-*+>#]|\d+[.)])")
_OF_THE_STATE = ("deliveries", "used_ids", "unfolded_ids", "moved")
"""Fields of events that no reader of an export needs."""


def render_markdown(saved: ConversationState, source: str) -> str:
    """Return a conversation as Markdown: questions as headings, answers, sources."""
    parts = [f"# {sanitise_line(saved.title) or 'Conversation'}", f"Source: {source}"]
    for exchange in saved.transcript.exchanges:
        parts.append(f"## {sanitise_line(exchange.question)}")
        if exchange.answer:
            parts.append(exchange.answer)
        parts += [f"*{piece.text}*" for piece in make_outcome_notices(exchange.outcome)]
        if exchange.citations:
            parts.append("\n".join(map(_format_source, exchange.citations)))
    return "\n\n".join(parts) + "\n"


def _format_source(citation: Citation) -> str:
    """Return where a quote stood, and the quote, on one line that `roamtui.agent.recheck` reads.

    Where the quote went on with another item or row, an ellipsis stands between them.
    """
    titles = () if citation.doc == "/".join(citation.path) else citation.path  # a file's path is its key
    path = " > ".join(map(sanitise_line, (*filter(None, [citation.doc]), *titles)))
    quote = f': "{sanitise_line(_NEXT_ITEM.sub(" … ", citation.quote))}"' if citation.quote else ""
    return f"- [{citation.section_id}] {path}, {citation.place} ({citation.state.label}){quote}"


def to_json_conversation(saved: ConversationState, source: str) -> dict[str, Any]:
    """Return a conversation as JSON values."""
    exchanges = []
    for exchange in saved.transcript.exchanges:
        events = []
        for event in exchange.events:
            fields: dict[str, Any] = msgspec.to_builtins(event)
            told = {key: value for key, value in fields.items() if value or key not in _OF_THE_STATE}
            events.append({"kind": EVENT_NAMES[type(event)], **told})
        citations = [to_json_citation(citation) for citation in exchange.citations]
        exchanges.append({**msgspec.to_builtins(exchange), "events": events, "citations": citations})
    return {
        "id": saved.id,
        "source": source,
        "title": saved.title,
        "model": saved.model,
        "open": [section.section_id for section in saved.open_sections],
        "exchanges": exchanges,
    }


def to_json_citation(citation: Citation) -> dict[str, Any]:
    """Return a citation as the command line's JSON has it."""
    return {
        "section_id": citation.section_id,
        "doc": citation.doc,
        "path": list(citation.path),
        "quote": citation.quote,
        "state": citation.state.value,
        "verified": citation.is_verified,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        **({"page": citation.page} if citation.page is not None else {}),
    }
