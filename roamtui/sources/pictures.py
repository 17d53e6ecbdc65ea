"""Find the pictures that a document shows: next to its file, or inside an EPUB or DOCX file.

Nothing outside the folder that was opened is read, and nothing is fetched or decoded here.
"""

import posixpath
import zipfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from roamtui.convert.drawing import PictureFile
from roamtui.convert.formats import FORMATS
from roamtui.convert.zip_package import ZIP_ERRORS
from roamtui.sources.listing import locate_document

PICTURE_BYTES_MAX = 20_000_000
PDF_BYTES_MAX = 200_000_000
_PACKAGE_SUFFIXES = frozenset(suffix for each in FORMATS if each.holds_pictures for suffix in each.suffixes)


def read_picture(file: PictureFile, size_max: int = PICTURE_BYTES_MAX) -> bytes:
    """Return the content of a file; nothing if it is unreadable or too large."""
    with suppress(*ZIP_ERRORS):
        if not file.member:
            if file.path.stat().st_size > size_max:
                return b""
            return file.path.read_bytes()
        if (opened := _find_member(file.path, file.member)) is not None:
            archive, info = opened
            with archive.open(info) as member:
                return member.read(PICTURE_BYTES_MAX)
    return b""


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
            # As for a part of a book, the name in the archive may be written like the link.
            names = (posixpath.normpath(each.lstrip("/")) for each in (path, parts.path))
            return next((PictureFile(package, name) for name in names if _find_member(package, name)), None)
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
    archive = zipfile.ZipFile(package)
    info = archive.NameToInfo.get(name)
    if info is None or not _is_bounded(info) or info.file_size > PICTURE_BYTES_MAX:
        return None
    return archive, info


def _is_bounded(info: zipfile.ZipInfo) -> bool:
    """Return whether `zipfile` unpacks a file piece by piece, so that reading can stop at a limit.

    It unpacks bzip2 and LZMA files as a whole, whatever size they claim: 1 kB may become gigabytes.
    """
    return info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
