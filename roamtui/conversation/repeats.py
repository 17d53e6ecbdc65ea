"""Drops repeated events from logs of roamtui 0.2.

That version wrote events again if it could not write the file that stores the order of conversations. In such a log,
the same run of lines appears two or more times in a row, with different times, and new events may follow the last copy.
A person who repeats a question or a command produces equal lines too, but never the same run twice in a row.
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
"""After these events, the same sections may be opened again."""


def drop_repeats(entries: Iterable[tuple[bytes, ConversationEvent]]) -> tuple[list[ConversationEvent], bool]:
    """Drop repeated runs of events.

    Args:
        entries: Each line of a log without its time, and its event.

    Returns:
        The events without repeats, and whether the log was last continued by version 0.2, which numbers questions as if
        the repeated ones counted. In that case, a `ConversationForked` with the same id must be appended before any new
        event. After it, question numbers refer to the returned events.
    """
    lines: list[bytes] = []
    events: list[ConversationEvent] = []
    last_indexes: dict[bytes, int] = {}
    numbering = _QuestionNumbering()
    distance = matched = 0  # how many lines back a run began that may be repeating, and how many of its lines have
    for line, event in entries:
        lines.append(line)
        events.append(numbering.translate(event))
        index = len(lines) - 1
        if distance and line == lines[index - distance]:
            matched += 1
        elif line in last_indexes and (_is_unique(event) or (isinstance(event, SectionsExpanded) and event.opened_ids)):
            distance = index - last_indexes[line]
            matched = _count_matches(lines, distance)
        else:
            distance = 0
        last_indexes[line] = index
        if distance and matched == distance:
            if _is_repeat(events[-distance:]):
                numbering.drop(sum(isinstance(repeat, QuestionAsked) for repeat in events[-distance:]))
                del lines[-distance:], events[-distance:]
                last_indexes.update((text, at) for at, text in enumerate(lines[-distance:], len(lines) - distance))
            distance = 0
    return events, numbering.counts_repeats


class _QuestionNumbering:
    """Translates the question numbers of version 0.2, which counts repeated questions, to numbers without repeats.

    Only version 0.2 continues such a log with its own numbers, and only rewinds refer to them.
    """

    def __init__(self) -> None:
        self.counts_repeats = False
        """Whether the number of the last question counts repeated questions."""
        self._count = 0
        """Number of questions, without repeats."""
        self._new_numbers: list[int] = []
        """For each question that version 0.2 counts, its number without repeats."""
        self._conversation_id = ""

    def translate(self, event: ConversationEvent) -> ConversationEvent:
        """Count the next event of the log, and return it.

        In a rewind, a question number of version 0.2 is replaced by the number without repeats.
        """
        match event:
            case QuestionAsked(number=number):
                # Version 0.2 wrote this line if the number continues only the count that includes repeats.
                is_old_number = self.counts_repeats or number == len(self._new_numbers) + 1
                self.counts_repeats = is_old_number and number != self._count + 1
                self._count += 1
                self._new_numbers.append(self._count)
            case QuestionsRewound(first=first):
                is_old_number = self.counts_repeats or first > self._count
                old_count = len(self._new_numbers)
                # The question before the first removed one keeps its place, so the rewind starts after it.
                if is_old_number and self._count < old_count and 1 < first <= old_count + 1:
                    event = replace(event, first=self._new_numbers[first - 2] + 1)
                self._count = min(self._count, event.first - 1)
                del self._new_numbers[first - 1 :]
            case (
                ConversationStarted(conversation_id=conversation_id)
                | ConversationForked(conversation_id=conversation_id)
            ):
                if conversation_id == self._conversation_id:
                    self.counts_repeats, self._new_numbers = False, [*range(1, self._count + 1)]
                self._conversation_id = conversation_id
            case _:
                pass
        return event

    def drop(self, count: int) -> None:
        """Record that the last `count` questions repeat the ones before them."""
        self._count -= count
        self._new_numbers[len(self._new_numbers) - count :] = range(self._count - count + 1, self._count + 1)


def _count_matches(lines: Sequence[bytes], distance: int) -> int:
    """Count how many of the last lines, at most `distance`, equal the line that is `distance` lines before them."""
    for count in range(distance):
        index = len(lines) - 1 - count
        if index < distance or lines[index] != lines[index - distance]:
            return count
    return distance


def _is_unique(event: ConversationEvent) -> bool:
    """Check whether an event has a number, an id or tool calls, so that an equal one can occur only after a rewind."""
    match event:
        case StepRecorded(step=step):
            return bool(step.uses or step.reminder)
        case _:
            return isinstance(event, ConversationStarted | ConversationForked | QuestionAsked | QuestionAnswered)


def _is_repeat(run: Sequence[ConversationEvent]) -> bool:
    """Check whether the second of two equal runs of events in a log is a duplicate, not a real repetition."""
    if any(isinstance(event, QuestionsRewound) for event in run):
        return False  # the person asked again, or rewound twice
    return any(map(_is_unique, run)) or not any(isinstance(event, _UNDOING) for event in run)
