"""`PageScreen`: a page of a PDF as printed, on the whole screen, to zoom and move."""

import asyncio
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
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
from roamtui.tui.screens.dialogs import make_key_hints

_BYTES_MAX = 200_000_000
_ZOOM_STEP = 1.5
_ZOOM_MAX = 40.0
_MOVE_SHARE = 0.4
"""How far a key moves the view, as a share of what is in view."""
_DRAWN_ROWS_MAX = 100
"""Maximum number of cached rows: about two screens. A row of cells takes much memory."""
_HALF_CELL = "▀"


class PageCanvas(Widget):
    """The drawing, centred in the available space. A cell shows two pixels, one above the other."""

    drawing: Drawing | None = None

    def show(self, drawing: Drawing) -> None:
        """Show another drawing."""
        self.drawing = drawing
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        if self.drawing is None:
            return Strip.blank(width, base)
        viewport = self.drawing.viewport
        rows = viewport.height // 2
        row = y - (self.size.height - rows) // 2
        if not 0 <= row < rows:
            return Strip.blank(width, base)
        margin = Segment(" " * max(0, (width - viewport.width) // 2), base)
        cells = _draw_row(self.drawing.data, row, viewport.width)
        return Strip([margin, *cells]).adjust_cell_length(width, base)


@lru_cache(_DRAWN_ROWS_MAX)
def _draw_row(pixels: bytes, row: int, columns: int) -> tuple[Segment, ...]:
    size = columns * 3
    upper, lower = (pixels[start : start + size] for start in (row * 2 * size, (row * 2 + 1) * size))
    cells = (upper[index : index + 3] + lower[index : index + 3] for index in range(0, size, 3))
    return tuple(
        Segment(_HALF_CELL * sum(1 for _ in same), _make_style(cell)) for cell, same in groupby(cells)
    )


def _make_style(cell: bytes) -> Style:
    return Style.from_color(Color.from_rgb(*cell[:3]), Color.from_rgb(*cell[3:]))


class PageScreen(Screen[None]):
    """Shows a page. After each change of the view, a subprocess draws the part in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.PAGE, Scope.MOVE),
        Binding("escape,v", "leave", "Close"),
    ]

    def __init__(self, shown: PageRequested, keys: Keymap) -> None:
        super().__init__()
        self.drawing: Drawing | None = None
        self._shown = shown
        self._page = shown.page
        self._zoom = 1.0
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
        width, height = self._canvas.size
        request = DrawingRequest(
            width=max(1, width),
            height=max(1, height) * 2,
            zoom=self._zoom,
            centre=self._centre,
            page=self._page,
            quote=self._shown.quote if self._page == self._shown.page else "",
        )
        try:
            drawing = await asyncio.to_thread(self._load, request)
        except RoamtuiError as error:
            self._say(str(error))
        else:
            self._show(drawing)

    def _load(self, request: DrawingRequest) -> Drawing:
        worker = get_current_worker()

        def check(_done: int, _count: int) -> None:
            if worker.is_cancelled:
                raise OpeningCancelledError

        path = self._shown.path
        self._data = self._data or _read(path)
        return draw(request, self._data, path.name, on_progress=check)

    def _show(self, drawing: Drawing) -> None:
        viewport = drawing.viewport
        left, top, right, bottom = viewport.box
        self.drawing = drawing
        self._zoom = viewport.zoom
        self._centre = ((left + right) / 2, (top + bottom) / 2)
        self._canvas.show(drawing)
        page = f"page {self._page + 1:,} of {self._shown.page_count:,}"
        self._say(f"{self._shown.path.name} · {page} · {viewport.zoom * 100:.0f} %")

    def _say(self, words: str) -> None:
        self._status.update(Content(sanitise_line(words)))

    def action_zoom(self, steps: int) -> None:
        self._zoom = max(1.0, min(_ZOOM_MAX, self._zoom * _ZOOM_STEP**steps))
        self._draw()

    def action_fit(self) -> None:
        self._zoom = 1.0
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
