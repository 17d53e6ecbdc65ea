"""Raw text into a library; what a person named into a library and what loads the rest of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.document.page_signs import may_be_special
from roamtui.document.parse import parse_raw
from roamtui.document.text import LENGTH_MIN
from roamtui.errors import UsageError
from roamtui.sources.read import is_listed, is_path, read_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.document import Document
    from roamtui.document.folder import FileLoader
    from roamtui.sources.raw_text import RawText


def build_library(raw: RawText, *, warm_dir: Path | None = None) -> Library:
    """Return the library of a single document.

    Args:
        raw: Its text.
        warm_dir: Where outlines of large documents are kept that were parsed before; None for nowhere.
    """
    if raw.is_markdown and not raw.is_converted and may_be_special(raw.text, raw.name):
        from roamtui.document.page import parse_page  # noqa: PLC0415 - few documents need it

        return Library(source=raw.source, root=parse_page(raw))
    may_be_warm = len(raw.text) >= LENGTH_MIN and not raw.is_converted
    document = _find_warm(raw, warm_dir) if warm_dir is not None and may_be_warm else None
    if document is not None:
        return Library(source=raw.source, root=document)
    return Library(source=raw.source, root=parse_raw(raw))


def _find_warm(raw: RawText, warm_dir: Path) -> Document | None:
    from roamtui.document.warm import WarmCache  # noqa: PLC0415 - few documents are so large

    return WarmCache(warm_dir).read(raw.text, name=raw.name, notes=raw.notes, is_markdown=raw.is_markdown)


def open_sources(
    names: Sequence[str], *, warm_dir: Path | None = None, kept_dir: Path | None = None
) -> tuple[Library, FileLoader | None]:
    """Return the library of a document, and of a folder, a zip archive or several of all these a listing of files.

    Args:
        names: What the person named: paths, or one address or ``-``.
        warm_dir: As for `build_library`.
        kept_dir: Where texts are kept that took long to convert; None for nowhere.

    Returns:
        The library, and what loads its files; None for a document, all of which is there.

    Raises:
        SourceError: It cannot be read.
        UsageError: Something was named together with others that can only be opened alone.
    """
    if len(names) == 1 and not (is_path(names[0]) and is_listed(Path(names[0]))):
        return build_library(read_source(names[0], kept_dir=kept_dir), warm_dir=warm_dir), None
    from roamtui.document.folder import FileLoader, build_folder  # noqa: PLC0415
    from roamtui.sources.several import list_source, list_sources  # noqa: PLC0415 - a single document needs none of it

    for name in names:
        if not is_path(name):
            raise UsageError(f"{name} is opened by itself, not together with other sources.")
    paths = [Path(name) for name in names]
    listing = list_sources(paths, kept_dir=kept_dir) if len(paths) > 1 else list_source(paths[0], kept_dir=kept_dir)
    return build_folder(listing), FileLoader(listing)
