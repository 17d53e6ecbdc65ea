"""`LineFile`: a file of lines that only one program writes. Also its lock, and errors for a person."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roamtui.errors import StoreError, format_reason
from roamtui.paths import make_private_folder, open_private_file, write_all

LOG_SUFFIX = ".jsonl"
_LOCKS_NAME = "locks"
"""Folder of the locks. On Windows nobody could read the file of lines if it were locked itself."""


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
        self._rest_max = 0
        """Maximum length of what follows. If more follows, another program has written it."""
        try:
            content = path.read_bytes() if path.is_file() else b""
            self._size = content.rfind(b"\n") + 1
            self._rest_max = len(content) - self._size
        except OSError:
            self.close()
            raise

    def cut(self, size: int) -> None:
        """Let the next call of `append` cut off complete lines after `size` too."""
        self._rest_max += self._size - size
        self._size = size

    def append(self, lines: bytes) -> None:
        """Append complete lines. When this returns, they are on disk.

        If it raises `OSError`, they are not, and the next call cuts off what was written of them. It also
        raises if another program has changed the file, which then stays as it is.
        """
        file = open_private_file(self._path, os.O_RDWR | (0 if self._size else os.O_CREAT))
        try:
            rest = os.lseek(file, 0, os.SEEK_END) - self._size
            if not 0 <= rest <= self._rest_max:
                raise OSError(errno.EIO, "another program has changed the file")
            self._rest_max = max(self._rest_max, len(lines))
            os.ftruncate(file, self._size)
            os.lseek(file, self._size, os.SEEK_SET)
            write_all(file, lines)
            os.fsync(file)
        finally:
            os.close(file)
        self._size += len(lines)
        self._rest_max = 0

    def close(self) -> None:
        """Let other programs write the file."""
        self._release()


def acquire_lock(path: Path, seconds: float = 0) -> Callable[[], None]:
    """Lock a file for programs that take the lock before they change it. Return a function that releases it.

    Raises:
        OSError: Another program holds the lock for longer than `seconds` (`EBUSY`), or its file cannot be
            written.
    """
    # The import takes 20 ms, and nothing is saved before the first question.
    from filelock import FileLock, Timeout  # noqa: PLC0415

    lock_path = _get_lock_path(path)
    make_private_folder(lock_path.parent)
    lock = FileLock(lock_path, timeout=seconds, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise OSError(errno.EBUSY, "another window or program is using it") from None
    return lock.release


def delete_file_and_lock(path: Path) -> None:
    """Delete a file whose lock the caller holds, and the lock."""
    path.unlink(missing_ok=True)
    with suppress(OSError):  # Windows deletes the lock when it is released
        _get_lock_path(path).unlink()


def _get_lock_path(path: Path) -> Path:
    """Return the path of the file that is locked in place of a file of lines."""
    return path.parent / _LOCKS_NAME / path.stem


@contextmanager
def map_store_errors(action: str, folder: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError` that says what failed, such as ``save the note``, and why.

    The sentence names the folder, unless the file is only in use.
    """
    try:
        yield
    except OSError as error:
        place = "" if error.errno == errno.EBUSY else f" ({folder})"
        raise StoreError(f"Could not {action}: {format_reason(error)}{place}.") from None
