"""`Saving`: brings the newest state of a session onto the disk, and keeps in memory what could not be written."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread

from roamtui.conversation.beginning import make_conversation_id
from roamtui.conversation.events import SaveFailed, SavingReported
from roamtui.conversation.rewinding import part_ways
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store
from roamtui.errors import ContinuedElsewhereError, StoreError

_MOMENT_SECONDS = 0.25
"""What a screen may wait for the disk where it waits for nothing else."""


class Saving:
    """Writes what `find_newest` returns. Safe to use from several threads."""

    def __init__(self, store: Store | None, find_newest: Callable[[], ConversationState]) -> None:
        self.store = store
        self._find_newest = find_newest
        self._lock = Lock()
        self._written: ConversationState | None = None
        self._unsaved: dict[str, ConversationState] = {}
        """Conversations that were left before they could be written."""
        self._reports: list[SavingReported] = []
        self.failure = store.problem if store is not None else ""
        """Why the last try failed, empty where it did not."""
        self._told = self.failure

    @property
    def has_all(self) -> bool:
        """Whether everything is on disk that shall be."""
        return self._written is self._find_newest() and not self._unsaved

    def write(self) -> str | None:
        """Write the newest state; one at a time, so that a thread left behind never writes an older one last.

        Returns:
            The id of the conversation where another program went on with it, so that nothing was written; else None.
        """
        with self._lock:
            state = self._find_newest()
            if self.store is None:
                return None
            try:
                self.store.save(state)
                self._written, self.failure = state, ""
                self._write_unsaved(self.store)
            except ContinuedElsewhereError as error:
                return error.conversation_id
            except StoreError as error:
                self.failure = str(error)
            for report in self.store.take_reports():
                self.report(report, state.id)
        return None

    def write_briefly(self) -> str | None:
        """Write the newest state in a thread, and wait a moment for it; where that is too short it goes on alone.

        The program does not end before it has. What it would have returned then, the next write will.
        """
        taken: list[str | None] = []
        writing = Thread(target=lambda: taken.append(self.write()))
        writing.start()
        writing.join(_MOMENT_SECONDS)
        return taken[0] if taken else None

    def _write_unsaved(self, store: Store) -> None:
        for conversation_id, state in list(self._unsaved.items()):
            try:
                store.save(state)
            except ContinuedElsewhereError:
                store.save(part_ways(state, make_conversation_id()))
            del self._unsaved[conversation_id]

    def turn(self, store: Store | None, hold: Callable[[], None]) -> None:
        """Have `hold` put another conversation in the place of the newest; keep that one where it is not written."""
        with self._lock:
            state = self._find_newest()
            if self.store is not None and self._written is not state and state.transcript.exchanges:
                self._unsaved[state.id] = state
            self.store = store
            hold()

    def recall(self, state: ConversationState) -> ConversationState:
        """Return a conversation as it was left, where that is newer than what was read from the disk."""
        return self._unsaved.pop(state.id, state)

    def report(self, message: str, conversation_id: str) -> None:
        """Tell something along with the next save."""
        self._reports.append(SavingReported(message=message, conversation_id=conversation_id))

    def take_events(self) -> tuple[SaveFailed | SavingReported, ...]:
        """Return what a person should know and was not told yet: a failure once, and again when it changes."""
        reports, self._reports = tuple(self._reports), []
        failure, told = self.failure, self._told
        self._told = failure
        return (*reports, *((SaveFailed(message=failure),) if failure and failure != told else ()))
