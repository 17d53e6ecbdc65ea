"""`LineFile`: a file of JSON lines that one program at a time appends to."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from roamtui.errors import StoreError, format_reason
from roamtui.paths import make_private_folder, open_private_file, write_all

LOG_SUFFIX = ".jsonl"
_LOCKS_NAME = "locks"
"""Folder of the files to lock. The files of lines are not locked, because on Windows nobody could read them."""


class LineFile:
    """A file of lines, locked for other programs from `open` until `close`."""

    def __init__(self, path: Path) -> None:
        """Lock a file of lines, which need not exist yet, and create its folder if it is missing.

        Raises:
            OSError: Another program uses the file (`EBUSY`), or the folder cannot be written.
        """
        self._path = path
        self._release = acquire_lock(path)
        self._size = 0
        """Length of the complete lines. Whatever follows was left by a write that failed."""
        try:
            self._size = path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0
        except OSError:
            self.close()
            raise

    def append(self, lines: bytes) -> None:
        """Append complete lines. When this returns, they are on disk.

        Raises:
            OSError: They cannot be written, or the file was deleted. The next call cuts off what was written of them.
        """
        if self._size and self._path.stat().st_size < self._size:
            raise OSError(errno.EIO, "the file was cut off")
        file = open_private_file(self._path)
        try:
            os.ftruncate(file, self._size)
            os.lseek(file, self._size, os.SEEK_SET)
            write_all(file, lines)
            os.fsync(file)
        finally:
            os.close(file)
        self._size += len(lines)

    def close(self) -> None:
        """Let other programs write the file."""
        self._release()


def acquire_lock(path: Path, seconds: float = 0) -> Callable[[], None]:
    """Keep other programs that do the same from changing a file. Return the function that releases the lock.

    Raises:
        OSError: Another program holds the lock for longer than `seconds` (`EBUSY`), or its file cannot be written.
    """
    # The import takes 20 ms, and nothing is saved before the first question.
    from filelock import FileLock, Timeout  # noqa: PLC0415

    make_private_folder(path.parent / _LOCKS_NAME)
    lock = FileLock(path.parent / _LOCKS_NAME / path.stem, timeout=seconds, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise OSError(errno.EBUSY, "another program uses it") from None
    return lock.release


@contextmanager
def map_store_errors(action: str, folder: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError` that says which action failed, such as ``save the note``, why, and where.

    Raises:
        StoreError: An operation on disk failed.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"Could not {action}: {format_reason(error)} ({folder}).") from None
