"""Raw text into a library; what a person named into a library and what loads the rest of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.document.page_signs import may_be_special
from roamtui.document.parse import parse_raw
from roamtui.errors import UsageError
from roamtui.sources.read import is_listed, is_path, read_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.folder import FileLoader
    from roamtui.sources.raw_text import RawText


def build_library(raw: RawText) -> Library:
    """Return the library of a single document."""
    if raw.is_markdown and not raw.is_converted and may_be_special(raw.text, raw.name):
        from roamtui.document.page import parse_page  # noqa: PLC0415 - few documents need it

        return Library(source=raw.source, root=parse_page(raw))
    return Library(source=raw.source, root=parse_raw(raw))


def open_sources(names: Sequence[str], *, kept_dir: Path | None = None) -> tuple[Library, FileLoader | None]:
    """Return the library of a document, and of a folder, a zip archive or several of all these a listing of files.

    Args:
        names: What the person named: paths, or one address or ``-``.
        kept_dir: Where texts are kept that took long to convert; None for nowhere.

    Returns:
        The library, and what loads its files; None for a document, all of which is there.

    Raises:
        SourceError: It cannot be read.
        UsageError: Something was named together with others that can only be opened alone.
    """
    if len(names) == 1 and not (is_path(names[0]) and is_listed(Path(names[0]))):
        return build_library(read_source(names[0], kept_dir=kept_dir)), None
    from roamtui.document.folder import FileLoader, build_folder  # noqa: PLC0415
    from roamtui.sources.several import list_source, list_sources  # noqa: PLC0415 - a single document needs none of it

    for name in names:
        if not is_path(name):
            raise UsageError(f"{name} is opened by itself, not together with other sources.")
    paths = [Path(name) for name in names]
    listing = list_sources(paths, kept_dir=kept_dir) if len(paths) > 1 else list_source(paths[0], kept_dir=kept_dir)
    return build_folder(listing), FileLoader(listing)
