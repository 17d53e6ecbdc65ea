"""`ScanDialog`: runs OCR on scanned pages, shows the progress, and lets a person cancel it."""

from __future__ import annotations

from collections.abc import Callable

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from typing_extensions import override

from roamtui.errors import OpeningCancelledError, RoamtuiError
from roamtui.sources.convert.converted import PageReport
from roamtui.tui.screens.dialogs import Dialog

_REFRESH_SECONDS = 0.2


class ScanDialog(Dialog[bool | RoamtuiError | None]):
    """Runs OCR on scanned pages. The result is True at the end, an error, or None if the person cancels."""

    def __init__(self, read_scans: Callable[[PageReport], None]) -> None:
        super().__init__()
        self._read_scans = read_scans
        self._line = Static("Reading scanned pages…  esc cancels")
        self._progress = (0, 0)
        self._is_cancelled = False

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._line

    def on_mount(self) -> None:
        self.set_interval(_REFRESH_SECONDS, self._show_progress)
        self._read()

    def _show_progress(self) -> None:
        done, count = self._progress
        if count:
            self._line.update(f"Reading scanned pages… {done} of {count}  esc cancels")

    @work(thread=True, exit_on_error=False)
    def _read(self) -> None:
        result: bool | RoamtuiError | None = True
        try:
            self._read_scans(self._report)
        except OpeningCancelledError:
            return
        except RoamtuiError as error:
            result = error
        self.app.call_from_thread(self.finish, result)

    def _report(self, done: int, count: int, _text: str) -> None:
        if self._is_cancelled:
            raise OpeningCancelledError
        self._progress = (done, count)

    @override
    def action_leave(self) -> None:
        self._is_cancelled = True
        self.dismiss(None)
