"""Reads once what roamtui 0.2 appended several times, where its file of the order could not be written.

Its log then holds a run of lines again right after itself, with other times, the last time often with more behind it.
A person who asks again, opens again or says the same twice leaves the same lines too, but never these in a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationForked,
    ConversationStarted,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ResultsDropped,
    SectionsClosed,
    SectionsExpanded,
    SectionsRelocated,
    StepRecorded,
    TranscriptRebuilt,
    UndoApplied,
)

_UNDOING = (SectionsClosed, UndoApplied, SectionsRelocated, ResultsDropped, TranscriptRebuilt)
"""After these the same sections may be opened again."""


def drop_repeats(entries: Iterable[tuple[bytes, ConversationEvent]]) -> tuple[list[ConversationEvent], bool]:
    """Return events without runs that were written again.

    Args:
        entries: Each line of a log without its time, and the event that it holds.

    Returns:
        The events, and whether 0.2 counts repeats in what came last. Whoever appends then has to write
        `ConversationForked` with the same id first: from there on numbers are those of the events returned.
    """
    lines: list[bytes] = []
    events: list[ConversationEvent] = []
    places: dict[bytes, int] = {}
    numbering = _Numbering()
    distance = matched = 0  # how far back the run lies that may come again, and how many of its lines did
    for line, event in entries:
        lines.append(line)
        events.append(numbering.translate(event))
        here = len(lines) - 1
        if distance and line == lines[here - distance]:
            matched += 1
        elif line in places and (_is_unique(event) or (isinstance(event, SectionsExpanded) and event.opened_ids)):
            distance = here - places[line]
            matched = _count_matches(lines, distance)
        else:
            distance = 0
        places[line] = here
        if distance and matched == distance:
            if _is_repeat(events[-distance:]):
                numbering.drop(sum(isinstance(one, QuestionAsked) for one in events[-distance:]))
                del lines[-distance:], events[-distance:]
                places.update((one, index) for index, one in enumerate(lines[-distance:], len(lines) - distance))
            distance = 0
    return events, numbering.counts_repeats


class _Numbering:
    """The questions of a log as 0.2 counts them if it opens one that it has doubled, and as they are without repeats.

    Only 0.2 itself can have gone on by its numbers; what is taken back there has to be translated.
    """

    def __init__(self) -> None:
        self.counts_repeats = False
        """Whether who wrote last went by the numbers of 0.2."""
        self._asked = 0
        self._numbers: list[int] = []
        """For each question that 0.2 counts, the number that it has without repeats."""
        self._conversation_id = ""

    def translate(self, event: ConversationEvent) -> ConversationEvent:
        """Return the next event by the numbers without repeats."""
        match event:
            case QuestionAsked(number=number):
                is_theirs = self.counts_repeats or number == len(self._numbers) + 1
                self.counts_repeats = is_theirs and number != self._asked + 1
                self._asked += 1
                self._numbers.append(self._asked)
            case QuestionsRewound(first=first):
                is_theirs = self.counts_repeats or first > self._asked
                if is_theirs and self._asked < len(self._numbers) and 1 < first <= len(self._numbers) + 1:
                    event = replace(event, first=self._numbers[first - 2] + 1)
                self._asked = min(self._asked, event.first - 1)
                del self._numbers[first - 1 :]
            case (
                ConversationStarted(conversation_id=conversation_id)
                | ConversationForked(conversation_id=conversation_id)
            ):
                if conversation_id == self._conversation_id:
                    self.counts_repeats, self._numbers = False, [*range(1, self._asked + 1)]
                self._conversation_id = conversation_id
            case _:
                pass
        return event

    def drop(self, count: int) -> None:
        """Take it that the last questions were those before them again."""
        self._asked -= count
        self._numbers[len(self._numbers) - count :] = range(self._asked - count + 1, self._asked + 1)


def _count_matches(lines: Sequence[bytes], distance: int) -> int:
    """Return how many of the last lines, at most so many, stand so far back too."""
    for count in range(distance):
        here = len(lines) - 1 - count
        if here < distance or lines[here] != lines[here - distance]:
            return count
    return distance


def _is_unique(event: ConversationEvent) -> bool:
    """Return whether no event can be like this one unless a question was taken back: by a number, an id, calls."""
    match event:
        case StepRecorded(step=step):
            return bool(step.uses or step.reminder)
        case _:
            return isinstance(event, ConversationStarted | ConversationForked | QuestionAsked | QuestionAnswered)


def _is_repeat(run: Sequence[ConversationEvent]) -> bool:
    """Return whether a run that stands there twice in a row can only have happened once."""
    if any(isinstance(event, QuestionsRewound) for event in run):
        return False  # what comes twice was asked again, and what is taken back twice is taken back
    return any(map(_is_unique, run)) or not any(isinstance(event, _UNDOING) for event in run)
