"""Log files: only ever appended to by one program at a time, in folders for their owner alone."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roamtui.locations import make_private_folder

LOG_SUFFIX = ".jsonl"
PRIVATE_FILE = 0o600
_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_ZEROS = bytes(1 << 16)


def prepare_folder(folder: Path) -> None:
    """Make a folder where it is missing, for its owner alone.

    Raises:
        OSError: It cannot be made.
    """
    make_private_folder(folder)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        with suppress(OSError):
            folder.chmod(0o700)


@contextmanager
def open_log(path: Path) -> Iterator[int]:
    """Open a log for this program alone; a new one that nothing is written to is not left behind.

    Raises:
        OSError: It cannot be opened, or another program keeps it for too long.
    """
    is_new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    try:
        os.fchmod(file, PRIVATE_FILE)
        _lock(file)
        yield file
    except BaseException:
        if is_new and not os.fstat(file).st_size:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        os.close(file)
    if is_new:
        _flush(path.parent)


def append(file: int, size: int, entries: bytes) -> int:
    """Write entries at the end, and return the size of the file; a torn entry before them stays a line of its own."""
    if size and os.pread(file, 1, size - 1) != b"\n":
        entries = b"\n" + entries
    try:
        done = 0
        while done < len(entries):
            done += os.write(file, entries[done:])
        os.fsync(file)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(file, size)
        raise
    return size + len(entries)


def overwrite(path: Path) -> None:
    """Delete a file, its bytes first.

    Raises:
        OSError: It is not there, or cannot be deleted.
    """
    file = os.open(path, os.O_WRONLY)
    try:
        _lock(file)
        left = os.fstat(file).st_size
        while left > 0:
            left -= os.write(file, _ZEROS[:left])
        os.fsync(file)
        path.unlink()
    finally:
        os.close(file)
    _flush(path.parent)


def erase_lines(path: Path, is_wanted: Callable[[bytes], bool]) -> None:
    """Overwrite lines with blanks; all others stay where they are, for programs that write after them.

    Raises:
        OSError: It is not there, or cannot be written.
    """
    file = os.open(path, os.O_RDWR)
    try:
        _lock(file)
        lines = os.pread(file, os.fstat(file).st_size, 0).split(b"\n")
        content = b"\n".join(b" " * len(line) if is_wanted(line) else line for line in lines)
        done = 0
        while done < len(content):
            done += os.pwrite(file, content[done:], done)
        os.fsync(file)
        if not content.strip():
            os.ftruncate(file, 0)
    finally:
        os.close(file)


def _lock(file: int) -> None:
    """Keep other programs from writing a log.

    Raises:
        OSError: Another one keeps it for too long.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > ends:
                raise OSError(errno.EBUSY, "another program keeps it locked") from None
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _flush(folder: Path) -> None:
    """Have the names of a folder on disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def explain(error: OSError) -> str:
    """Return why something failed on disk, in a few words."""
    return error.strerror or str(error)
