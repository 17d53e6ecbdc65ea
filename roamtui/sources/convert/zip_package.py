"""`ZipPackage`: reads the parts of an EPUB, Office or OpenDocument file, which is a zip archive, within limits."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Any, Final

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import format_lost

_PARTS_MAX: Final = 20_000
_PART_BYTES_MAX: Final = 32_000_000
_BYTES_MAX: Final = 200_000_000
"""Limit for the total unpacked size of all parts that are read."""
ZIP_START: Final = b"PK\x03\x04"
"""First bytes of a zip archive."""
ENCRYPTED_FLAG = 1
"""Bit of `flag_bits` that marks a file in an archive as encrypted."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)
"""Exceptions that `zipfile` raises for an archive that is damaged, encrypted or compressed in an unknown way."""
_TITLE_PARTS: Final = ("docProps/core.xml", "meta.xml")
"""Parts with the properties of a file: Office, OpenDocument."""
_LOST_PARTS = {
    "picture": re.compile(r"(?:(?:word|ppt|xl)/media|Pictures)/."),
    "chart": re.compile(r"(?:word|ppt|xl)/charts/chart\d+\.xml"),
    "file of comments": re.compile(r"(?:word|ppt|xl)/(?:comments/)?(?:modernC|c)omments?[\w-]*\.xml"),
}
"""What is not text in an Office or OpenDocument file, by the names of its parts."""
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

    def parse(self, part_name: str) -> Any:  # noqa: ANN401 - lxml has no types
        """Parse a part as XML. Return its root element, or None if there is no such part.

        Raises:
            SourceError: See `read`; also if the part is not XML.
        """
        data = self.read(part_name)
        try:
            return None if data is None else parse_xml(data, recover=False)
        except SyntaxError:
            raise SourceError(f"{self.name} is damaged. Open it in its own program and save it again.") from None

    def read_title(self) -> str:
        """Return the title in the properties of an Office or OpenDocument file, or an empty string.

        Raises:
            SourceError: See `read`.
        """
        root = parse_xml(next(filter(None, map(self.read, _TITLE_PARTS)), b""))
        return next((join_text(found) for found in root.iter("{*}title")), "")

    def list_lost(self) -> str:
        """List what an Office or OpenDocument file has besides text, such as `3 pictures, 1 chart`."""
        return format_lost({noun: sum(map(bool, map(sign.match, self.parts))) for noun, sign in _LOST_PARTS.items()})

    def read(self, part_name: str, *, bytes_max: int | None = None) -> bytes | None:
        """Return the content of a part, or None if there is no such part.

        `bytes_max` limits its unpacked size. The default is 32 MB.

        Raises:
            SourceError: The part is damaged, encrypted or too large, or all parts read so far are together too large.
        """
        part = self.parts.get(part_name)
        if part is None:
            return None
        if part.flag_bits & ENCRYPTED_FLAG:
            raise SourceError(f"{self.name} is password-protected. Save it again without a password.")
        if not is_bounded(part):
            raise SourceError(f"{self.name} uses an unsupported compression. Save it again in its own program.")
        bytes_max = bytes_max or _PART_BYTES_MAX
        self._bytes_read += part.file_size
        if part.file_size > bytes_max or self._bytes_read > _BYTES_MAX:
            raise SourceError(f"{self.name} is too large when unpacked. Split it.")
        try:
            with self._archive.open(part) as stream:
                return stream.read(bytes_max + 1)
        except ZIP_ERRORS:
            raise SourceError(f"{self.name} is damaged. Open it in its own program and save it again.") from None


def parse_xml(data: bytes, *, recover: bool = True) -> Any:  # noqa: ANN401 - lxml has no types
    """Parse XML; if `recover`, as much of it as is sound. No entity is expanded, and no other file is read."""
    from lxml import etree  # noqa: PLC0415 - heavy, and not needed to list an archive

    parser = etree.XMLParser(
        recover=recover, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(data, parser) if data.strip() or not recover else None
    return etree.Element("empty") if root is None else root


def join_text(element: Any) -> str:  # noqa: ANN401 - as above
    """Return the text of an element of XML, on one line."""
    return " ".join("".join(element.itertext("{*}*")).split())


def get_local_name(element: Any) -> str:  # noqa: ANN401 - lxml has no types
    """Return the name of an element of XML without its namespace."""
    return str(element.tag).rpartition("}")[2]


def get_attribute(element: Any, name: str) -> str:  # noqa: ANN401 - as above
    """Return the value of an attribute by its name without a namespace, or an empty string."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def is_bounded(info: zipfile.ZipInfo) -> bool:
    """Check whether `zipfile` unpacks a file in an archive piece by piece, so that reading can stop at a limit.

    It unpacks bzip2 and LZMA files as a whole, whatever size they claim: 1 kB may become gigabytes.
    """
    return info.compress_type in _BOUNDED_COMPRESSIONS
