"""List the files of one or several sources, and detect when they change."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from roamtui.errors import SourceError
from roamtui.sources.listing import FILES_MAX, Listing, format_name, format_names, list_folder
from roamtui.sources.read import check_file, is_path

_PATH_SEPARATOR = re.compile(r", (?=/(?!/))" if os.sep == "/" else r", (?=[A-Za-z]:[\\/]|\\\\)")
"""Separator between absolute paths. If a path itself contains ", /", `join_sources` doubles that slash, so that it is
not taken for a separator. A doubled slash does not change which file a path leads to."""


def join_sources(paths: Iterable[str]) -> str:
    """Join absolute paths into one source name, which `split_sources` splits again."""
    return ", ".join(re.sub("^//", "/", path).replace(", /", ", //") for path in paths)


def split_sources(source: str) -> tuple[str, ...]:
    """Split a source name into paths. A URL or an existing path is not split."""
    is_single = not is_path(source) or os.path.lexists(source)
    return (source,) if is_single else tuple(_PATH_SEPARATOR.split(source))


def name_sources(source: str) -> str:
    """Return the names of the files and folders of a source, without the folders above them."""
    return ", ".join(Path(path).name for path in split_sources(source))


def list_sources(paths: Sequence[Path]) -> Listing:
    """List the files of a folder, or of several files and folders in the given order.

    The keys of several sources are relative to their common parent folder.
    """
    if len(paths) == 1:
        return list_folder(paths[0])
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - links are kept
    try:
        top = os.path.commonpath([path.parent for path in absolute])
    except ValueError:
        raise SourceError("Sources on several drives cannot be opened as one. Copy them to one drive.") from None
    files: dict[str, Path] = {}
    folders: list[Path] = []
    notes: list[str] = []
    for path in absolute:
        prefix = "/".join(map(format_name, path.relative_to(top).parts))
        if path.is_dir():
            listing = list_folder(path)
            notes.extend(listing.notes)
            folders.extend(listing.folders)
            for key, file in listing.files.items():
                files.setdefault(f"{prefix}/{key}", file)
        else:
            check_file(path)
            files.setdefault(prefix, path)
    if len(files) > FILES_MAX:
        notes.append(f"More than {FILES_MAX:,} files; the rest is skipped. Open fewer.")
    return Listing(
        source=join_sources(map(str, absolute)),
        name=format_names([format_name(path.name) for path in absolute]),
        files=dict(islice(files.items(), FILES_MAX)),
        notes=tuple(notes),
        folders=tuple(folders),
    )


SourceStamp = tuple[int, int, int]
"""When a file was last written, its size and its inode. One of them changes when it is written or replaced."""


def stamp_source(source: str) -> SourceStamp | None:
    """Return the stamp of a file, or None if the source is missing or not a file."""
    try:
        status = Path(source).stat()
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return (status.st_mtime_ns, status.st_size, status.st_ino) if is_file else None


class FileStamps:
    """Reads the stamps of all files of one or several sources. Folders are listed again only if one was written to."""

    def __init__(self, sources: Sequence[str]) -> None:
        paths = [path for name in sources if is_path(name) for path in split_sources(name)]
        self._paths = tuple(map(Path, paths))
        self._single_file = paths[0] if len(paths) == 1 and not self._paths[0].is_dir() else ""
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._folder_times: list[int] = []

    def read(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file by its key, or None while the sources cannot be listed. Thread-safe.

        Takes a few ms for 1,000 files. A web page has no stamp, and neither has a file while an editor replaces it.
        """
        if self._single_file:
            stamp = stamp_source(self._single_file)
            return {} if stamp is None else {self._single_file: stamp}
        with self._lock:
            if self._listing is None or _read_folder_times(self._listing) != self._folder_times:
                try:
                    self._listing = list_sources(self._paths)
                except SourceError:
                    self._listing = None
                    return None
                self._folder_times = _read_folder_times(self._listing)
            stamps = {key: stamp_source(str(path)) for key, path in self._listing.files.items()}
            return {key: stamp for key, stamp in stamps.items() if stamp is not None}


def _read_folder_times(listing: Listing) -> list[int]:
    """Return when each folder was last written to, or nothing if one is gone."""
    with suppress(OSError):
        return [path.stat().st_mtime_ns for path in listing.folders]
    return []
