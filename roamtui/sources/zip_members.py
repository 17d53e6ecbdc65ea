"""What of a zip archive may be unpacked, and how unpacking fails."""

from __future__ import annotations

import zipfile
import zlib

ENCRYPTED = 1
"""Flag of a member that needs a password."""
FAILURES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)
"""What `zipfile` raises on a damaged archive."""
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_bounded(info: zipfile.ZipInfo) -> bool:
    """Return whether a member is unpacked no further than is read of it.

    What is packed by bzip2 or LZMA `zipfile` unpacks whole, whatever size it claims: 1 kB may become gigabytes.
    """
    return info.compress_type in _BOUNDED
