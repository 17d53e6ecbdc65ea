"""The files that LibreOffice, Jupyter, openpyxl, xlwt and python-pptx made from texts of our own, and their parts."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from tests.sources.convert.sample_books import pack

FILES = Path(__file__).parent / "files"


def read_sample(name: str) -> bytes:
    """Return the bytes of a file."""
    return (FILES / name).read_bytes()


def replace_part(data: bytes, part: str, old: str, new: str) -> bytes:
    """Return an archive with a text in one of its parts replaced; a part that is missing becomes `new`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    before = parts.get(part, b"")
    assert isinstance(before, bytes)
    assert old.encode() in before
    parts[part] = before.replace(old.encode(), new.encode(), 1) if before else new
    return pack(parts)
