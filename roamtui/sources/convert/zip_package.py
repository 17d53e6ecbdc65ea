"""`ZipPackage`: reads the parts of an EPUB or DOCX file, which is a zip archive, within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from roamtui.errors import SourceError

_PARTS_MAX: Final = 20_000
_PART_BYTES_MAX: Final = 32_000_000
_BYTES_MAX: Final = 200_000_000
"""Limit for the total unpacked size of all parts that are read."""
ENCRYPTED_FLAG = 1
"""Bit in `flag_bits` of a file in an archive that needs a password."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)
"""Exceptions that `zipfile` raises for a damaged archive."""
_BOUNDED_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ZipPackage:
    """Reads parts by name. Nothing is unpacked to disk, so no part name can lead outside the archive."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._bytes_read = 0
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except ZIP_ERRORS:
            raise SourceError(f"{name} is damaged or password-protected. Save it again without a password.") from None
        parts = self._archive.infolist()
        if len(parts) > _PARTS_MAX:
            raise SourceError(f"{name} contains more than {_PARTS_MAX:,} files. Convert it to text first.")
        self.parts = {part.filename: part for part in parts}

    def read(self, part_name: str) -> bytes | None:
        """Return the content of a part, or None if there is no such part.

        Raises:
            SourceError: The part is damaged or encrypted, or all parts read so far are too large.
        """
        part = self.parts.get(part_name)
        if part is None:
            return None
        if part.flag_bits & ENCRYPTED_FLAG:
            raise SourceError(f"{self.name} is password-protected. Save it again without a password.")
        if not is_bounded(part):
            raise SourceError(f"{self.name} uses an unsupported compression. Save it again in its own program.")
        self._bytes_read += part.file_size
        if part.file_size > _PART_BYTES_MAX or self._bytes_read > _BYTES_MAX:
            raise SourceError(f"{self.name} is too large when unpacked. Split it.")
        try:
            with self._archive.open(part) as stream:
                return stream.read(_PART_BYTES_MAX + 1)
        except ZIP_ERRORS:
            raise SourceError(f"{self.name} is damaged. Open it in its own program and save it again.") from None


def is_bounded(info: zipfile.ZipInfo) -> bool:
    """Check whether `zipfile` unpacks a file in an archive piece by piece, so that reading can stop at a limit.

    It unpacks bzip2 and LZMA files as a whole, whatever size they claim: 1 kB may become gigabytes.
    """
    return info.compress_type in _BOUNDED_COMPRESSIONS
