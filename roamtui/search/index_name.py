"""What the files of a source's index are called. Imports nothing: the first screen looks for one of them."""

from __future__ import annotations

from hashlib import blake2b

SUMMARIES = ".summaries.sqlite3"


def name_index(source: str) -> str:
    """Return a name that only the indexes of this source have, without an ending."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
