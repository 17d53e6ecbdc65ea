"""`PageCache`: stores each HTTP response in a file. Several programs of one user may share the folder.

A file is written under another name and then renamed, so a reader sees either the old response or the new
one. A damaged file counts as missing.
"""

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from roamtui.paths import make_private_folder, replace_file, trim_folder
from roamtui.web.page import HttpResponse

_SUFFIX = ".page"
_SPARE_SHARE = 0.05
"""Share of the maximum size that is free after responses were evicted."""


class PageCache:
    """Caches responses in a folder. If that is unusable, nothing is cached, silently. Thread-safe."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._room_bytes = 0
        """How much may be saved before the folder is listed again."""

    def load(self, url: str) -> HttpResponse | None:
        """Return the cached response, or None if there is none that can be read."""
        path = self._path(url)
        with contextlib.suppress(OSError, msgspec.DecodeError):
            response = msgspec.msgpack.decode(path.read_bytes(), type=HttpResponse)
            os.utime(path)  # marks it as used
            return response
        return None

    def save(self, response: HttpResponse) -> None:
        """Cache a response, and evict the least recently used ones if the cache is full."""
        data = msgspec.msgpack.encode(response)
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            replace_file(self._path(response.url), data, is_flushed=False)
            self._room_bytes -= len(data)
            if self._room_bytes < 0:  # listing the folder for each page would take long
                self._room_bytes = int(self._bytes_max * _SPARE_SHARE)
                trim_folder(self._folder, self._bytes_max - self._room_bytes)

    def _path(self, url: str) -> Path:
        key = hashlib.sha256(url.encode()).hexdigest()
        return self._folder / f"{key}{_SUFFIX}"
