"""`PictureScreen`: a picture or a page of a PDF on the whole screen, to zoom and move."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from rich.segment import Segment
from textual import events, on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, get_current_worker
from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.editor import open_in_viewer
from roamtui.errors import OpeningCancelledError, RoamtuiError, SourceError
from roamtui.sources.convert.drawing import Drawing, DrawingRequest, PictureFile
from roamtui.sources.pictures import PDF_BYTES_MAX, PICTURE_BYTES_MAX, find_picture, locate_document, read_picture
from roamtui.sources.web.urls import resolve_href
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.context import TuiOptions
from roamtui.tui.image_mode import ImageMode
from roamtui.tui.messages import FullScreenRequested, TerminalWriteRequested
from roamtui.tui.pictures import CELL_PIXELS, DrawnPicture, choose_image_mode, draw_row, get_source_and_doc
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.status_line import ScreenKeyHints
from roamtui.tui.terminal_images import CELLS_MAX, encode_deletion, encode_image, take_image_id

_SVG_SUFFIX = ".svg"
_ZOOM_STEP = 1.5
_ZOOM_MAX = 40.0
_MOVE_SHARE = 0.4
"""How far a key moves the view, as a share of what is in view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """A picture, or a PDF whose pages are shown."""

    name: str
    read: Callable[[], bytes]
    """Reads or fetches it. Called in a thread; may raise `RoamtuiError`."""
    path: Path | None
    """The file to open in its own program; None if it is part of another file or not on this machine."""
    page: int | None = None
    """0-based page that is shown first; None for a picture."""
    page_count: int = 0
    quote: str = ""
    """Words to mark on the first page."""


class PictureCanvas(Widget):
    """The drawing, centred in the available space."""

    drawn: DrawnPicture | None = None
    columns = rows = 0

    def show(self, drawn: DrawnPicture, columns: int, rows: int) -> None:
        """Show another drawing, which takes `columns` and `rows` cells."""
        self.drawn, self.columns, self.rows = drawn, columns, rows
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        row = y - (self.size.height - self.rows) // 2
        base = self.rich_style
        if self.drawn is None or not 0 <= row < self.rows:
            return Strip.blank(self.size.width, base)
        margin = max(0, (self.size.width - self.columns) // 2)
        cells = draw_row(self.drawn, row, self.columns)
        return Strip([Segment(" " * margin, base), *cells], margin + self.columns).adjust_cell_length(
            self.size.width, base
        )


class PictureScreen(Screen[None]):
    """Shows a file. After each change of the view, a subprocess draws the part in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.PICTURE, Scope.MOVE),
        Binding("escape,v", "leave", "Close"),
    ]

    def __init__(self, file: ShownFile, keys: Keymap, mode: ImageMode) -> None:
        """Show a file. `mode` is `CELLS` or `KITTY`."""
        super().__init__()
        self._file = file
        self._keys = keys
        self._mode = mode
        self._page = file.page
        self._zoom = 0.0 if file.page is not None and mode is ImageMode.KITTY else 1.0
        self._centre: tuple[float, float] | None = None
        self._data = b""
        self._drawing: Drawing | None = None
        self._canvas = PictureCanvas()
        self._status = Static(id="picture-status", markup=False)

    @override
    def compose(self) -> ComposeResult:
        yield self._canvas
        yield self._status
        yield ScreenKeyHints(self._keys, Scope.PICTURE)

    @property
    def drawing(self) -> Drawing | None:
        """The current drawing, or None before the first one."""
        return self._drawing

    @on(events.Resize)
    def _draw_again(self) -> None:
        self.call_after_refresh(self._draw)

    @work(group="drawing", exclusive=True, exit_on_error=False)
    async def _draw(self) -> None:
        """Draw the part in view to fit the available space."""
        is_packed = self._mode is ImageMode.KITTY
        cell = CELL_PIXELS if is_packed else (1, 2)
        columns, rows = (max(1, min(length, CELLS_MAX)) for length in self._canvas.size)
        request = DrawingRequest(
            width=columns * cell[0],
            height=rows * cell[1],
            zoom=self._zoom,
            centre=self._centre,
            page=self._page,
            quote=self._file.quote if self._page == self._file.page else "",
            is_packed=is_packed,
        )
        try:
            drawing = await asyncio.to_thread(self._load, request, get_current_worker())
        except RoamtuiError as error:
            self._status.update(Content(sanitise_line(str(error))))
        else:
            self._show(drawing, cell)

    def _load(self, request: DrawingRequest, worker: Worker[object]) -> Drawing:
        from roamtui.sources.convert.subprocess_converter import draw_in_subprocess  # noqa: PLC0415 - rarely needed

        def check(_done: int, _count: int) -> None:
            if worker.is_cancelled:
                raise OpeningCancelledError

        self._data = self._data or self._file.read()
        return draw_in_subprocess(request, self._data, self._file.name, report=check)

    def _show(self, drawing: Drawing, cell: tuple[int, int]) -> None:
        viewport, previous = drawing.viewport, self._canvas.drawn
        self._drawing, self._zoom = drawing, viewport.zoom
        left, top, right, bottom = viewport.box
        self._centre = (left + right) / 2, (top + bottom) / 2
        columns, rows = -(-viewport.width // cell[0]), -(-viewport.height // cell[1])
        drawn: DrawnPicture = drawing.data
        if self._mode is ImageMode.KITTY:
            drawn = take_image_id()
            pixels = (viewport.width, viewport.height) if self._page is not None else None
            self._write_to_terminal(encode_image(drawn, drawing.data, columns, rows, pixels=pixels))
        self.app.call_later(self._canvas.show, drawn, columns, rows)
        if isinstance(previous, int):
            self.app.call_later(self._write_to_terminal, encode_deletion(previous))
        self._status.update(Content(" · ".join(self._list_facts(drawing))))

    def _list_facts(self, drawing: Drawing) -> list[str]:
        facts = [sanitise_line(self._file.name)]
        if self._page is not None:
            facts.append(f"page {self._page + 1:,} of {self._file.page_count:,}")
        facts.append(f"{drawing.viewport.zoom * 100:.0f} %")
        return facts

    def _write_to_terminal(self, data: str) -> None:
        self.app.post_message(TerminalWriteRequested(data))

    def action_zoom(self, steps: int) -> None:
        self._zoom = max(1.0, min(_ZOOM_MAX, (self._zoom or 1.0) * _ZOOM_STEP**steps))
        self._draw()

    def action_fit(self) -> None:
        """Fit the whole picture into the screen, or if it fits already, its width."""
        self._zoom = 0.0 if self._zoom == 1.0 else 1.0
        self._draw()

    def action_move(self, down: int) -> None:
        self._move(0, down)

    def action_move_sideways(self, across: int) -> None:
        self._move(across, 0)

    def _move(self, across: int, down: int) -> None:
        if self._drawing is None or self._centre is None:
            return
        left, top, right, bottom = self._drawing.viewport.box
        x, y = self._centre
        self._centre = x + across * _MOVE_SHARE * (right - left), y + down * _MOVE_SHARE * (bottom - top)
        self._draw()

    def action_page(self, pages: int) -> None:
        if self._page is not None:
            self._go_to_page(self._page + pages)

    def action_first(self) -> None:
        self._go_to_page(0)

    def action_last(self) -> None:
        self._go_to_page(self._file.page_count - 1)

    def _go_to_page(self, page: int) -> None:
        if self._page is not None and 0 <= page < self._file.page_count:
            self._page = page
            self._centre = (self._centre[0], 0.0) if self._centre is not None else None
            self._draw()

    def action_open_outside(self) -> None:
        path, name = self._file.path, sanitise_line(self._file.name)
        words = _open_outside(self.app, path) if path else f"{name} is not a file of its own on this machine."
        self._status.update(Content(words))

    def action_leave(self) -> None:
        if isinstance(self._canvas.drawn, int):
            self._write_to_terminal(encode_deletion(self._canvas.drawn))
        self.dismiss(None)


def show_full_screen(app: App[None], keys: Keymap, options: TuiOptions, request: FullScreenRequested) -> str | None:
    """Show a picture or page. Ask first if it must be fetched. Return a sentence if it cannot be shown."""
    source, doc = get_source_and_doc(request.library, request.section_id)
    document = request.library.document(request.library.get_content_span(request.section_id).doc)

    def show(shown: ShownFile) -> None:
        mode = choose_image_mode(options.image_mode, app)
        app.push_screen(PictureScreen(shown, keys, mode if mode is not ImageMode.OFF else ImageMode.CELLS))

    if request.href and (url := resolve_href(document.url or "", request.href)):
        fetch = options.fetch_picture
        if fetch is None:
            return f"{url} cannot be fetched here."
        name = urlsplit(url).path.rpartition("/")[2] or urlsplit(url).netloc
        shown = ShownFile(name=name, read=partial(fetch, url, source), path=None)
        ConfirmDialog("Fetch this picture?", url, yes="Fetch").ask(app, lambda: show(shown))
        return None
    if not request.href:
        owner = locate_document(source, doc) if document.url is None else None
        file = PictureFile(owner.path.resolve()) if owner is not None else None
        problem = "The pages of this document are not on this machine."
    else:
        file = find_picture(source, doc, request.href)
        problem = f'"{request.href}" is not a picture in the folder that you opened.'
    if file is None:
        return problem
    if request.href and file.name.lower().endswith(_SVG_SUFFIX):
        _offer_viewer(app, file)
        return None
    show(
        ShownFile(
            name=file.name,
            read=partial(_read, file, size_max=PICTURE_BYTES_MAX if request.href else PDF_BYTES_MAX),
            path=None if file.member else file.path,
            page=None if request.href else request.page - 1,
            page_count=0 if request.href else len(document.page_starts),
            quote=request.quote,
        )
    )
    return None


def _offer_viewer(app: App[None], file: PictureFile) -> None:
    def open_file() -> None:
        app.notify(_open_outside(app, file.path), markup=False)

    question = "Open this SVG drawing in its own program?"
    ConfirmDialog(question, str(file.path), yes="Open").ask(app, open_file)


def _open_outside(app: App[None], path: Path) -> str:
    """Open a file in its own program, or if there is none, copy its path. Say what was done."""
    if open_in_viewer(path):
        return f"Opened {sanitise_line(str(path))}"
    app.copy_to_clipboard(str(path))
    return f"No program to open it here. Copied its path: {sanitise_line(str(path))}"


def _read(file: PictureFile, size_max: int) -> bytes:
    data = read_picture(file, size_max=size_max)
    if not data:
        raise SourceError(f"{file.name} cannot be read, or is too large.")
    return data
