"""`ConversationLog`: all that happened in one conversation as lines of JSON in a file that is only ever appended to.

A line that is torn, damaged or of a newer version stays in the file and is passed over; an older version left out
nothing that a newer one cannot do without, so every field that came later has a default.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from roamtui.conversation.events import (
    EVENT_NAMES,
    ConversationEvent,
    DraftRecorded,
    LogEntrySkipped,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ResultsDropped,
    StepRecorded,
    TranscriptRebuilt,
)
from roamtui.conversation.repeats import drop_repeats
from roamtui.conversation.transcript import StopReason
from roamtui.errors import StoreError, UsageError
from roamtui.paths import make_private_folder, open_private_file, write_all

_Event = TypeVar("_Event")
_KINDS: dict[str, type[ConversationEvent]] = {name: kind for kind, name in EVENT_NAMES.items()}
DECODE_ERRORS = (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError)
"""What decoding a damaged text raises."""
LOST_QUESTION = "(This question could not be read.)"
LOST_ANSWER = "This message was damaged on disk."
LOG_SUFFIX = ".jsonl"
PRIVATE_FILE = 0o600
_LOCK = ".lock"
"""An empty file in the folder of logs. It is never deleted, or one program could lock it and another its successor."""
_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_TRACE_START = b'{"event": "conversation_begun"'
_TIME = re.compile(rb'"at": "[^"]*"')


@dataclass(slots=True, kw_only=True)
class ConversationLog:
    """What happened in one conversation, and how much of it is on disk."""

    conversation_id: str
    events: list[ConversationEvent] = field(default_factory=list)
    saved_count: int = 0
    """How many of the events are on disk."""
    size: int = 0
    """Bytes of the file, as this program knows it."""

    @property
    def is_saved(self) -> bool:
        """Whether all is on disk."""
        return self.saved_count == len(self.events)

    @property
    def damage_message(self) -> str:
        """What a person should know of entries that could not be read since the transcript was made, a sentence."""
        skipped: list[LogEntrySkipped] = []
        for event in self.events:
            if isinstance(event, LogEntrySkipped):
                skipped.append(event)
            elif isinstance(event, TranscriptRebuilt):
                skipped.clear()
        return format_damage("This conversation is", skipped)


def format_damage(lead: str, skipped: Sequence[LogEntrySkipped]) -> str:
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


def encode_entries(events: Iterable[ConversationEvent], at: datetime | None = None) -> bytes:
    """Return the lines of events that happened by a time, by default until now."""
    moment = at or datetime.now(UTC)
    return b"".join([encode_entry(EVENT_NAMES[type(event)], event, moment) for event in events])


def decode_entries(content: bytes) -> list[ConversationEvent]:
    """Return the events of lines; in the place of each that cannot be read stands one that says so."""
    return [*_fill_gaps(decode_entry(line, _KINDS) for line in content.split(b"\n") if line)]


def decode_log(content: bytes) -> tuple[list[ConversationEvent], bool]:
    """Return the events of a conversation, and whether a mark must come before what is appended (`drop_repeats`)."""
    lines = (line for line in content.split(b"\n") if line)
    events, needs_mark = drop_repeats((_TIME.sub(b"", line, count=1), decode_entry(line, _KINDS)) for line in lines)
    return [*_fill_gaps(events)], needs_mark


def decode_entry(line: bytes, kinds: Mapping[str, type[_Event]]) -> _Event | LogEntrySkipped:
    """Return the event of a line, of a kind by its name; of what cannot be read, that it was skipped."""
    try:
        fields: dict[str, Any] = json.loads(line)
        kind = kinds.get(fields["event"])
        return LogEntrySkipped(is_newer=True) if kind is None else msgspec.convert(fields, kind)
    except DECODE_ERRORS:
        return LogEntrySkipped()


def _fill_gaps(events: Iterable[ConversationEvent]) -> Iterator[ConversationEvent]:
    """Yield events, with a question in the place of each that could not be read, so that others keep their number."""
    asked, skipped, is_asking = 0, 0, False
    for event in events:
        match event:
            case LogEntrySkipped():
                skipped += 1
            case QuestionAsked(number=number):
                for lost in range(asked + 1, min(number, asked + skipped + 1)):
                    yield QuestionAsked(number=lost, question=LOST_QUESTION)
                    yield QuestionAnswered(number=lost, answer="", stopped=StopReason.ERROR, error=LOST_ANSWER)
                    asked = lost
                asked, is_asking = asked + 1, True
            case StepRecorded() | DraftRecorded() | ResultsDropped() | QuestionAnswered() if not is_asking:
                asked, is_asking = asked + 1, True
                yield QuestionAsked(number=asked, question=LOST_QUESTION)
            case QuestionsRewound(first=first):
                if first > asked:
                    continue
                asked, is_asking = first - 1, False
            case _:
                pass
        is_asking = is_asking and not isinstance(event, QuestionAnswered)
        yield event


def prepare_folder(folder: Path) -> None:
    """Make a folder where it is missing, for its owner alone.

    Raises:
        OSError: It cannot be made.
    """
    make_private_folder(folder)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        with suppress(OSError):
            folder.chmod(0o700)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other programs from changing the logs of a folder.

    The lock belongs to the open file, so the system releases it if the program is killed.

    Raises:
        OSError: Another program keeps the lock for too long.
    """
    # Not a log itself: what one program locks, others cannot read on Windows.
    file = open_private_file(folder / _LOCK)
    try:
        _lock(file)
        yield
    finally:
        os.close(file)


def _lock(file: int) -> None:
    # It takes 20 ms to import, and nothing is saved before the first question.
    from filelock import lock_descriptor  # noqa: PLC0415

    ends = time.monotonic() + _BUSY_SECONDS
    while not lock_descriptor(file, blocking=False):
        if time.monotonic() > ends:
            raise OSError(errno.EBUSY, "another program keeps it locked")
        time.sleep(_RETRY_SECONDS)


@contextmanager
def open_log(path: Path) -> Iterator[int]:
    """Open a log whose folder is `locked`; if it is new and nothing is written, it is deleted again.

    Raises:
        OSError: It cannot be opened, or version 0.2 keeps it for too long.
    """
    is_new = not path.exists()
    file = open_private_file(path)
    try:
        path.chmod(PRIVATE_FILE)
        if os.name == "posix":  # version 0.2 locks the log itself, and runs nowhere else
            _lock(file)
        yield file
    finally:
        is_unused = is_new and not os.fstat(file).st_size
        os.close(file)
        if is_unused:
            with suppress(OSError):
                path.unlink()
    if is_new:
        _fsync_folder(path.parent)


def read_at(file: int, offset: int, size: int) -> bytes:
    """Read bytes of an open file; what is read or written next follows them."""
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, size)


class Appender:
    """Appends to one file. What a failed write left there and could not be cut off goes before the next one."""

    def __init__(self) -> None:
        self._size = 0
        self._left = b""

    def repair(self, file: int) -> None:
        """Cut off what a failed write left, unless another program has written after it.

        Raises:
            OSError: It still cannot be cut off.
        """
        if self._left:
            found = read_at(file, self._size, len(self._left) + 1)
            if found and self._left.startswith(found):
                os.ftruncate(file, self._size)
            self._left = b""

    def append(self, file: int, entries: bytes) -> int:
        """Write entries at the end, and return the size of the file; a torn entry before them stays a line of its own.

        Raises:
            OSError: They cannot be written. The file is as it was, or will be before anything else is appended here.
        """
        self.repair(file)
        size = os.lseek(file, 0, os.SEEK_END)
        if size and read_at(file, size - 1, 1) != b"\n":
            entries = b"\n" + entries
        self._size, self._left = size, entries
        try:
            write_all(file, entries)
            os.fsync(file)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file, size)
                self._left = b""
            raise
        self._left = b""
        return size + len(entries)


def shred(path: Path) -> None:
    """Delete a log, its bytes first.

    Raises:
        OSError: It is not there, or cannot be deleted.
    """
    path.stat()
    with locked(path.parent):
        with open_log(path) as file:
            write_all(file, bytes(os.fstat(file).st_size))
            os.fsync(file)
            os.ftruncate(file, 0)  # where the name cannot be deleted, nothing is appended to what was overwritten
        path.unlink()  # only now: Windows deletes no open file
    _fsync_folder(path.parent)


def blank_lines_out(path: Path, marks: Collection[bytes]) -> None:
    """Overwrite the lines that hold a mark with blanks; all others stay where they are, for programs that write after.

    Raises:
        OSError: They cannot be overwritten. Each that is not still holds its mark, so that this can be done again.
    """
    with locked(path.parent), open_log(path) as file:
        start, is_empty = 0, True
        for line in os.read(file, os.fstat(file).st_size).split(b"\n"):
            mark = next((mark for mark in marks if mark in line), b"")
            if mark:
                end_of_mark = line.index(mark) + len(mark)
                for first, end in ((end_of_mark, len(line)), (0, end_of_mark)):  # the mark goes last
                    os.lseek(file, start + first, os.SEEK_SET)
                    write_all(file, b" " * (end - first))
            is_empty = is_empty and (bool(mark) or not line.strip())
            start += len(line) + 1
        os.fsync(file)
        if is_empty:
            os.ftruncate(file, 0)


def _fsync_folder(folder: Path) -> None:
    """Have the names of a folder on disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def format_os_error(error: OSError) -> str:
    """Return why something failed on disk, in a few words."""
    return error.strerror or str(error)


@contextmanager
def map_store_errors(failure: str, folder: Path) -> Iterator[None]:
    """Make a sentence of what fails on disk: of `failure`, with its ``{reason}`` and the ``{folder}``.

    Raises:
        StoreError: Something failed.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(failure.format(folder=folder, reason=format_os_error(error))) from None


class Trace:
    """A file to which what happens is appended along with the log."""

    def __init__(self, path: Path, redact: Callable[[Any], Any]) -> None:
        """Make the file where it is missing, for its owner alone; a trace that it holds is kept, and more comes after.

        Args:
            path: The file.
            redact: Returns a JSON value without secrets.

        Raises:
            UsageError: It cannot be written, or holds something else.
        """
        self._path = path
        self._redact = redact
        self._log: ConversationLog | None = None
        self._written = 0
        self.failure = ""
        """Why the file is not whole, a sentence; empty while all is well."""
        try:
            held = path.read_bytes() if path.is_file() else b""
            if held and not held.startswith(_TRACE_START):
                raise UsageError(f"--trace would write into {path}, which is no trace. Name a new file.")
            self._append(b"\n" if held and not held.endswith(b"\n") else b"")
            if path.is_file():
                path.chmod(PRIVATE_FILE)
        except OSError as error:
            raise UsageError(f"--trace cannot write {path}: {format_os_error(error)}. Name another file.") from None

    def write(self, log: ConversationLog) -> None:
        """Append what is new in a log, all of another one; where that fails the trace ends, and `failure` says so."""
        if log is not self._log:
            self._log, self._written = log, 0
        count = len(log.events)
        entries = encode_entries(log.events[self._written : count]).splitlines()
        if self.failure or not entries:
            return
        try:
            self._append("".join(f"{json.dumps(self._redact(json.loads(line)))}\n" for line in entries).encode("ascii"))
            self._written = count
        except OSError as error:
            self.failure = f"The trace {self._path} ends here: {format_os_error(error)}."

    def _append(self, entries: bytes) -> None:
        file = open_private_file(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(file, entries)
        finally:
            os.close(file)
