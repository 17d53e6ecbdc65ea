"""Tells whether a source was written since it was read, by a look at the file alone."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path


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
