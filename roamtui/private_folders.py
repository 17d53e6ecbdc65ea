"""Folders that their owner alone can use, whatever the umask is."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OWNER_ALONE = 0o700


def make_private_folder(folder: Path) -> None:
    """Make a folder where it is missing, and those above it, each for its owner alone.

    `Path.mkdir` gives its mode to the last one only: with a loose umask anybody could write into the others.

    Raises:
        OSError: One of them cannot be made, or is no folder.
    """
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        with suppress(FileExistsError):
            missing.mkdir(mode=_OWNER_ALONE)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
