"""`FileStamps`: whether files of a source of many were written, came or went, seen again and again at little cost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.errors import SourceError
from roamtui.sources.read import ARCHIVE_SUFFIX
from roamtui.sources.several import list_source, list_sources
from roamtui.sources.stamp import SourceStamp, stamp_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from roamtui.sources.listing import Listing


class FileStamps:
    """Stamps the files of what a person named. Folders are walked again only when one of them was written to."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._paths = tuple(map(Path, sources))
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._folder_times: tuple[int, ...] = ()

    def look(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file by its key, None while the source is not there; from any thread.

        Takes some ms for 1,000 files. A file that is not there, as while an editor replaces it, has no stamp.
        """
        with self._lock:
            return self._look()

    def _look(self) -> Mapping[str, SourceStamp] | None:
        times = _read_times(self._listing) if self._listing is not None else None
        if times is None or times != self._folder_times:
            try:
                self._listing = self._list()
            except SourceError:
                self._listing = None
                return None
            self._folder_times = _read_times(self._listing) or ()
        assert self._listing is not None
        by_path = {path: stamp_source(str(path)) for path in set(self._listing.files.values())}
        stamps = {key: by_path[path] for key, path in self._listing.files.items()}
        return {key: stamp for key, stamp in stamps.items() if stamp is not None}

    def _list(self) -> Listing:
        return list_sources(self._paths) if len(self._paths) > 1 else list_source(self._paths[0])


def _read_times(listing: Listing) -> tuple[int, ...] | None:
    """Return when the folders and archives of a listing were written to, None where one is gone."""
    archives = {path for path in listing.files.values() if path.suffix.lower() == ARCHIVE_SUFFIX}
    try:
        return tuple(path.stat().st_mtime_ns for path in (*listing.folders, *sorted(archives)))
    except OSError:
        return None
