"""Tells whether a source was written since it was read, by a look at the file alone."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def stamp_sources(sources: Sequence[str]) -> tuple[tuple[str, SourceStamp | None], ...]:
    """Return the stamps of all files of several sources, of a folder's by a walk through it.

    Takes about 0.2 s for 1,400 files. What cannot be looked at, such as a page, never changes its stamp.
    """
    return tuple(pair for source in sources for pair in _stamp_files(source))


def _stamp_files(source: str) -> list[tuple[str, SourceStamp | None]]:
    from roamtui.sources.folder import list_folder  # noqa: PLC0415 - a single file needs none of it

    folder = Path(source)
    try:
        if not folder.is_dir():
            return [(source, stamp_source(source))]
        entries = list_folder(folder).entries
    except (OSError, ValueError, SourceError):
        return [(source, None)]
    return [(entry.key, stamp_source(str(folder / entry.key))) for entry in entries if not entry.is_folder]
