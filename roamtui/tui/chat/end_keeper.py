"""`EndKeeper`: scrolls with a conversation as it grows, but never past the first line of the answer that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget


class EndKeeper:
    """Keeps the newest in view; a long answer stays at its beginning, to be read."""

    def __init__(self, view: Widget, find_answer: Callable[[], int | None]) -> None:
        """Scroll `view`.

        Args:
            view: What is scrolled.
            find_answer: Returns the line of the view's content where the newest answer begins, None before it does.
        """
        self._view = view
        self._find_answer = find_answer
        self._is_keeping = False

    @property
    def is_keeping(self) -> bool:
        """Whether the newest is kept in view."""
        return self._is_keeping

    def start(self) -> None:
        """Keep the newest in view from now on."""
        self._view.anchor(anchor=False)  # Textual's own anchor knows no answer that is being read
        self._is_keeping = True
        self.fit()

    def stop(self) -> None:
        """Let the person scroll."""
        self._is_keeping = False

    def fit(self) -> None:
        """Scroll to the end, or as far as the answer's beginning allows; never back."""
        if not self._is_keeping:
            return
        answer = self._find_answer()
        end = self._view.max_scroll_y
        line = end if answer is None else min(end, answer)
        if line > self._view.scroll_y:
            self._view.scroll_to(y=line, animate=False, immediate=True)
