"""`ZipPackage`: the parts of a file that is a zip archive inside, as EPUB and DOCX are, read within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from roamtui.errors import SourceError

_PARTS_MAX: Final = 20_000
_PART_BYTES_MAX: Final = 32_000_000
_BYTES_MAX: Final = 200_000_000
"""Of all parts that are read, unpacked."""
ENCRYPTED = 1
"""Flag of a member that needs a password."""
FAILURES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)
"""What `zipfile` raises on a damaged archive."""
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ZipPackage:
    """Reads parts by name. Nothing is unpacked to disk, so a name can lead nowhere."""

    def __init__(self, data: bytes, name: str) -> None:
        """Open an archive."""
        self.name = name
        self._bytes_read = 0
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except FAILURES:
            raise SourceError(f"{name} is damaged or protected by a password. Save it anew without one.") from None
        parts = self._archive.infolist()
        if len(parts) > _PARTS_MAX:
            raise SourceError(f"{name} holds more than {_PARTS_MAX:,} files. Convert it to text first.")
        self._parts = {part.filename: part for part in parts}

    def list_parts(self) -> dict[str, int]:
        """Return the names of all parts with their unpacked sizes in bytes."""
        return {name: part.file_size for name, part in self._parts.items()}

    def read(self, part_name: str) -> bytes | None:
        """Return a part, None where there is none.

        Raises:
            SourceError: It is damaged or encrypted, or what was read is too large with it.
        """
        part = self._parts.get(part_name)
        if part is None:
            return None
        if part.flag_bits & ENCRYPTED:
            raise SourceError(f"{self.name} is protected by a password. Save it anew without one.")
        if not is_bounded(part):
            raise SourceError(f"{self.name} is packed in a way that is not read. Save it anew in its own program.")
        self._bytes_read += part.file_size
        if part.file_size > _PART_BYTES_MAX or self._bytes_read > _BYTES_MAX:
            raise SourceError(f"{self.name} unpacks to more than is read of one file. Divide it.")
        try:
            with self._archive.open(part) as stream:
                return stream.read(_PART_BYTES_MAX + 1)
        except FAILURES:
            raise SourceError(f"{self.name} is damaged. Open it in its own program and save it anew.") from None


def is_bounded(info: zipfile.ZipInfo) -> bool:
    """Return whether a member is unpacked no further than is read of it.

    What is packed by bzip2 or LZMA `zipfile` unpacks whole, whatever size it claims: 1 kB may become gigabytes.
    """
    return info.compress_type in _BOUNDED
