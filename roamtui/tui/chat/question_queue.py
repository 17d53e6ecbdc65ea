"""`QuestionQueue`: the questions that a person has sent, until they are part of the conversation."""

from typing import NamedTuple

from roamtui.conversation.update import AskOptions


class SentQuestion(NamedTuple):
    """A question, and how it is asked."""

    question: str
    options: AskOptions


class QuestionQueue:
    """Holds sent questions. One at a time has its turn; the others wait."""

    def __init__(self) -> None:
        self.current: SentQuestion | None = None
        """The question whose turn it is, until it is part of the conversation."""
        self.is_shown = False
        """Whether the conversation already shows `current`."""
        self._waiting: list[SentQuestion] = []
        """The questions after `current`, oldest first."""

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, sent: SentQuestion) -> None:
        """Add a question, to wait for its turn."""
        self._waiting.append(sent)

    def start_next(self) -> SentQuestion | None:
        """Let the next question have its turn, and return it, or None if none waits."""
        if not self._waiting:
            return None
        self.current = self._waiting.pop(0)
        self.is_shown = False
        return self.current

    def end_current(self) -> SentQuestion | None:
        """End the current turn. Return its question if that did not become part of the conversation."""
        unasked = self.current
        self.current = None
        return unasked

    def take_back(self) -> SentQuestion | None:
        """Remove the newest question that is not part of the conversation, and return it, or None."""
        return self._waiting.pop() if self._waiting else self.end_current()

    def list_unshown(self) -> list[str]:
        """List the questions that the conversation does not show yet, oldest first."""
        current = [] if self.current is None or self.is_shown else [self.current]
        return [sent.question for sent in (*current, *self._waiting)]
