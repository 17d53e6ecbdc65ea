"""`ZipPackage`: reads the parts of EPUB, Office and OpenDocument files (zip archives) within limits."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from unicodedata import normalize

from lxml import etree
from msgspec import Struct

from roamtui.convert.xml_elements import join_text
from roamtui.errors import SourceError

MAIN = "officeDocument"
"""The kind of the main part of an Office file."""
ZIP_START = b"PK\x03\x04"
"""First bytes of a zip archive."""
BYTES_MAX = 200_000_000
"""Maximum number of bytes by which an unpacked archive may grow. Pictures and films grow little."""
PART_BYTES_MAX = 20_000_000
"""The same for one part. The tree of a larger one does not fit into the memory of the subprocess."""

_PARSING = {
    "recover": True,
    "resolve_entities": False,
    "no_network": True,
    "remove_comments": True,
    "remove_pis": True,
}
"""Options of the XML parser: read what is sound, and no other files."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""Exceptions that `zipfile` raises for a damaged, encrypted or unknown archive."""


class Relation(Struct, frozen=True):
    """The target of an id in a part: another part of the package, or an external URL."""

    target: str
    kind: str
    is_external: bool


def _measure_growth(part: zipfile.ZipInfo) -> int:
    """Return by how many bytes a part grows when it is unpacked."""
    return part.file_size - part.compress_size


def _normalise_part_name(name: str) -> str:
    """Return a name in lower case, without `./` and `//`. Letters are composed: macOS decomposes them."""
    return posixpath.normpath(normalize("NFC", name).lower())


def _open_archive(data: bytes) -> zipfile.ZipFile:
    """Open an archive. Names without a declared encoding are read as UTF-8, or else as DOS text."""
    try:
        return zipfile.ZipFile(io.BytesIO(data), metadata_encoding="utf-8")
    except UnicodeDecodeError:
        return zipfile.ZipFile(io.BytesIO(data))


class ZipPackage:
    """Reads parts by name. Nothing is unpacked to disk, so no part name can lead outside the archive."""

    def __init__(self, data: bytes, name: str, *, part_bytes_max: int = PART_BYTES_MAX) -> None:
        """List the parts of an archive.

        Raises:
            SourceError: The archive declares more unpacked bytes than allowed.
        """
        self._archive = _open_archive(data)
        self._names = dict.fromkeys(self._archive.namelist())
        self._names_by_key = {_normalise_part_name(part): part for part in self._names}
        self._damaged: dict[str, None] = {}
        self._part_bytes_max = part_bytes_max
        self._too_much = f"{name} contains too much text. Split it into smaller files, or convert it to text."
        if sum(map(_measure_growth, self._archive.infolist())) > BYTES_MAX:
            raise SourceError(self._too_much)

    def list_names(self, *starts: str) -> list[str]:
        """Return the names of the parts that begin with one of `starts`."""
        return [name for name in self._names if name.startswith(starts)]

    def resolve_name(self, part_name: str) -> str:
        """Return a part's name as the archive spells it. The name of a missing part stays."""
        found = self._names_by_key.get(_normalise_part_name(part_name), part_name)
        return part_name if part_name in self._names else found

    def has(self, part_name: str) -> bool:
        """Return whether there is such a part."""
        return self.resolve_name(part_name) in self._names

    def read(self, part_name: str, *, is_needed: bool = False) -> bytes:
        """Return the content of a part, or nothing if it is missing or damaged.

        If the part `is_needed` and missing, it counts as damaged.

        Raises:
            SourceError: The archive declares more unpacked bytes for the part than allowed.
        """
        name = self.resolve_name(part_name)
        if name not in self._names:
            if is_needed:
                self._damaged[part_name] = None
            return b""
        if _measure_growth(self._archive.getinfo(name)) > self._part_bytes_max:
            raise SourceError(self._too_much)
        try:
            return self._archive.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            self._damaged[part_name] = None
            return b""

    def list_damage(self) -> tuple[str, ...]:
        """Return a sentence that names the damaged parts, or nothing if all were read to their ends."""
        parts = ", ".join(self._damaged)
        return (f"not all of it can be read, because a part is damaged: {parts}.",) if parts else ()

    def parse(self, part_name: str, *, is_needed: bool = False) -> Any:  # noqa: ANN401 - lxml has no types
        """Parse what is sound in a part as XML. A missing part that `is_needed` counts as damaged.

        No entity is expanded, and no other file is read.
        """
        parser = etree.XMLParser(**_PARSING)
        data = self.read(part_name, is_needed=is_needed)
        root = None
        if data.strip():
            with suppress(etree.XMLSyntaxError):  # there is no element at all
                root = etree.fromstring(data, parser)
        if any(entry.level == etree.ErrorLevels.FATAL for entry in parser.error_log):
            self._damaged[part_name] = None
        if root is None:
            return etree.Element("empty")
        # Content may have several forms, such as a formula and a picture. The newest Office shows the first.
        for alternatives in [*root.iterdescendants("{*}AlternateContent")]:
            for child in [*next(alternatives.iterchildren("{*}Choice", "{*}Fallback"), ())]:
                alternatives.addprevious(child)
            alternatives.getparent().remove(alternatives)
        return root

    def resolve_part(self, part_name: str, kind: str, usual_name: str = "") -> str:
        """Return the name of the part of this kind that the part `part_name` refers to.

        An empty `part_name` stands for the whole file. If there is no such part, return `usual_name`.
        """
        relations = self.read_relations(part_name).values()
        return next((each.target for each in relations if each.kind == kind), usual_name)

    def iter_elements(self, part_name: str, *names: str) -> Iterator[Any]:
        """Yield the elements of a part that have one of the `names`, up to the first damage.

        Each element is emptied after its use, so that a large part takes little memory.
        """
        try:
            with self._archive.open(self.resolve_name(part_name)) as stream:
                elements = etree.iterparse(stream, tag=[f"{{*}}{each}" for each in names], **_PARSING)
                for _, element in elements:
                    yield element
                    element.clear()
                    parent = element.getparent()
                    while element.getprevious() is not None:
                        del parent[0]
                is_torn = bool(elements.error_log.filter_from_fatals())
        except (KeyError, *ZIP_ERRORS):
            is_torn = True
        if is_torn:
            self._damaged[part_name] = None

    def read_relations(self, part_name: str) -> dict[str, Relation]:
        """Return the targets of the ids in a part of an Office file. "" stands for the whole file."""
        folder, name = posixpath.split(part_name)
        relations: dict[str, Relation] = {}
        for each in self.parse(posixpath.join(folder, "_rels", f"{name}.rels")).iter("{*}Relationship"):
            target = each.get("Target", "")
            is_external = each.get("TargetMode") == "External"
            if not is_external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = each.get("Type", "").rpartition("/")[2]
            relations[each.get("Id", "")] = Relation(target, kind, is_external)
        return relations

    def read_title(self) -> str:
        """Return the title in the properties of an Office or OpenDocument file, or an empty string."""
        roots = map(self.parse, ("docProps/core.xml", "meta.xml"))
        return next((join_text(element) for root in roots for element in root.iter("{*}title")), "")
