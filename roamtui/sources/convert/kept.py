"""`KeptConversions`: what slow conversions gave, on disk by the digest of the file, so that it opens at once again.

Nothing depends on it: what is damaged or of another version is as good as absent.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from roamtui import __version__
from roamtui.locations import make_private_folder, write_private_file
from roamtui.sources.convert.converted import Converted

if TYPE_CHECKING:
    from roamtui.sources.convert.formats import Format

_BYTES_MAX = 200_000_000
"""Of all files together; the least recently used go first."""
_DIGEST_SIZE = 16
_VERSION = 7
"""Raised when a converter makes another text of the same file."""


class KeptConversions:
    """A folder of converted texts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, data: bytes, wanted: Format) -> Converted | None:
        """Return what a file was converted to before, None where that is not here."""
        path = self._path(data, wanted)
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=Converted)
            os.utime(path)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return kept

    def write(self, data: bytes, wanted: Format, converted: Converted) -> None:
        """Keep what a file was converted to; where the folder cannot be written nothing is kept."""
        path = self._path(data, wanted)
        with suppress(OSError):
            make_private_folder(self._folder)
            write_private_file(path, json.dumps(asdict(converted)).encode("utf-8"))
            _drop_least_used(self._folder)

    def _path(self, data: bytes, wanted: Format) -> Path:
        digest = blake2b(data, digest_size=_DIGEST_SIZE, person=wanted.name.encode())
        digest.update(f"{__version__} {_VERSION}".encode())
        return self._folder / f"{digest.hexdigest()}.json"


def _drop_least_used(folder: Path) -> None:
    """Delete the texts that were not used for longest, until the others fit."""
    found = sorted(((path.stat().st_mtime, path) for path in folder.glob("*.json")), reverse=True)
    total = 0
    for _, path in found:
        total += path.stat().st_size
        if total > _BYTES_MAX:
            path.unlink(missing_ok=True)
