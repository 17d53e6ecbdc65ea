"""What each export says of an answer: who gave it, when, at what cost, from what, and what was not read."""

from contextlib import suppress
from datetime import UTC, datetime

from msgspec import Struct

from roamtui.agent.consent import format_model
from roamtui.agent.presentation import format_read
from roamtui.conversation.events import Usage
from roamtui.conversation.notices import format_cost
from roamtui.conversation.reading import Reading
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.table.cells import Cell


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """Where an answer comes from, with the names that it has in JSON."""

    model: str
    server: str | None
    """URL of the server, empty for the one of the model's provider, or None if it is unknown."""
    asked_at: str
    """ISO 8601, UTC."""
    usage: Usage
    source: str
    digest: str
    """Digest of all that was loaded of the source when the question ended."""
    reading: Reading | None

    @property
    def origin(self) -> str:
        """Who answered, when, at what cost, and from what text, as one line. Empty without an answer."""
        if not self.asked_at:
            return ""
        who = self.model if self.server is None else format_model(self.model, self.server)
        if self.model == OFFLINE:
            who = "without a model"
        document = f"document digest {self.digest}" if self.digest else ""
        return " · ".join(filter(None, [who, self._day, format_cost(self.usage), document]))

    @property
    def read(self) -> str:
        """What the model read and did not read; empty without a model."""
        return format_read(self.model, self.reading)

    @property
    def summary(self) -> str:
        """Both as one line."""
        return ". ".join(filter(None, [self.origin, self.read]))

    @property
    def _day(self) -> str:
        """The time of the question, which is the same wherever the export is made."""
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(self.asked_at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return ""


def gather_facts(answer: Exchange | Cell, source: str) -> AnswerFacts:
    """Gather what is known of an answer about a source."""
    return AnswerFacts(
        model=answer.model,
        server=answer.server,
        asked_at=answer.asked_at,
        usage=answer.usage,
        source=source,
        digest=answer.digest,
        reading=answer.reading,
    )
