"""Reads what a person named: a file, or standard input."""

from __future__ import annotations

import difflib
import os
import re
import stat
import sys
from pathlib import Path

from roamtui.errors import SourceError
from roamtui.sources.decode import decode_text
from roamtui.sources.raw_text import RawText

_PLAIN_SUFFIXES = frozenset({".csv", ".tsv", ".log"})
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_SUGGESTED_SUFFIXES = (".md", ".markdown", ".txt")


def read_source(name: str) -> RawText:
    """Return the text of one source.

    Args:
        name: A path, or ``-`` for standard input.

    Raises:
        SourceError: It cannot be read or is no text; the message says what to do.
    """
    if name == "-":
        return read_standard_input()
    if _SCHEME.match(name):
        raise SourceError(f"{name} is an address, and only files are opened so far. Save the page and name the file.")
    return read_file(Path(name))


def read_standard_input() -> RawText:
    """Return what standard input holds, to its end.

    Raises:
        SourceError: It is a keyboard, or no text.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise SourceError('"-" reads a document from a pipe, as in `cat notes.md | roamtui -`.')
    text, notes = decode_text(sys.stdin.buffer.read(), "Standard input")
    return RawText(text=text, source="-", name="standard input", notes=notes)


def read_file(path: Path) -> RawText:
    """Return the text of one file.

    Raises:
        SourceError: It is missing, a folder, unreadable or no text.
    """
    shown = str(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(_advise_on_folder(path))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise SourceError(f"{shown} is a device, not a document. Name a Markdown or text file.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise SourceError(_advise_on_missing(path)) from None
    except PermissionError:
        raise SourceError(f"{shown} may not be read. Check its permissions.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"{shown} cannot be read: {reason}. Name another file.") from None
    text, notes = decode_text(data, path.name or shown)
    return RawText(
        text=text,
        source=os.path.abspath(path),  # noqa: PTH100 - resolve() would follow links, and a link may change its target
        name=path.name,
        is_markdown=path.suffix.lower() not in _PLAIN_SUFFIXES,
        notes=notes,
    )


def _advise_on_folder(path: Path) -> str:
    names = sorted(entry.name for entry in path.iterdir() if entry.suffix.lower() in _SUGGESTED_SUFFIXES)
    example = next((name for name in names if name.lower().startswith("readme")), names[0] if names else None)
    hint = f"for example {path / example}" if example else "it holds no Markdown or text file"
    return f"{path} is a folder, and one file at a time is opened so far: {hint}."


def _advise_on_missing(path: Path) -> str:
    message = f"There is no file {path}."
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"{message} Check the path."
    nearest = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"{message} Did you mean {path.parent / nearest[0]}?" if nearest else f"{message} Check the path."
