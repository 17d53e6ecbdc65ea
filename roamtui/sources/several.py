"""Several sources as one: files, folders and archives that a person named together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from roamtui.sources.archive import list_archive
from roamtui.sources.folder import list_folder
from roamtui.sources.listing import FILES_MAX, Listing, nest, show_name, weigh_file
from roamtui.sources.read import ARCHIVE_SUFFIX, RawText, check_file, is_listed, read_file

_NAMED_MAX = 3


def list_source(path: Path, *, kept_dir: Path | None = None) -> Listing:
    """Return what a folder or a zip archive holds."""
    is_archive = path.suffix.lower() == ARCHIVE_SUFFIX and path.is_file()
    return list_archive(path, kept_dir=kept_dir) if is_archive else list_folder(path, kept_dir=kept_dir)


def list_sources(paths: Sequence[Path], *, kept_dir: Path | None = None) -> Listing:
    """Return several sources as one, below the folder that holds them all, in the order given."""
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - links are kept
    top = os.path.commonpath([path.parent for path in absolute])
    readers: dict[tuple[str, ...], Callable[[], RawText]] = {}
    files: dict[tuple[str, ...], Path] = {}
    folders: list[Path] = []
    notes: list[str] = []
    bytes_total = 0
    for path in absolute:
        names = tuple(map(show_name, path.relative_to(top).parts))
        if is_listed(path):
            listing = list_source(path, kept_dir=kept_dir)
            notes.extend(listing.notes)
            bytes_total += listing.bytes_total
            folders.extend(listing.folders)
            for entry in listing.entries:
                if not entry.is_folder:
                    readers.setdefault((*names, *entry.path), partial(listing.read, entry.key))
                    files.setdefault((*names, *entry.path), listing.files[entry.key])
        else:
            bytes_total += weigh_file(path.name, check_file(path))
            readers.setdefault(names, partial(read_file, path, kept_dir=kept_dir))
            files.setdefault(names, path)
    shown = list(readers)[:FILES_MAX]
    if len(shown) < len(readers):
        notes.append(f"More than {FILES_MAX:,} files: the others are left out. Name fewer.")
    return Listing(
        source=", ".join(map(str, absolute)),
        name=_name_together([show_name(path.name) for path in absolute]),
        entries=nest(shown),
        bytes_total=bytes_total,
        read=partial(_read_by_key, {"/".join(names): readers[names] for names in shown}),
        notes=tuple(notes),
        files={"/".join(names): files[names] for names in shown},
        folders=tuple(folders),
    )


def _name_together(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more


def _read_by_key(readers: Mapping[str, Callable[[], RawText]], key: str) -> RawText:
    return readers[key]()
