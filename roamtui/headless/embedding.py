"""Progress of embedding, in a few lines on stderr."""

from __future__ import annotations

from roamtui.headless.output import write_note

_LINES_MAX = 20


class EmbeddingProgress:
    """Writes how far embedding has come, in at most `_LINES_MAX` lines for each library."""

    def __init__(self) -> None:
        self._told = 0
        self._is_muted = False

    def mute(self) -> None:
        """Say no more: the terminal shows something else from now on."""
        self._is_muted = True

    def __call__(self, done: int, count: int) -> None:
        """Take note that `done` of `count` chunks are embedded."""
        if done <= self._told:
            self._told = 0
        if self._is_muted:
            return
        if done == count or (done - self._told) * _LINES_MAX >= count:
            self._told = done
            write_note(f"embedded {done:,} of {count:,} chunks")
