"""`FileCache`: values that can be made again, stored in the files of a folder."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from roamtui.paths import make_private_folder, replace_file

_T = TypeVar("_T")
_SPARE_SHARE = 0.05
"""Share of the maximum size that is free after an eviction."""


class FileCache(Generic[_T]):
    """Stores each value in a file of a folder, which several programs of one user may share. Thread-safe.

    A damaged file counts as missing. If the folder is unusable, nothing is cached, silently.
    """

    def __init__(self, folder: Path, kind: type[_T], bytes_max: int) -> None:
        self.folder = folder
        self._kind = kind
        self._bytes_max = bytes_max
        self._room_bytes = 0
        """Number of bytes that may be saved before the folder is listed again."""

    def load(self, name: str) -> _T | None:
        """Return the value in a file, or None if no readable one is cached."""
        path = self.folder / name
        with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            value = msgspec.msgpack.decode(path.read_bytes(), type=self._kind)
            os.utime(path)  # marks it as used
            return value
        return None

    def save(self, name: str, value: _T) -> None:
        """Cache a value, and evict those that were used longest ago if the cache is full."""
        data = msgspec.msgpack.encode(value)
        with suppress(OSError):
            make_private_folder(self.folder)
            replace_file(self.folder / name, data, is_flushed=False)
            self._room_bytes -= len(data)
            if self._room_bytes < 0:  # listing the folder for each value would take long
                self._room_bytes = int(self._bytes_max * _SPARE_SHARE)
                self._trim(self._bytes_max - self._room_bytes)

    def _trim(self, bytes_max: int) -> None:
        files: list[tuple[os.stat_result, Path]] = []
        for path in self.folder.iterdir():
            with suppress(OSError):  # another program may delete it
                files.append((path.stat(), path))
        for status, path in sorted(files, key=lambda file: file[0].st_mtime, reverse=True):
            bytes_max -= status.st_size
            if bytes_max < 0:
                with suppress(OSError):  # it may be locked
                    path.unlink()
