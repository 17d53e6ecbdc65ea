"""`TerminalDriver`: writes images to the terminal, and deletes them at the end."""

from __future__ import annotations

from typing import Any

from textual.driver import Driver
from typing_extensions import override

from roamtui.tui.terminal_images import encode_deletions


class TerminalDriver(Driver):
    """A mixin for each platform's driver."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as Textual makes it
        super().__init__(*args, **options)
        self._has_images = False

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
