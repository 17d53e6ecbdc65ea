"""`TerminalDriver`: writes text and images to the terminal, and ends the app if the terminal is gone.

When a terminal is closed, it sends SIGHUP, which ends the app. If the signal is ignored, as under `nohup`, or goes to
another process, the app would hang: Textual's thread that writes dies at the first error, and the app waits for it
forever. Its thread that reads keys would use a whole core, because a lost terminal is always at its end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import IO, Any

from textual.driver import Driver
from typing_extensions import override

from roamtui.tui.terminal_images import encode_deletions

_CHECK_SECONDS = 1.0
_ENDING_SECONDS_MAX = 10.0
"""An app without a terminal may take this long to end. What was shown is on disk already."""


class TerminalOutput:
    """A file that drops what is written once its terminal is gone."""

    def __init__(self, file: IO[str], on_lost: Callable[[], object]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._is_lost = False

    def write(self, text: str) -> None:
        """Write text, unless the terminal is gone. `on_lost` is called when that is first noticed."""
        self._attempt(lambda: self._file.write(text))

    def flush(self) -> None:
        """Send what was written, unless the terminal is gone."""
        self._attempt(self._file.flush)

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self._file.fileno()

    def _attempt(self, act: Callable[[], object]) -> None:
        if self._is_lost:
            return
        try:
            act()
        except OSError:
            self._is_lost = True
            self._on_lost()


class TerminalDriver(Driver):
    """A mixin for each platform's driver. It deletes images at the end, and ends the app if the terminal is gone."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as Textual makes it
        super().__init__(*args, **options)
        self._has_images = False
        if (file := getattr(self, "_file", None)) is not None:
            self._file = TerminalOutput(file, self._end_app)
            if _is_in_terminal():
                # A thread, because the app's own may wait for the thread that writes.
                Thread(target=self._watch_terminal, name="terminal-watch", daemon=True).start()

    def _watch_terminal(self) -> None:
        while _is_in_terminal():
            time.sleep(_CHECK_SECONDS)
        self._end_app()
        time.sleep(_ENDING_SECONDS_MAX)
        os._exit(1)

    def _end_app(self) -> None:
        if (exit_event := getattr(self, "exit_event", None)) is not None:
            exit_event.set()  # ends the thread that reads keys
        with suppress(RuntimeError):  # the app has ended already
            self._loop.call_soon_threadsafe(self._app.exit)

    def write_image(self, data: str) -> None:
        """Write an escape sequence that sends, shows or deletes an image."""
        self._has_images = True
        self.write(data)

    @override
    def stop_application_mode(self) -> None:
        if self._has_images:  # before the screen is left, because each screen has its own images
            self.write(encode_deletions())
        super().stop_application_mode()  # type: ignore[safe-super]  # the platform's driver comes next


def make_driver_class(base: type[Driver]) -> type[Driver]:
    """Return the driver class of this app for a platform. `base` is Textual's own."""
    return type("TerminalDriver", (TerminalDriver, base), {})


def _is_in_terminal() -> bool:
    """Return whether keys come from a terminal. After the terminal is gone, this is false."""
    with suppress(OSError, ValueError):
        return sys.__stdin__ is not None and os.isatty(sys.__stdin__.fileno())
    return False
