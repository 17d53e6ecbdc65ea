"""Conversations as JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from roamtui.conversation.events import EVENT_NAMES, Citation
from roamtui.conversation.state import ConversationState
from roamtui.document.plain import escape_json


def render_json(state: ConversationState, source: str) -> str:
    """Render a conversation as one JSON object and a line end. Control characters and lone surrogates are escaped."""
    exchanges = []
    for exchange in state.exchanges:
        events = [{"kind": EVENT_NAMES[type(event)], **msgspec.to_builtins(event)} for event in exchange.events]
        citations = [to_json_citation(citation) for citation in exchange.citations]
        exchanges.append({**msgspec.to_builtins(exchange), "events": events, "citations": citations})
    conversation = {
        "id": state.id,
        "source": source,
        "title": state.title,
        "model": state.model,
        "open": [*state.open_sections],
        "exchanges": exchanges,
    }
    return escape_json(json.dumps(conversation, ensure_ascii=False, indent=2)) + "\n"


def to_json_citation(citation: Citation) -> dict[str, Any]:
    """Convert a citation to the values that every JSON output uses."""
    names = "section_id", "doc", "path", "quote", "state"
    data = {name: getattr(citation, name) for name in names} | {"verified": citation.is_verified}
    return data | _to_json_place(citation)


def to_json_passage(passage: Citation) -> dict[str, Any]:
    """Convert a passage of the offline model to JSON values."""
    data = {"section_id": passage.section_id, "path": passage.path, "text": passage.quote}
    return data | _to_json_place(passage)


def _to_json_place(citation: Citation) -> dict[str, int]:
    page = {"page": citation.page} if citation.page is not None else {}
    return {"start_line": citation.start_line, "end_line": citation.end_line} | page
