"""`PictureScreen`: a picture or a page of a PDF on the whole screen, to zoom and move."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from msgspec import Struct
from rich.segment import Segment
from textual import events, on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker
from typing_extensions import override

from roamtui.convert.conversion import draw
from roamtui.convert.drawing import Drawing, DrawingRequest, PictureFile
from roamtui.editor import open_in_viewer
from roamtui.errors import OpeningCancelledError, RoamtuiError, SourceError
from roamtui.plain import sanitise_line
from roamtui.sources.listing import locate_document
from roamtui.sources.pictures import PDF_BYTES_MAX, PICTURE_BYTES_MAX, find_picture, read_picture
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.context import TuiOptions
from roamtui.tui.messages import FullScreenRequested
from roamtui.tui.pictures import CELL_PIXELS, CELLS_MAX, DrawnPicture, draw_row, has_images, send_image
from roamtui.tui.screens.dialogs import ConfirmDialog, make_key_hints
from roamtui.web.urls import resolve_href

_SVG_SUFFIX = ".svg"
_ZOOM_STEP = 1.5
_ZOOM_MAX = 40.0
_MOVE_SHARE = 0.4
"""How far a key moves the view, as a share of what is in view."""


class ShownFile(Struct, frozen=True, kw_only=True):
    """A picture, or a PDF whose pages are shown."""

    name: str
    read: Callable[[], bytes]
    """Reads or fetches it. Called in a thread; may raise `RoamtuiError`."""
    path: Path | None = None
    """The file to open in its own program; None if it is part of another file or not on this machine."""
    page: int | None = None
    """0-based page that is shown first; None for a picture."""
    page_count: int = 1
    quote: str = ""
    """Words to mark on the first page."""


class PictureCanvas(Widget):
    """The drawing, centred in the available space."""

    drawn: DrawnPicture | None = None
    columns = rows = 0

    def show(self, drawn: DrawnPicture, columns: int, rows: int) -> None:
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


class PictureScreen(Screen[None]):
    """Shows a file. After each change of the view, a subprocess draws the part in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.PICTURE, Scope.MOVE),
        Binding("escape,v", "leave", "Close"),
    ]

    def __init__(self, file: ShownFile, keys: Keymap, *, has_images: bool) -> None:
        """Show a file, as an image if the terminal has them, else as half cells."""
        super().__init__()
        self.drawing: Drawing | None = None
        self._file = file
        self._has_images = has_images
        self._page = file.page
        self._zoom = 0.0 if file.page is not None and has_images else 1.0
        self._centre: tuple[float, float] | None = None
        self._data = b""
        self._canvas = PictureCanvas()
        self._status = Static(id="picture-status", markup=False)
        self._foot = make_key_hints(keys, Scope.PICTURE)

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
            quote=self._file.quote if self._page == self._file.page else "",
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

        self._data = self._data or self._file.read()
        return draw(request, self._data, self._file.name, on_progress=check)

    def _show(self, drawing: Drawing, cell: tuple[int, int]) -> None:
        viewport = drawing.viewport
        left, top, right, bottom = viewport.box
        self.drawing = drawing
        self._zoom = viewport.zoom
        self._centre = ((left + right) / 2, (top + bottom) / 2)
        columns, rows = ceil(viewport.width / cell[0]), ceil(viewport.height / cell[1])
        drawn: DrawnPicture = drawing.data
        if self._has_images:
            pixels = (viewport.width, viewport.height) if self._page is not None else None
            drawn = send_image(self.app, drawing.data, columns, rows, pixels=pixels)
        self._canvas.show(drawn, columns, rows)
        page = "" if self._page is None else f" · page {self._page + 1:,} of {self._file.page_count:,}"
        self._say(f"{self._file.name}{page} · {viewport.zoom * 100:.0f} %")

    def _say(self, words: str) -> None:
        self._status.update(Content(sanitise_line(words)))

    def action_zoom(self, steps: int) -> None:
        self._zoom = max(1.0, min(_ZOOM_MAX, (self._zoom or 1.0) * _ZOOM_STEP**steps))
        self._draw()

    def action_fit(self) -> None:
        """Fit the whole picture into the screen, or if it fits already, its width."""
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
        if self._page is not None and 0 <= self._page + pages < self._file.page_count:
            self._page += pages
            self._centre = (self._centre[0], 0.0) if self._centre is not None else None
            self._draw()

    def action_first(self) -> None:
        self.action_page(-(self._page or 0))

    def action_last(self) -> None:
        self.action_page(self._file.page_count - 1 - (self._page or 0))

    def action_open_outside(self) -> None:
        path = self._file.path
        if path is None:
            self._say(f"{self._file.name} is not a file of its own on this machine.")
        else:
            self._say(f"{'Opened' if open_in_viewer(path) else 'No program here opens'} {path}")

    def action_leave(self) -> None:
        self.dismiss(None)


def show_full_screen(app: App[None], keys: Keymap, options: TuiOptions, request: FullScreenRequested) -> str:
    """Show a picture or page. Ask first if it must be fetched. Return a sentence if it cannot be shown."""
    library = request.library
    href = request.href
    source = library.source
    doc = library.node(request.section_id).content_span.doc
    document = library.documents_by_key[doc]
    if (owner := library.source_of(request.section_id)) is not None:
        source = owner.name
        doc = doc.removeprefix(owner.key).removeprefix("/")

    def show(shown: ShownFile) -> None:
        app.push_screen(PictureScreen(shown, keys, has_images=has_images(os.environ)))

    url = resolve_href(document.url or "", href) if href else None
    if url:
        name = urlsplit(url).path.rpartition("/")[2] or urlsplit(url).netloc
        fetched = ShownFile(name=name, read=partial(options.services.fetch_picture, url, source))
        ConfirmDialog("Fetch this picture?", url, yes="Fetch").ask(app, partial(show, fetched))
    elif href:
        file = find_picture(source, doc, href)
        if file is None:
            return f'"{href}" is not a picture in the folder that you opened.'
        if file.name.lower().endswith(_SVG_SUFFIX):
            question = "Open this SVG drawing in another program?"
            ConfirmDialog(question, str(file.path), yes="Open").ask(app, partial(open_in_viewer, file.path))
        else:
            read = partial(_read, file, size_max=PICTURE_BYTES_MAX)
            show(ShownFile(name=file.name, read=read, path=None if file.member else file.path))
    else:
        located = locate_document(source, doc) if document.url is None else None
        if located is None:
            return "The pages of this document are not on this machine."
        file = PictureFile(located.path.resolve())
        read = partial(_read, file, size_max=PDF_BYTES_MAX)
        count = len(document.page_starts)
        page = request.page - 1
        quote = request.quote
        show(ShownFile(name=file.name, read=read, path=file.path, page=page, page_count=count, quote=quote))
    return ""


def _read(file: PictureFile, size_max: int) -> bytes:
    if data := read_picture(file, size_max=size_max):
        return data
    raise SourceError(f"{file.name} is damaged or too large. Open it in another program.")
