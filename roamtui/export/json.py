"""Conversations as JSON."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from roamtui.conversation.citations import Citation
from roamtui.conversation.events import EVENT_NAMES
from roamtui.conversation.state import ConversationState
from roamtui.plain import format_json


def render_json(state: ConversationState, source: str) -> str:
    """Render a conversation as one JSON object and a line end."""
    exchanges = []
    for exchange in state.exchanges:
        events = [{"kind": EVENT_NAMES[type(event)], **asdict(event)} for event in exchange.events]
        exchanges.append({**asdict(exchange), "events": events})
    conversation = {
        "id": state.id,
        "source": source,
        "title": state.title,
        "model": state.model,
        "usage": asdict(state.spent),
        "open": [*state.open_sections],
        "exchanges": exchanges,
    }
    return format_json(conversation, indent=2, to_json=to_json) + "\n"


def render_quotes(state: ConversationState, source: str) -> str:
    """Render the quotes of a conversation as JSON that `recheck` reads like the whole conversation."""
    exchanges = [
        {"question": exchange.question, "model": exchange.model, "citations": exchange.citations}
        for exchange in state.exchanges
    ]
    return format_json({"source": source, "exchanges": exchanges}, to_json=to_json)


def to_json(value: Struct) -> dict[str, Any]:
    """Convert a value to what JSON shows: a citation without offsets, all fields of any other value."""
    if not isinstance(value, Citation):
        return asdict(value)
    names = "section_id", "doc", "path", "quote", "state", "is_verified", "start_line", "end_line"
    shown = {name.removeprefix("is_"): getattr(value, name) for name in names}
    if value.page is not None:
        shown["page"] = value.page
    if value.page_label:
        shown["page_label"] = value.page_label
    if value.is_changed:
        shown["changed"] = True
    if value.nearest is not None:
        shown["nearest"] = {"text": value.nearest.text, "read": value.nearest.is_read}
    if value.surroundings is not None:
        shown["sentence"] = value.surroundings.text
    return shown


def to_json_passage(passage: Citation) -> dict[str, Any]:
    """Convert a passage of the offline model to JSON values."""
    shown = to_json(passage)
    del shown["doc"], shown["state"], shown["verified"]
    return {"text" if name == "quote" else name: value for name, value in shown.items()}
