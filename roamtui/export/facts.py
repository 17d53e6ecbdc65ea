"""What exports say about an answer: who gave it, when, at what cost, from what, and what was not read."""

from contextlib import suppress
from datetime import UTC, datetime

from roamtui.agent.consent import format_model
from roamtui.agent.presentation import format_reading
from roamtui.conversation.notices import format_cost
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.quotes.claims import DIGEST_LABEL
from roamtui.table.cells import Cell


def list_facts(answer: Exchange | Cell, source: str) -> dict[str, object]:
    """List what is known about an answer on a source, with the names that JSON has for it."""
    return {
        "model": answer.model,
        "server": answer.server,
        "asked_at": answer.asked_at,
        "usage": answer.usage,
        "source": source,
        "digest": answer.content_hash,
        "reading": answer.reading,
    }


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
    document = f"{DIGEST_LABEL} {answer.content_hash}" if answer.content_hash else ""
    return " · ".join(filter(None, [who, day, format_cost(answer.usage), document]))


def format_facts(answer: Exchange | Cell) -> str:
    """Format the origin of an answer, and what the model read and did not read, as one line."""
    read = format_reading(answer.model, answer.reading)
    return ". ".join(filter(None, [format_origin(answer), read]))
