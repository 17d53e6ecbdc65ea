"""`ConversationLog`: the events of a conversation as lines of JSON in an append-only file.

The first line names the format and its version; a log of another version is refused. A line is skipped, but stays in
the file, if it is incomplete or damaged.
"""

from __future__ import annotations

import errno
import json
import os
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
    ConversationStarted,
    DraftRecorded,
    LogEntrySkipped,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ResultsDropped,
    StepRecorded,
    TranscriptRebuilt,
)
from roamtui.conversation.transcript import StopReason
from roamtui.errors import StoreError, UsageError, format_reason
from roamtui.paths import make_private_folder, open_private_file, write_all

_Event = TypeVar("_Event")
_KINDS: dict[str, type[ConversationEvent]] = {name: kind for kind, name in EVENT_NAMES.items()}
DECODE_ERRORS = (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError)
"""Errors that decoding a damaged entry may raise."""
LOST_QUESTION = "(This question could not be read.)"
LOST_ANSWER = "This message was damaged on disk."
LOG_SUFFIX = ".jsonl"
LOG_FORMAT = "roamtui conversation"
LOG_VERSION = 1
PRIVATE_FILE = 0o600
_LOCK_SUFFIX = ".lock"
"""Suffix of the file to lock. It is never deleted, because then two programs could hold locks on different files."""
_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_TRACE_START = f'{{"format": "{LOG_FORMAT}", "version": {LOG_VERSION},'.encode()


@dataclass(slots=True, kw_only=True)
class ConversationLog:
    """The events of a conversation, and how many of them are on disk."""

    conversation_id: str
    events: list[ConversationEvent] = field(default_factory=list)
    saved_count: int = 0
    size: int = 0
    """Size of the file after this program last read or wrote it, in bytes."""

    @property
    def is_saved(self) -> bool:
        """Whether all events are on disk."""
        return self.saved_count == len(self.events)

    @property
    def damage_message(self) -> str:
        """A warning about the entries skipped since the last rebuild of the transcript; empty if none was skipped."""
        skipped: list[LogEntrySkipped] = []
        for event in self.events:
            if isinstance(event, LogEntrySkipped):
                skipped.append(event)
            elif isinstance(event, TranscriptRebuilt):
                skipped.clear()
        return format_damage("This conversation is", skipped)


def format_damage(lead: str, skipped: Sequence[LogEntrySkipped]) -> str:
    """Format a warning about skipped entries; `lead` begins the sentence. Empty if nothing was skipped."""
    if not skipped:
        return ""
    entries = "1 entry" if len(skipped) == 1 else f"{len(skipped):,} entries"
    return f"{lead} incomplete: {entries} could not be read. You can continue; skipped entries stay in the file."


def encode_entry(name: str, event: object, at: datetime) -> bytes:
    """Encode an event as a line."""
    start = {"format": LOG_FORMAT, "version": LOG_VERSION} if isinstance(event, ConversationStarted) else {}
    fields = {**start, "event": name, "at": at.isoformat(timespec="milliseconds"), **msgspec.to_builtins(event)}
    return json.dumps(fields).encode("ascii") + b"\n"


def encode_entries(events: Iterable[ConversationEvent], at: datetime | None = None) -> bytes:
    """Encode events as lines that all have the same time, by default the current one."""
    moment = at or datetime.now(UTC)
    return b"".join([encode_entry(EVENT_NAMES[type(event)], event, moment) for event in events])


def decode_entries(content: bytes) -> list[ConversationEvent]:
    """Decode the lines of a log. An unreadable line becomes `LogEntrySkipped`."""
    return [*_fill_gaps(decode_entry(line, _KINDS) for line in content.split(b"\n") if line)]


def is_other_version(content: bytes) -> bool:
    """Check whether a log was written by another version, which this one cannot read."""
    with suppress(*DECODE_ERRORS):
        start = json.loads(content.partition(b"\n")[0])
        is_start = "format" in start or start["event"] == EVENT_NAMES[ConversationStarted]
        return is_start and (start.get("format"), start.get("version")) != (LOG_FORMAT, LOG_VERSION)
    return False


def decode_entry(line: bytes, kinds: Mapping[str, type[_Event]]) -> _Event | LogEntrySkipped:
    """Decode a line, or return `LogEntrySkipped` if that fails. `kinds` maps names of events to their classes."""
    try:
        fields: dict[str, Any] = json.loads(line)
        return msgspec.convert(fields, kinds[fields["event"]])
    except DECODE_ERRORS:
        return LogEntrySkipped()


def _fill_gaps(events: Iterable[ConversationEvent]) -> Iterator[ConversationEvent]:
    """Insert a placeholder for each lost question, so that the other questions keep their numbers."""
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
    """Create a folder if it is missing, and make it accessible only to its owner.

    Raises:
        OSError: The folder cannot be created.
    """
    make_private_folder(folder)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        with suppress(OSError):
            folder.chmod(0o700)


@contextmanager
def locked(folder: Path, name: str = "", *, waits: bool = True) -> Iterator[None]:
    """Keep other programs from changing the logs of a folder, or only the log called `name`.

    The lock belongs to the open file, so the system releases it if the program is killed. With `waits`, another program
    that holds the lock gets `_BUSY_SECONDS` to finish.

    Raises:
        OSError: Another program holds the lock for too long.
    """
    # A separate file is locked because on Windows other programs cannot read a locked file.
    file = open_private_file(folder / f"{name}{_LOCK_SUFFIX}")
    try:
        _lock(file, waits=waits)
        yield
    finally:
        os.close(file)


def _lock(file: int, *, waits: bool = True) -> None:
    # The import takes 20 ms, and is not needed at startup because nothing is saved before the first question.
    from filelock import lock_descriptor  # noqa: PLC0415

    deadline = time.monotonic() + (_BUSY_SECONDS if waits else 0.0)
    while not lock_descriptor(file, blocking=False):
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, "locked by another program")
        time.sleep(_RETRY_SECONDS)


@contextmanager
def open_log(path: Path) -> Iterator[int]:
    """Open a log in a folder that is `locked`. A new log that stays empty is deleted.

    Raises:
        OSError: The log cannot be opened.
    """
    is_new = not path.exists()
    file = open_private_file(path)
    try:
        path.chmod(PRIVATE_FILE)
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
    """Read bytes from an open file at an offset. Afterwards, the file position is at their end."""
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, size)


class Appender:
    """Appends entries to one file. Before each write, it removes what an earlier, failed write left behind."""

    def __init__(self) -> None:
        self._size = 0
        """Size of the file before the failed write."""
        self._remains = b""
        """The entries of the failed write. The file may contain their beginning."""

    def repair(self, file: int) -> None:
        """Cut off what a failed write left behind, unless another program has written after it.

        Raises:
            OSError: The file still cannot be shortened.
        """
        if self._remains:
            found = read_at(file, self._size, len(self._remains) + 1)
            if found and self._remains.startswith(found):
                os.ftruncate(file, self._size)
            self._remains = b""

    def append(self, file: int, entries: bytes) -> int:
        """Append entries, and return the new size of the file.

        Raises:
            OSError: The entries cannot be written. A part that was written is cut off now, or by the next call.
        """
        self.repair(file)
        size = os.lseek(file, 0, os.SEEK_END)
        if size and read_at(file, size - 1, 1) != b"\n":  # keep an incomplete last entry on a line of its own
            entries = b"\n" + entries
        self._size, self._remains = size, entries
        try:
            write_all(file, entries)
            os.fsync(file)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file, size)
                self._remains = b""
            raise
        self._remains = b""
        return size + len(entries)


def shred(path: Path) -> None:
    """Overwrite a log, then delete it.

    Raises:
        OSError: The log does not exist or cannot be deleted.
    """
    path.stat()
    with locked(path.parent):
        with open_log(path) as file:
            write_all(file, bytes(os.fstat(file).st_size))
            os.fsync(file)
            os.ftruncate(file, 0)  # if the file cannot be deleted, other programs must not append to the zeros
        path.unlink()  # after closing, because Windows cannot delete an open file
    _fsync_folder(path.parent)


def blank_lines(path: Path, marks: Collection[bytes]) -> None:
    """Overwrite with spaces each line that contains one of `marks`. Other lines keep their offsets.

    Raises:
        OSError: A line cannot be overwritten. It still contains its mark, so that another call tries again.
    """
    with locked(path.parent), open_log(path) as file:
        start, is_empty = 0, True
        for line in os.read(file, os.fstat(file).st_size).split(b"\n"):
            mark = next((mark for mark in marks if mark in line), b"")
            if mark:
                end_of_mark = line.index(mark) + len(mark)
                # The mark is overwritten last, so that another call still finds the line after a failure.
                for first, end in ((end_of_mark, len(line)), (0, end_of_mark)):
                    os.lseek(file, start + first, os.SEEK_SET)
                    write_all(file, b" " * (end - first))
            is_empty = is_empty and (bool(mark) or not line.strip())
            start += len(line) + 1
        os.fsync(file)
        if is_empty:
            os.ftruncate(file, 0)


def _fsync_folder(folder: Path) -> None:
    # Flushes the creation and deletion of files to disk. Windows cannot do this.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def map_store_errors(failure: str, folder: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError`. Its message is `failure` with ``{reason}`` and ``{folder}`` replaced.

    Raises:
        StoreError: An operation on disk failed.
    """
    try:
        yield
    except OSError as error:
        # `str.format` would fail if the sentence already contains a path with braces.
        message = failure.replace("{folder}", str(folder)).replace("{reason}", format_reason(error))
        raise StoreError(message) from None


class Trace:
    """Copies the events of the conversation to a file that the person chose."""

    def __init__(self, path: Path, redact: Callable[[Any], Any]) -> None:
        """Create the file, accessible only to its owner, or continue the trace that it contains.

        Args:
            path: The file.
            redact: Removes secrets from a JSON value.

        Raises:
            UsageError: The file cannot be written, or is not a trace.
        """
        self._path = path
        self._redact = redact
        self._log: ConversationLog | None = None
        self._written = 0
        self.failure = ""
        """Why the trace is incomplete; empty if it is complete."""
        try:
            content = path.read_bytes() if path.is_file() else b""
            if content and not content.startswith(_TRACE_START):
                raise UsageError(f"--trace: {path} exists and is not a trace. Choose another file.")
            self._append(b"\n" if content and not content.endswith(b"\n") else b"")
            if path.is_file():
                path.chmod(PRIVATE_FILE)
        except OSError as error:
            raise UsageError(f"--trace cannot write {path}: {format_reason(error)}. Choose another file.") from None

    def write(self, log: ConversationLog) -> None:
        """Append the events added since the last call. If `log` has replaced another log, append all its events.

        After an error, nothing more is written.
        """
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
            self.failure = f"Stopped writing the trace {self._path}: {format_reason(error)}."

    def _append(self, entries: bytes) -> None:
        file = open_private_file(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(file, entries)
        finally:
            os.close(file)
