"""What exports say about an answer: who gave it, when, at what cost, from what, and what was not read."""

from contextlib import suppress
from datetime import UTC, datetime

from roamtui.agent.consent import format_model
from roamtui.agent.presentation import format_reading
from roamtui.conversation.notices import format_cost
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.table.cells import Cell

_FACTS = ("model", "server", "asked_at", "usage", "source", "digest", "reading")


def list_facts(answer: Exchange | Cell, source: str) -> dict[str, object]:
    """List what is known about an answer on a source, with the names that JSON has for it."""
    return {name: source if name == "source" else getattr(answer, name) for name in _FACTS}


def format_origin(answer: Exchange | Cell) -> str:
    """Format who answered, when, at what cost, and from what text, as one line. Empty without an answer."""
    if not answer.asked_at:
        return ""
    who = answer.model if answer.server is None else format_model(answer.model, answer.server)
    if answer.model == OFFLINE:
        who = "without a model"
    day = ""
    with suppress(ValueError, OverflowError):  # a log may come from elsewhere
        day = datetime.fromisoformat(answer.asked_at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    document = f"document digest {answer.digest}" if answer.digest else ""
    return " · ".join(filter(None, [who, day, format_cost(answer.usage), document]))


def format_facts(answer: Exchange | Cell) -> str:
    """Format the origin of an answer, and what the model read and did not read, as one line."""
    read = format_reading(answer.model, answer.reading)
    return ". ".join(filter(None, [format_origin(answer), read]))
