"""`PictureController`: finds the picture or page that a person wants to see, and shows it on the whole screen."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from textual.app import App

from roamtui.document.document import Document
from roamtui.editor import open_in_viewer
from roamtui.errors import SourceError
from roamtui.sources.convert.drawing import PictureFile
from roamtui.sources.pictures import PDF_BYTES_MAX, PICTURE_BYTES_MAX, find_picture, locate_document, read_picture
from roamtui.sources.web.urls import resolve_href
from roamtui.tui.actions import Keymap
from roamtui.tui.context import TuiOptions
from roamtui.tui.image_mode import ImageMode
from roamtui.tui.messages import FullScreenRequested
from roamtui.tui.pictures import choose_image_mode, get_source_and_doc
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.picture import PictureScreen, ShownFile

_SVG_SUFFIX = ".svg"


class PictureController:
    """Shows pictures and pages on the whole screen."""

    def __init__(self, app: App[None], keys: Keymap, options: TuiOptions) -> None:
        self._app = app
        self._keys = keys
        self._options = options

    def show_full_screen(self, request: FullScreenRequested) -> str | None:
        """Show a picture or page. Ask first if it must be fetched. Return a sentence if it cannot be shown."""
        source, doc = get_source_and_doc(request.library, request.section_id)
        document = request.library.document(request.library.get_content_span(request.section_id).doc)
        if not request.href:
            return self._show_page(request, source, doc, document)
        if url := resolve_href(document.url or "", request.href):
            return self._fetch(url, source)
        file = find_picture(source, doc, request.href)
        if file is None:
            return f'"{request.href}" is not a picture in the folder that you opened.'
        if file.name.lower().endswith(_SVG_SUFFIX):
            return self._offer_viewer(file)
        path = None if file.member else file.path
        self._show(ShownFile(name=file.name, read=partial(_read, file), path=path))
        return None

    def _show_page(self, request: FullScreenRequested, source: str, doc: str, document: Document) -> str | None:
        owner = locate_document(source, doc) if document.url is None else None
        if owner is None:
            return "The pages of this document are not on this machine."
        file = PictureFile(owner.path.resolve())
        self._show(
            ShownFile(
                name=file.name,
                read=partial(_read, file, size_max=PDF_BYTES_MAX),
                path=file.path,
                page=request.page - 1,
                page_count=len(document.page_starts),
                quote=request.quote,
            )
        )
        return None

    def _fetch(self, url: str, source: str) -> str | None:
        fetch = self._options.fetch_picture
        if fetch is None:
            return f"{url} cannot be fetched here."
        name = urlsplit(url).path.rpartition("/")[2] or urlsplit(url).netloc
        shown = ShownFile(name=name, read=lambda: fetch(url, source), path=None)
        ConfirmDialog("Fetch this picture?", url, yes="Fetch").ask(self._app, lambda: self._show(shown))
        return None

    def _offer_viewer(self, file: PictureFile) -> str | None:
        if file.member:
            return f"{file.name} is an SVG drawing inside {file.path.name}. Unpack it to see it in its own program."

        def open_file() -> None:
            if not open_in_viewer(file.path):
                self._app.copy_to_clipboard(str(file.path))
                self._app.notify(f"No program to open it here. Copied its path: {file.path}", markup=False)

        question = "Open this SVG drawing in its own program?"
        ConfirmDialog(question, str(file.path), yes="Open").ask(self._app, open_file)
        return None

    def _show(self, file: ShownFile) -> None:
        mode = choose_image_mode(self._options.image_mode, self._app)
        self._app.push_screen(PictureScreen(file, self._keys, mode if mode is not ImageMode.OFF else ImageMode.CELLS))


def _read(file: PictureFile, size_max: int = PICTURE_BYTES_MAX) -> bytes:
    data = read_picture(file, size_max=size_max)
    if not data:
        raise SourceError(f"{file.name} cannot be read, or is too large.")
    return data
