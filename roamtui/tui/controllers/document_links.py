"""`DocumentLinkController`: follows links from one document to another, and goes back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from roamtui.tui.messages import DocumentRequested, LinkedFileRequested

_FOLLOWED_MAX = 100
"""Maximum number of followed links that are remembered, so that a person can go back."""


class DocumentLinkController:
    """Follows links between documents, and remembers them to go back. A document is identified by its Textual mode."""

    def __init__(
        self,
        get_mode: Callable[[], str],
        open_document: Callable[[DocumentRequested, Callable[[str], None]], None],
        show_document: Callable[[str, str | None], bool],
    ) -> None:
        """Follow links from the document of the mode that `get_mode` returns.

        `open_document` shows a document, and then calls a function with its mode. `show_document` shows an open one at
        an anchor, if one is given, and returns false if it is no longer open.
        """
        self._get_mode = get_mode
        self._open_document = open_document
        self._show_document = show_document
        self._followed: deque[tuple[str, str]] = deque(maxlen=_FOLLOWED_MAX)
        """The modes that each link led from and to, the latest last."""

    def follow(self, link: LinkedFileRequested) -> None:
        """Show the file that a link in the current document leads to."""
        origin = self._get_mode()

        def on_opened(mode: str) -> None:
            if mode != origin:
                self._followed.append((origin, mode))
                self._show_document(mode, link.anchor)

        self._open_document(DocumentRequested(link.path), on_opened)

    def go_back(self) -> bool:
        """Show the document whose link led to the current one. Return false if there is none."""
        mode = self._get_mode()
        while self._followed:
            origin, target = self._followed.pop()
            if target == mode:
                return self._show_document(origin, None)
        return False
