"""Find the pictures that a document shows: next to its file, or inside an EPUB or DOCX file.

Nothing outside the folder that was opened is read, and nothing is fetched or decoded here.
"""

from __future__ import annotations

import posixpath
import zipfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from roamtui.sources.convert.drawing import PIXELS_MAX, PictureFile
from roamtui.sources.convert.zip_package import ZIP_ERRORS, is_bounded
from roamtui.sources.listing import locate_document

PICTURE_BYTES_MAX = 20_000_000
PDF_BYTES_MAX = 200_000_000
_HEAD_BYTES, _LONG_HEAD_BYTES = 32_000, 1_000_000
"""Number of bytes to read to find a picture's size. A JPEG with a preview needs the second number."""
_PACKAGE_SUFFIXES = frozenset({".epub", ".docx"})
_ARCHIVES_MAX = 4
_PNG_START = b"\x89PNG\r\n\x1a\n"
_GIF_STARTS = (b"GIF87a", b"GIF89a")
_JPEG_START = b"\xff\xd8"
_JPEG_MARK = 0xFF
_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG segments that hold the size."""
_JPEG_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})


def read_picture(file: PictureFile, length: int = -1, *, size_max: int = PICTURE_BYTES_MAX) -> bytes:
    """Return a file's first `length` bytes, by default all; nothing if unreadable or too large."""
    with suppress(*ZIP_ERRORS):
        if not file.member:
            if file.path.stat().st_size > size_max:
                return b""
            with file.path.open("rb") as stream:
                return stream.read(length)
        if (opened := _find_member(file.path, file.member)) is not None:
            archive, info = opened
            with archive.open(info) as member:
                return member.read(PICTURE_BYTES_MAX if length < 0 else length)
    return b""


def measure_picture(file: PictureFile) -> tuple[int, int] | None:
    """Return width and height in pixels, or None if the format is unknown or the picture too large."""
    size = parse_size(read_picture(file, _HEAD_BYTES)) or parse_size(read_picture(file, _LONG_HEAD_BYTES))
    return size if size is not None and 0 < size[0] * size[1] <= PIXELS_MAX else None


def find_picture(source: str, doc: str, href: str) -> PictureFile | None:
    """Find the picture that a link in a document leads to, or None if it is not inside what was opened.

    `source` is the source of the library, and `doc` the key of the document in it.
    """
    with suppress(*ZIP_ERRORS):  # also raised for a name that is too long, a NUL, or a loop of links
        parts = urlsplit(href.strip())
        path = unquote(parts.path)
        if parts.scheme or parts.netloc or not path:
            return None
        owner = locate_document(source, doc)
        if owner is None:
            return None
        if owner.path.suffix.lower() in _PACKAGE_SUFFIXES:
            package = owner.path.resolve()
            name = posixpath.normpath(path.lstrip("/"))
            return PictureFile(package, name) if _find_member(package, name) is not None else None
        folder = owner.root if path.startswith("/") else owner.path.parent
        file = join_link(folder, path.lstrip("/"))
        if file is None:
            return None
        file = file.resolve()
        return PictureFile(file) if file.is_relative_to(owner.root.resolve()) and file.is_file() else None
    return None


def join_link(folder: Path, path: str) -> Path | None:
    r"""Return the file that the path in a link leads to, or None if it is on another drive.

    On Windows, ``\\server\share`` is a drive, and looking there tells the server the name of the person.
    """
    file = folder / path
    return file if file.drive == folder.drive else None


def _find_member(package: Path, name: str) -> tuple[zipfile.ZipFile, zipfile.ZipInfo] | None:
    """Find a file in an EPUB or DOCX file, unless it is too large."""
    archive = _open_archive(package, package.stat().st_mtime_ns)
    info = archive.NameToInfo.get(name)
    if info is None or not is_bounded(info) or info.file_size > PICTURE_BYTES_MAX:
        return None
    return archive, info


@lru_cache(_ARCHIVES_MAX)
def _open_archive(path: Path, _modified_ns: int) -> zipfile.ZipFile:
    """Open an EPUB or DOCX file. It is cached until it changes, because listing a large one takes a while."""
    return zipfile.ZipFile(path)


def parse_size(head: bytes) -> tuple[int, int] | None:
    """Read width and height from the first bytes of a picture, or return None for any other file."""

    def little(start: int, end: int) -> int:
        return int.from_bytes(head[start:end], "little")

    size = None
    if head.startswith(_PNG_START) and head[12:16] == b"IHDR":
        size = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    elif head.startswith(_GIF_STARTS):
        size = little(6, 8), little(8, 10)
    elif head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X":
        size = little(24, 27) + 1, little(27, 30) + 1
    elif head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8L":
        size = (little(21, 25) & 0x3FFF) + 1, (little(21, 25) >> 14 & 0x3FFF) + 1
    elif head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8 ":
        size = little(26, 28) & 0x3FFF, little(28, 30) & 0x3FFF
    elif head.startswith(_JPEG_START):
        size = _parse_jpeg_size(head)
    return size


def _parse_jpeg_size(head: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(head):
        if head[position] != _JPEG_MARK:
            return None
        marker = head[position + 1]
        if marker == _JPEG_MARK or marker in _JPEG_WITHOUT_LENGTH:
            position += 1 if marker == _JPEG_MARK else 2
        elif marker in _JPEG_SIZES:
            size = head[position + 5 : position + 9]
            return int.from_bytes(size[2:]), int.from_bytes(size[:2])
        else:
            position += 2 + int.from_bytes(head[position + 2 : position + 4])
    return None
