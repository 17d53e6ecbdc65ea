"""Whether files of a source were written, came or went, seen again and again at little cost."""

from __future__ import annotations

import stat
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roamtui.errors import SourceError
from roamtui.sources.listing import ARCHIVE_SUFFIX, Listing, is_listed, list_sources


class FileStamps:
    """Stamps the files of what a person named. Folders are walked again only when one of them was written to."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._paths = tuple(map(Path, sources))
        self._sole = sources[0] if len(sources) == 1 and not is_listed(self._paths[0]) else ""
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._folder_times: tuple[int, ...] = ()

    def look(self) -> Mapping[str, SourceStamp] | None:
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
