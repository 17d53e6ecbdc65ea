"""Conversations on disk: a folder with one append-only log of each, readable by its owner alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock

from roamtui.conversation.events import ConversationBegun, ConversationForked, ConversationRenamed
from roamtui.conversation.fold import apply, fold
from roamtui.conversation.importing import NOTHING, forget_in_copies, import_database
from roamtui.conversation.index import ConversationSummary, Index
from roamtui.conversation.log import Log, decode_entries, encode_entries, now
from roamtui.conversation.log_files import (
    LOG_SUFFIX,
    PRIVATE_FILE,
    append,
    explain,
    open_log,
    overwrite,
    prepare_folder,
)
from roamtui.conversation.state import ConversationState
from roamtui.errors import ContinuedElsewhereError, StoreError
from roamtui.locations import write_private_file

_CLOCK = ".newest"
"""An empty file; its time is that of the newest change, so that the order of changes does not go by the clock."""
_NO_SUCH = 'There is no conversation "{}". `roamtui conversations` lists them.'


class Store:
    """All conversations of a person. Safe to use from several threads and programs."""

    problem = ""
    """Why nothing can be kept, a sentence; empty where it can."""

    def __init__(self, folder: Path, *, is_patient: bool = False) -> None:
        """Make the folder where it is missing, and take over what versions before the logs have kept beside it.

        Args:
            folder: Where the logs lie.
            is_patient: Whether to go on where the folder cannot be used, and to try again at each use.

        Raises:
            StoreError: The folder cannot be used.
        """
        self._folder = folder
        self._lock = Lock()
        self._reports: list[str] = []
        self._is_closed = False
        try:
            prepare_folder(self._folder)
            self._reports += import_database(folder, self._import)
        except OSError as error:
            self.problem = f"Conversations cannot be kept in {folder}: {explain(error)}."
            if not is_patient:
                raise StoreError(self.problem) from None

    def close(self) -> None:
        """Keep nothing any more."""
        self._is_closed = True

    @property
    def notes_folder(self) -> Path:
        """Where a person's notes lie: beside the conversations."""
        return self._folder.with_name("notes")

    def take_reports(self) -> tuple[str, ...]:
        """Return sentences about what became of conversations that nobody was told yet."""
        reports, self._reports = tuple(self._reports), []
        return reports

    def read(self, conversation_id: str) -> Log:
        """Return all that happened in a conversation, to go on with: what is written next follows it.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        try:
            content = self._find(conversation_id).read_bytes()
        except FileNotFoundError:
            raise StoreError(_NO_SUCH.format(conversation_id)) from None
        except OSError as error:
            raise StoreError(f"The conversation {conversation_id} cannot be read: {explain(error)}.") from None
        events = decode_entries(content)
        ids = [event.conversation_id for event in events if isinstance(event, ConversationBegun | ConversationForked)]
        if ids[-1:] != [conversation_id]:  # it was copied by hand, or its beginning cannot be read
            events.append(ConversationForked(conversation_id=conversation_id))
        return Log(conversation_id=conversation_id, events=events, saved=len(events), size=len(content))

    def load(self, conversation_id: str) -> ConversationState:
        """Return a conversation as it was left, without its document.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        state = fold(NOTHING, self.read(conversation_id).events)
        return apply(state, state.transcript.exchanges[-1].ending) if state.is_asking else state

    def write(self, log: Log) -> None:
        """Append what is new in a log; all of it is on disk when this returns.

        Raises:
            ContinuedElsewhereError: Another program went on with the conversation since it was read or written here.
            StoreError: It could not be written; what was on disk is unchanged.
        """
        with self._lock, self._saving():
            count = len(log.events)
            if log.saved and not self._find(log.conversation_id).exists():  # it was deleted, and is written whole again
                log.saved = log.size = 0
            with open_log(self._find(log.conversation_id)) as file:
                size = _check_size(file, log)
                entries = encode_entries(log.events[log.saved : count], now())
                log.size = append(file, size, entries)
                self._order(file)
            log.saved = count

    def list(self, source: str | None = None) -> tuple[ConversationSummary, ...]:
        """Return all conversations, or those about one source, the one that was changed last first.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, self._reading():
            summaries = Index(self._folder).list()
        return tuple(summary for summary in summaries if source is None or summary.source == source)

    def read_words(self) -> dict[str, str]:
        """Return all questions and answers of each conversation as one text, for searching.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, self._reading():
            return Index(self._folder).read_words()

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; its place in the list stays.

        Raises:
            StoreError: There is none with this id, or it could not be written.
        """
        path = self._find(conversation_id)
        if not path.exists():
            raise StoreError(_NO_SUCH.format(conversation_id))
        with self._lock, self._saving(), open_log(path) as file:
            before = os.fstat(file)
            append(file, before.st_size, encode_entries((ConversationRenamed(title=title),), now()))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation for good: its bytes are overwritten, in copies of older versions too.

        Where they may still be, a report says so.

        Raises:
            StoreError: There is none with this id, or it could not be deleted.
        """
        with self._lock, self._saving():
            try:
                overwrite(self._find(conversation_id))
            except FileNotFoundError:
                raise StoreError(_NO_SUCH.format(conversation_id)) from None
            Index(self._folder).list()
            left = forget_in_copies(self._folder, conversation_id)
        self._reports += [
            f"The deleted conversation may still be read in {path}. Delete that file too." for path in left
        ]

    def _import(self, log: Log, at: datetime, changed_at_ns: int) -> None:
        """Write the log of a conversation of an older version, unless that was done before."""
        path = self._find(log.conversation_id)
        if not path.exists():
            write_private_file(path, encode_entries(log.events, at))
            with open_log(path) as file:
                self._order(file, changed_at_ns)

    def _find(self, conversation_id: str) -> Path:
        name = conversation_id if conversation_id.isalnum() else "-"
        return self._folder / f"{name}{LOG_SUFFIX}"

    @contextmanager
    def _saving(self) -> Iterator[None]:
        with self._explained(self.problem or "The conversation is not saved: {reason} ({folder})."):
            prepare_folder(self._folder)
            yield
        self.problem = ""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._explained("{folder} cannot be read: {reason}."):
            yield

    @contextmanager
    def _explained(self, failure: str) -> Iterator[None]:
        if self._is_closed:
            raise StoreError(failure.format(folder=self._folder, reason="it was closed"))
        try:
            yield
        except OSError as error:
            raise StoreError(failure.format(folder=self._folder, reason=explain(error))) from None

    def _order(self, file: int, moment: int | None = None) -> None:
        """Have the time of a log be after those of all others, whatever the clock says."""
        clock = self._folder / _CLOCK
        descriptor = os.open(clock, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
        try:
            is_new = moment is None
            moment = moment or time.time_ns()
            newest = os.fstat(descriptor).st_mtime_ns
            after = max(moment, newest + 1) if is_new else moment
            os.utime(file, ns=(after, after))
            os.utime(descriptor, ns=(after, after))
        finally:
            os.close(descriptor)


def _check_size(file: int, log: Log) -> int:
    """Return the size of a file that is as the log knows it, but for new titles.

    Raises:
        ContinuedElsewhereError: It is another's.
    """
    size = os.fstat(file).st_size
    if size != log.size:
        added = decode_entries(os.pread(file, size - log.size, log.size)) if log.size < size and log.size else []
        if not added or not all(isinstance(event, ConversationRenamed) for event in added):
            raise ContinuedElsewhereError(log.conversation_id)
    return size
