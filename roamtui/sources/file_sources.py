"""The files of what a person named, be it a folder, an archive or several of both; and whether they have changed."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from roamtui.errors import SourceError
from roamtui.sources.listing import FILES_MAX, Listing, estimate_load_cost, format_name, list_folder, name_some
from roamtui.sources.read import RawText, check_file, is_path, read_file

ARCHIVE_SUFFIX = ".zip"
_BETWEEN_PATHS = re.compile(r", (?=/(?!/))" if os.sep == "/" else r", (?=[A-Za-z]:[\\/]|\\\\)")
"""What separates absolute paths. A name may contain a comma and a space, but ``//`` is in no path until `join_sources`
writes it there in place of ``/``, which means the same to the system."""


def join_sources(paths: Iterable[str]) -> str:
    """Return one name for several absolute paths, from which `split_sources` gets them back."""
    return ", ".join(re.sub("^//", "/", path).replace(", /", ", //") for path in paths)


def split_sources(source: str) -> tuple[str, ...]:
    """Return the paths that a source consists of; one that is a single path or an address is returned as it is."""
    is_one = not is_path(source) or os.path.lexists(source)
    return (source,) if is_one else tuple(_BETWEEN_PATHS.split(source))


def name_sources(source: str) -> str:
    """Return the names of the files and folders that a source consists of, without those above them."""
    return ", ".join(Path(path).name for path in split_sources(source))


def is_multi_file(path: Path) -> bool:
    """Return whether a path names a source of many files: a folder or a zip archive."""
    return os.path.isdir(path) or _is_archive(path)  # noqa: PTH112 - it never raises


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() == ARCHIVE_SUFFIX and os.path.isfile(path)  # noqa: PTH113 - likewise


def list_sources(paths: Sequence[Path], *, kept_dir: Path | None = None) -> Listing:
    """Return what a folder or an archive holds; several sources as one, below the folder that holds all, as given."""
    if len(paths) == 1:
        return _list_source(paths[0], kept_dir)
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - links are kept
    try:
        top = os.path.commonpath([path.parent for path in absolute])
    except ValueError:
        raise SourceError("Sources on several drives cannot be opened as one. Copy them to one drive.") from None
    readers: dict[str, Callable[[], RawText]] = {}
    files: dict[str, Path] = {}
    folders: list[Path] = []
    notes: list[str] = []
    bytes_total = 0
    for path in absolute:
        above = "/".join(map(format_name, path.relative_to(top).parts))
        if is_multi_file(path):
            listing = _list_source(path, kept_dir)
            notes.extend(listing.notes)
            bytes_total += listing.bytes_total
            folders.extend(listing.folders)
            for key, reader in listing.readers.items():
                readers.setdefault(f"{above}/{key}", reader)
                files.setdefault(f"{above}/{key}", listing.files[key])
        else:
            bytes_total += estimate_load_cost(path.name, check_file(path))
            readers.setdefault(above, partial(read_file, path, kept_dir=kept_dir))
            files.setdefault(above, path)
    shown = list(readers)[:FILES_MAX]
    if len(shown) < len(readers):
        notes.append(f"More than {FILES_MAX:,} files: the others are left out. Name fewer.")
    return Listing(
        source=join_sources(map(str, absolute)),
        name=name_some([format_name(path.name) for path in absolute]),
        readers={key: readers[key] for key in shown},
        files={key: files[key] for key in shown},
        bytes_total=bytes_total,
        notes=tuple(notes),
        folders=tuple(folders),
    )


def _list_source(path: Path, kept_dir: Path | None) -> Listing:
    if not _is_archive(path):
        return list_folder(path, kept_dir=kept_dir)
    from roamtui.sources.archive import list_archive  # noqa: PLC0415 - few sources are archives

    return list_archive(path, kept_dir=kept_dir)


@dataclass(frozen=True, slots=True)
class SourceStamp:
    """What of a file changes when it is written or replaced."""

    modified_ns: int
    size: int
    inode: int


def stamp_source(source: str) -> SourceStamp | None:
    """Return the stamp of a source that is a file, None for any other, and while there is none."""
    try:
        found = Path(source).stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return SourceStamp(found.st_mtime_ns, found.st_size, found.st_ino)


class FileStamps:
    """Stamps the files of what a person named. Folders are walked again only when one of them was written to."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._paths = tuple(map(Path, sources))
        self._sole = sources[0] if len(sources) == 1 and not is_multi_file(self._paths[0]) else ""
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._folder_times: tuple[int, ...] = ()

    def read(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file by its key, None while the source is not there; from any thread.

        Takes some ms for 1,000 files. What is not there, as while an editor replaces it, has no stamp, nor has a page.
        """
        if self._sole:
            stamp = stamp_source(self._sole)
            return {} if stamp is None else {self._sole: stamp}
        with self._lock:
            return self._look()

    def _look(self) -> Mapping[str, SourceStamp] | None:
        times = _read_times(self._listing) if self._listing is not None else None
        if times is None or times != self._folder_times:
            try:
                self._listing = list_sources(self._paths)
            except SourceError:
                self._listing = None
                return None
            self._folder_times = _read_times(self._listing) or ()
        assert self._listing is not None
        by_path = {path: stamp_source(str(path)) for path in set(self._listing.files.values())}
        stamps = {key: by_path[path] for key, path in self._listing.files.items()}
        return {key: stamp for key, stamp in stamps.items() if stamp is not None}


def _read_times(listing: Listing) -> tuple[int, ...] | None:
    """Return when the folders and archives of a listing were written to, None where one is gone."""
    archives = {path for path in listing.files.values() if path.suffix.lower() == ARCHIVE_SUFFIX}
    try:
        return tuple(path.stat().st_mtime_ns for path in (*listing.folders, *sorted(archives)))
    except OSError:
        return None
