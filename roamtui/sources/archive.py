"""List and read the documents in a zip archive, in memory: nothing is ever unpacked to disk."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from functools import partial
from pathlib import Path

from roamtui.errors import SourceError, format_reason
from roamtui.sources.convert.converted import DEFAULT_OPTIONS, ConversionOptions
from roamtui.sources.convert.zip_package import ENCRYPTED_FLAG, ZIP_ERRORS, is_bounded
from roamtui.sources.listing import (
    DEPTH_MAX,
    FILE_BYTES_MAX,
    FILES_MAX,
    Listing,
    estimate_load_cost,
    format_skipped_files,
    is_document_name,
    is_skipped_folder,
    sort_paths,
)
from roamtui.sources.read import RawText, to_raw_text

ARCHIVE_BYTES_MAX = 200_000_000
"""Maximum size of an archive, and maximum total size of its documents when unpacked."""
_MEMBERS_MAX = 200_000
"""Maximum number of files of any kind in an archive."""
_UNSAFE_NAME = re.compile(r"^[A-Za-z]:|[\\\0]")
"""Names with a drive, a backslash or a NUL character, which may lead outside the archive on some systems."""


def list_archive(path: Path, *, data: bytes | None = None, conversion: ConversionOptions = DEFAULT_OPTIONS) -> Listing:
    """List the documents of a zip archive. Its bytes are read from `path` unless they are given as `data`."""
    archive = _open(path, data)
    members: dict[tuple[str, ...], zipfile.ZipInfo] = {}
    outside: list[str] = []
    shadowed: list[str] = []
    too_deep: list[str] = []
    for info in archive.infolist():
        name = info.filename
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        if name.startswith("/") or _UNSAFE_NAME.search(name) or ".." in parts:
            outside.append(ascii(name)[:80])
        elif (
            parts
            and not info.is_dir()
            and not stat.S_ISLNK(info.external_attr >> 16)  # Unix mode bits
            and is_document_name(parts[-1])
            and not any(map(is_skipped_folder, parts[:-1]))
        ):
            if len(parts) > DEPTH_MAX + 1:  # the last part is the file's own name
                too_deep.append(ascii(name)[-80:])
                continue
            if parts in members:
                shadowed.append(ascii(name)[:80])
            members[parts] = info
    # A file may have the name of a folder in the archive; on disk, they could not both exist.
    folders = {parts[:depth] for parts in members for depth in range(1, len(parts))}
    shadowed.extend(ascii(members.pop(parts).filename)[:80] for parts in sorted(members.keys() & folders))
    if not members:
        raise SourceError(f"{path} contains no Markdown or text file. Name another archive, a folder or a file.")
    bytes_total = sum(info.file_size for info in members.values())
    if len(members) > FILES_MAX or bytes_total > ARCHIVE_BYTES_MAX:
        raise SourceError(
            f"{path} contains more than {FILES_MAX:,} documents or {ARCHIVE_BYTES_MAX // 1_000_000} MB of them. "
            "Unpack it and open one of its folders."
        )
    infos = {"/".join(parts): members[parts] for parts in sort_paths(members)}
    return Listing(
        source=os.path.abspath(path),  # noqa: PTH100 - keeps symbolic links, as the person wrote them
        name=path.name,
        readers={key: partial(_read_member, archive, info, key, conversion) for key, info in infos.items()},
        files=dict.fromkeys(infos, path),
        load_cost_total=sum(estimate_load_cost(info.filename, info.file_size) for info in members.values()),
        notes=(
            *format_skipped_files(outside, "names that lead outside the archive"),
            *format_skipped_files(shadowed, "names that another file or folder in it also has"),
            *format_skipped_files(too_deep, f"more than {DEPTH_MAX} folders deep"),
        ),
    )


def _open(path: Path, data: bytes | None) -> zipfile.ZipFile:
    try:
        if data is None and path.stat().st_size > ARCHIVE_BYTES_MAX:
            size = ARCHIVE_BYTES_MAX // 1_000_000
            raise SourceError(f"{path} is larger than {size} MB. Unpack it and open one of its folders.")
        archive = zipfile.ZipFile(io.BytesIO(path.read_bytes() if data is None else data))
    except zipfile.BadZipFile:
        raise SourceError(f"{path} is damaged or not a zip archive. Name another file.") from None
    except ZIP_ERRORS as error:
        reason = format_reason(error)
        raise SourceError(f"{path} cannot be read: {reason}. Name another file.") from None
    if len(archive.infolist()) > _MEMBERS_MAX:
        raise SourceError(f"{path} contains more than {_MEMBERS_MAX:,} files. Unpack it and open one of its folders.")
    return archive


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str, conversion: ConversionOptions) -> RawText:
    if info.flag_bits & ENCRYPTED_FLAG:
        raise SourceError(f"{key} is encrypted. Unpack the archive and open the folder.")
    if not is_bounded(info):
        raise SourceError(f"{key} uses an unsupported compression. Unpack the archive and open the folder.")
    if info.file_size > FILE_BYTES_MAX:
        raise SourceError(f"{key} is larger than {FILE_BYTES_MAX // 1_000_000} MB. Unpack it and open it by itself.")
    try:
        with archive.open(info) as member:
            data = member.read(FILE_BYTES_MAX + 1)
    except ZIP_ERRORS as error:
        raise SourceError(f"{key} cannot be unpacked: {error}. The archive may be damaged.") from None
    return to_raw_text(data, source=key, name=key.rpartition("/")[2], conversion=conversion)
