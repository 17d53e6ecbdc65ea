"""`Log`: all that happened in one conversation as lines of JSON, each an event; what a line says is for every version.

A line that is torn, damaged or of a newer version stays in the file and is passed over; an older version left out
nothing that a newer one cannot do without, so every field that came later has a default.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

import msgspec

from roamtui.conversation.events import (
    ConversationEvent,
    DraftRecorded,
    EntrySkipped,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ResultsDropped,
    StepRecorded,
    TranscriptRebuilt,
    name_event,
)
from roamtui.conversation.transcript import Stopped

_Event = TypeVar("_Event")
_KINDS: dict[str, type[ConversationEvent]] = {name_event(kind): kind for kind in get_args(ConversationEvent)}
_NAMES = {kind: name for name, kind in _KINDS.items()}
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError)
"""What decoding a damaged text raises."""
LOST_QUESTION = "(This question could not be read.)"
LOST_ANSWER = "This message was damaged on disk."


@dataclass(slots=True, kw_only=True)
class Log:
    """What happened in one conversation, and how much of it is on disk."""

    conversation_id: str
    events: list[ConversationEvent] = field(default_factory=list)
    saved: int = 0
    """How many of the events are on disk."""
    size: int = 0
    """Bytes of the file, as this program knows it."""

    @property
    def is_saved(self) -> bool:
        """Whether all is on disk."""
        return self.saved == len(self.events)

    @property
    def damage(self) -> str:
        """What a person should know of entries that could not be read since the transcript was made, a sentence."""
        skipped: list[EntrySkipped] = []
        for event in self.events:
            if isinstance(event, EntrySkipped):
                skipped.append(event)
            elif isinstance(event, TranscriptRebuilt):
                skipped.clear()
        return describe_damage("This conversation is", skipped)


def describe_damage(lead: str, skipped: Sequence[EntrySkipped]) -> str:
    """Return what a person should know of entries that could not be read, a sentence; empty for none."""
    newer = sum(event.is_newer for event in skipped)
    parts = []
    if damaged := len(skipped) - newer:
        parts.append(f"{damaged:,} {'entry' if damaged == 1 else 'entries'} of it could not be read")
    if newer:
        parts.append(f"{newer:,} {'entry is' if newer == 1 else 'entries are'} of a newer roamtui")
    told = f"{lead} not whole: {', '.join(parts)}."
    return f"{told} You can go on; what was passed over stays in its file." if parts else ""


def encode_entry(name: str, event: object, at: datetime) -> bytes:
    """Return the line of an event that happened by a time."""
    fields = {"event": name, "at": at.isoformat(timespec="milliseconds"), **msgspec.to_builtins(event)}
    return json.dumps(fields).encode("ascii") + b"\n"


def encode_entries(events: Iterable[ConversationEvent], at: datetime) -> bytes:
    """Return the lines of events that happened by a time."""
    return b"".join(encode_entry(_NAMES[type(event)], event, at) for event in events)


def decode_entries(content: bytes) -> list[ConversationEvent]:
    """Return the events of a file; in the place of each that cannot be read stands one that says so."""
    events = [decode_entry(line, _KINDS) for line in content.split(b"\n") if line]
    return [*_mend(events)] if any(isinstance(event, EntrySkipped) for event in events) else events


def decode_entry(line: bytes, kinds: Mapping[str, type[_Event]]) -> _Event | EntrySkipped:
    """Return the event of a line, of a kind by its name; of what cannot be read, that it was skipped."""
    try:
        fields: dict[str, Any] = json.loads(line)
        kind = kinds.get(fields["event"])
        return EntrySkipped(is_newer=True) if kind is None else msgspec.convert(fields, kind)
    except DAMAGE:
        return EntrySkipped()


def _mend(events: Iterable[ConversationEvent]) -> Iterator[ConversationEvent]:
    """Yield events, with a question in the place of each that could not be read, so that others keep their number."""
    asked, skipped, is_asking = 0, 0, False
    for event in events:
        match event:
            case EntrySkipped():
                skipped += 1
            case QuestionAsked(number=number):
                for lost in range(asked + 1, min(number, asked + skipped + 1)):
                    yield from _replace_question(lost)
                    asked = lost
                asked, is_asking = asked + 1, True
            case StepRecorded() | DraftRecorded() | ResultsDropped() | QuestionAnswered() if not is_asking:
                asked, is_asking = asked + 1, True
                yield QuestionAsked(number=asked, question=LOST_QUESTION)
            case QuestionsTakenBack(first=first):
                if first > asked:
                    continue
                asked, is_asking = first - 1, False
            case _:
                pass
        is_asking = is_asking and not isinstance(event, QuestionAnswered)
        yield event


def _replace_question(number: int) -> Iterator[ConversationEvent]:
    yield QuestionAsked(number=number, question=LOST_QUESTION)
    yield QuestionAnswered(number=number, answer="", stopped=Stopped.ERROR, error=LOST_ANSWER)


def now() -> datetime:
    """Return the time as entries have it."""
    return datetime.now(UTC)
