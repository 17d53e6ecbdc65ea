"""`DraftKeeper`: keeps what a person types into the question box until it is asked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.library_sync import get_source_key
from roamtui.tui.chat.question_box import QuestionBox

if TYPE_CHECKING:
    from roamtui.conversation.drafts import DraftFile


class DraftKeeper:
    """Saves the unasked text of a question box in the drafts file of its conversation."""

    def __init__(self, box: QuestionBox, conversation: Conversation) -> None:
        self._box = box
        self._conversation = conversation
        self._file: DraftFile | None = None
        self.is_elsewhere = False
        """Whether another window has a draft of the document, when the program started."""

    def open_drafts(self, *, is_start: bool = False) -> list[str]:
        """Open the file of the conversation's drafts, and return them.

        With `is_start`, the conversation takes over drafts of an earlier run. A conversation whose document
        was moved keeps its own drafts.
        """
        from roamtui.conversation.drafts import DraftFile  # noqa: PLC0415

        state = self._conversation.state
        store = self._conversation.store
        found: list[str] = []
        if store is not None:
            self._file = DraftFile(store, get_source_key(state.library), state.id)
            with suppress(OSError):
                is_new = not state.exchanges
                if is_start or not is_new:
                    self.is_elsewhere = self._file.adopt_newest(is_start=is_start, is_new=is_new)
                found = self._file.load()
        return found

    def write(self) -> None:
        """Write the typed text and the waiting questions. If that fails, they are only on the screen."""
        if self._file is not None:
            with suppress(OSError):
                self._file.write(self._box.drafts)

    def release(self, *, is_kept: bool = True) -> None:
        """Leave the drafts to the next program, or remove them."""
        self.write()
        if self._file is not None:
            self._file.close(is_kept=is_kept)
            self._file = None
