"""`PageScreen`: a page of a PDF as printed, on the whole screen, to zoom and move."""

import asyncio
import os
from math import ceil
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker
from typing_extensions import override

from roamtui.convert.conversion import draw
from roamtui.convert.drawing import Drawing, DrawingRequest
from roamtui.editor import open_in_viewer
from roamtui.errors import OpeningCancelledError, RoamtuiError, SourceError
from roamtui.plain import sanitise_line
from roamtui.sources.read import explain_error
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.messages import PageRequested
from roamtui.tui.page_images import CELL_PIXELS, CELLS_MAX, DrawnPage, draw_row, has_images, send_image
from roamtui.tui.screens.dialogs import make_key_hints

_BYTES_MAX = 200_000_000
_ZOOM_STEP = 1.5
_ZOOM_MAX = 40.0
_MOVE_SHARE = 0.4
"""How far a key moves the view, as a share of what is in view."""


class PageCanvas(Widget):
    """The drawing, centred in the available space."""

    drawn: DrawnPage | None = None
    columns = rows = 0

    def show(self, drawn: DrawnPage, columns: int, rows: int) -> None:
        """Show another drawing, which takes `columns` and `rows` cells."""
        self.drawn = drawn
        self.columns = columns
        self.rows = rows
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        row = y - (self.size.height - self.rows) // 2
        width = self.size.width
        base = self.rich_style
        if self.drawn is None or not 0 <= row < self.rows:
            return Strip.blank(width, base)
        margin = Segment(" " * max(0, (width - self.columns) // 2), base)
        return Strip([margin, *draw_row(self.drawn, row, self.columns)]).adjust_cell_length(width, base)


class PageScreen(Screen[None]):
    """Shows a page. After each change of the view, a subprocess draws the part in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.PAGE, Scope.MOVE),
        Binding("escape,v", "leave", "Close"),
    ]

    def __init__(self, shown: PageRequested, keys: Keymap) -> None:
        """Show a page, as an image if the terminal has them, else as half cells."""
        super().__init__()
        self.drawing: Drawing | None = None
        self._shown = shown
        self._has_images = has_images(os.environ)
        self._page = shown.page
        self._zoom = 0.0 if self._has_images else 1.0
        self._centre: tuple[float, float] | None = None
        self._data = b""
        self._canvas = PageCanvas()
        self._status = Static(id="page-status", markup=False)
        self._foot = make_key_hints(keys, Scope.PAGE)

    @override
    def compose(self) -> ComposeResult:
        yield from (self._canvas, self._status, self._foot)

    @on(events.Resize)
    def _draw_again(self) -> None:
        self.call_after_refresh(self._draw)

    @work(group="drawing", exclusive=True, exit_on_error=False)
    async def _draw(self) -> None:
        cell = CELL_PIXELS if self._has_images else (1, 2)
        columns, rows = (max(1, min(length, CELLS_MAX)) for length in self._canvas.size)
        request = DrawingRequest(
            width=columns * cell[0],
            height=rows * cell[1],
            zoom=self._zoom,
            centre=self._centre,
            page=self._page,
            quote=self._shown.quote if self._page == self._shown.page else "",
            is_packed=self._has_images,
        )
        try:
            drawing = await asyncio.to_thread(self._load, request)
        except RoamtuiError as error:
            self._say(str(error))
        else:
            self._show(drawing, cell)

    def _load(self, request: DrawingRequest) -> Drawing:
        worker = get_current_worker()

        def check(_done: int, _count: int) -> None:
            if worker.is_cancelled:
                raise OpeningCancelledError

        path = self._shown.path
        self._data = self._data or _read(path)
        return draw(request, self._data, path.name, on_progress=check)

    def _show(self, drawing: Drawing, cell: tuple[int, int]) -> None:
        viewport = drawing.viewport
        left, top, right, bottom = viewport.box
        self.drawing = drawing
        self._zoom = viewport.zoom
        self._centre = ((left + right) / 2, (top + bottom) / 2)
        columns, rows = ceil(viewport.width / cell[0]), ceil(viewport.height / cell[1])
        drawn: DrawnPage = drawing.data
        if self._has_images:
            drawn = send_image(self.app, drawing.data, columns, rows, (viewport.width, viewport.height))
        self._canvas.show(drawn, columns, rows)
        page = f"page {self._page + 1:,} of {self._shown.page_count:,}"
        self._say(f"{self._shown.path.name} · {page} · {viewport.zoom * 100:.0f} %")

    def _say(self, words: str) -> None:
        self._status.update(Content(sanitise_line(words)))

    def action_zoom(self, steps: int) -> None:
        self._zoom = max(1.0, min(_ZOOM_MAX, (self._zoom or 1.0) * _ZOOM_STEP**steps))
        self._draw()

    def action_fit(self) -> None:
        """Fit the whole page into the screen, or if it fits already, its width."""
        self._zoom = 0.0 if self._zoom == 1.0 else 1.0
        self._draw()

    def action_move_sideways(self, across: int) -> None:
        self.action_move(0, across)

    def action_move(self, down: int, across: int = 0) -> None:
        if self.drawing is not None and self._centre is not None:
            left, top, right, bottom = self.drawing.viewport.box
            x, y = self._centre
            self._centre = x + across * _MOVE_SHARE * (right - left), y + down * _MOVE_SHARE * (bottom - top)
            self._draw()

    def action_page(self, pages: int) -> None:
        if 0 <= self._page + pages < self._shown.page_count:
            self._page += pages
            self._centre = (self._centre[0], 0.0) if self._centre is not None else None
            self._draw()

    def action_first(self) -> None:
        self.action_page(-self._page)

    def action_last(self) -> None:
        self.action_page(self._shown.page_count - 1 - self._page)

    def action_open_outside(self) -> None:
        path = self._shown.path
        self._say(f"{'Opened' if open_in_viewer(path) else 'No program here opens'} {path}")

    def action_leave(self) -> None:
        self.dismiss(None)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size <= _BYTES_MAX:
            return path.read_bytes()
    except OSError as error:
        raise SourceError(explain_error(path, error)) from None
    raise SourceError(f"{path.name} is too large to show. Open it in another program.")
