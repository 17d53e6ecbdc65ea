"""`TerminalDriver`: writes text and images to the terminal, and ends the app if the terminal is gone.

When a terminal is closed, it sends SIGHUP, which ends the app. If the signal is ignored, as under `nohup`, or goes to
another process, the app would hang: Textual's thread that writes dies at the first error, and the app waits for it
forever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from textual.driver import Driver
from typing_extensions import override

from roamtui.tui.terminal_images import encode_deletions


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
            self._file = TerminalOutput(file, lambda: self._loop.call_soon_threadsafe(self._app.exit))

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
