"""Folders and files that their owner alone can use, whatever the umask is; a file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OWNER_ALONE = 0o700
_OWNER_ALONE_FILE = 0o600


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


def write_private_file(path: Path, data: bytes, *, is_flushed: bool = False, suffix: str = "") -> None:
    """Write a file beside its place and have it take that place whole, so that a reader sees the old one or the new.

    Args:
        path: In a folder that is there.
        data: All of it.
        is_flushed: Whether it is on the disk before it takes its place; not worth the wait for what can be made again.
        suffix: End of the name while it is being written.

    Raises:
        OSError: It cannot be written; nothing is left beside.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ALONE_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if is_flushed:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
