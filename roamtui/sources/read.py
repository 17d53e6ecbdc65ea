"""Reads a file or standard input, and converts it if it is not text."""

import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path

from msgspec.structs import asdict

from roamtui.convert.conversion import detect_format
from roamtui.convert.converted import ConvertedText, ProgressCallback
from roamtui.convert.decode import decode_text
from roamtui.convert.formats import CONVERTED_SUFFIXES, SEPARATED, TEXT_SUFFIXES
from roamtui.errors import SourceError, format_nearest_name, format_reason
from roamtui.paths import is_standard_input
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS, ConversionOptions, convert_cached

DOCUMENT_SUFFIXES = CONVERTED_SUFFIXES.union((".md", ".markdown", ".mdown", ".mkd", ".mdx"), TEXT_SUFFIXES)
"""Suffixes of the documents in a folder, in lower case."""
_PLAIN_SUFFIXES = frozenset({".log", *SEPARATED.suffixes})
_BYTES_MAX = 200_000_000
_TOO_LARGE = (
    f"{{}} is larger than {_BYTES_MAX // 1_000_000} MB. Split it into smaller files, or convert it to text."
)
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")


class SourceText(ConvertedText, frozen=True, kw_only=True):
    """The decoded or converted text of a source, with its line ends."""

    source: str
    """Absolute path, URL, or `-` for standard input."""
    name: str
    """Short name for people, such as the file name."""
    is_markdown: bool = True
    """False for tables and logs, where `#` does not start a heading."""
    is_converted: bool = False
    """Whether the text was converted from another format."""


def read_source(
    name: str, *, conversion: ConversionOptions = DEFAULT_OPTIONS, on_progress: ProgressCallback | None = None
) -> SourceText:
    """Read a path, or `-` for standard input. `conversion` says how it is converted.

    Raises:
        SourceError: The source cannot be read or is not text. The message says what to do.
    """
    if is_standard_input(name):
        if sys.stdin is None or sys.stdin.isatty():
            raise SourceError('"-" reads a document from a pipe, as in `cat notes.md | roamtui -`.')
        data = sys.stdin.buffer.read(_BYTES_MAX + 1)  # it may be endless
        if len(data) > _BYTES_MAX:
            raise SourceError(_TOO_LARGE.format("Standard input"))
        return to_source_text(data, source="-", name="standard input", conversion=conversion)
    path = Path(name)
    check_file(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise SourceError(explain_error(path, error)) from None
    source = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links, and a link may change its target
    return to_source_text(
        data, source=source, name=path.name or name, conversion=conversion, on_progress=on_progress
    )


def is_path(name: str) -> bool:
    """Return whether a source is a path, not a URL or standard input."""
    return not is_standard_input(name) and not _SCHEME.match(name)


def to_source_text(
    data: bytes,
    *,
    source: str,
    name: str,
    conversion: ConversionOptions = DEFAULT_OPTIONS,
    on_progress: ProgressCallback | None = None,
) -> SourceText:
    """Decode or convert a document. A conversion may take minutes, so call this in a thread."""
    source_format = detect_format(data, name)
    if source_format is None:
        text, notes = decode_text(data, name)
        converted = ConvertedText(text=text, notes=notes)
    else:
        converted = convert_cached(data, name, source_format, conversion=conversion, on_progress=on_progress)
    return SourceText(
        source=source,
        name=name,
        is_markdown=source_format is not None or has_headings(name),
        is_converted=source_format is not None,
        **asdict(converted),
    )


def check_file(path: Path) -> None:
    """Raise a `SourceError` if a file is missing, a folder, a device or too large."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise SourceError(explain_error(path, error)) from None
    if stat.S_ISDIR(status.st_mode):
        raise SourceError(f"{path} is a folder, not a file. Name a document.")
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{path} is a device or pipe, not a document. Name a file.")
    if status.st_size > _BYTES_MAX:
        raise SourceError(_TOO_LARGE.format(path))


def has_headings(name: str) -> bool:
    """Return whether a file may have headings, by its name. Tables and logs have none."""
    return Path(name).suffix.lower() not in _PLAIN_SUFFIXES


def explain_error(path: Path, error: OSError | ValueError) -> str:
    """Return a message that says why a path cannot be read, and what to do."""
    if isinstance(error, PermissionError):
        return f"Permission denied: {path}. Check its permissions."
    if not isinstance(error, FileNotFoundError):
        reason = format_reason(error)
        return f"{path} cannot be read: {reason}. Name another file."
    if path.is_symlink():
        return f"{path} is a link to something that does not exist. Check where it leads."
    names: list[str] = []
    with suppress(OSError):
        names = [entry.name for entry in path.parent.iterdir()]
    suffixes = {""} if path.suffix else {"", *(Path(name).suffix for name in names)}
    hints = (format_nearest_name(path.name + suffix, names) for suffix in sorted(suffixes))
    return f"There is no file {path}.{next(filter(None, hints), ' Check the path.')}"
