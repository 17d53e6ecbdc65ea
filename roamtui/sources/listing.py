"""`Listing`: the files of a folder, of several sources, or of an archive, named but not read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamtui.sources.convert.conversion import CONVERTED_SUFFIXES, SLOW_SUFFIXES

if TYPE_CHECKING:
    from roamtui.sources.read import RawText

FILES_MAX = 20_000
"""Files of one source; more are left out with a note."""
FILE_BYTES_MAX = 32_000_000
"""A larger file is opened only by itself."""
DEPTH_MAX = 100
"""Folders within folders; what lies deeper is left out with a note."""
DOCUMENT_SUFFIXES = CONVERTED_SUFFIXES | {
    *(".md", ".markdown", ".mdown", ".mkd", ".mdx", ".txt", ".text", ".csv", ".tsv", ".log")
}
"""Endings of the names that a folder's documents have."""

_SLOW_BYTES = 2_000_000
"""What a file counts for that another process has to convert."""
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_FIRST_STEMS = {"readme": 0, "index": 1, "_index": 1}
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or a folder with documents in it."""

    path: tuple[str, ...]
    """Names from the top of the source down, its own last."""
    is_folder: bool = False

    @property
    def key(self) -> str:
        """Its path with forward slashes."""
        return "/".join(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a source of many files holds."""

    source: str
    """What identifies it on this machine: an absolute path, or several."""
    name: str
    """A short name for people."""
    entries: tuple[Entry, ...]
    """Folders before what is in them, in the order in which people read them."""
    bytes_total: int
    """Size of all files; one that takes long to convert counts as if it were larger."""
    read: Callable[[str], RawText]
    """Reads the file with a key; raises SourceError where that cannot be. May be called from any thread."""
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Where each file lies on disk, by its key; of those in an archive, the archive."""
    folders: tuple[Path, ...] = ()
    """Folders that were walked; one that was written to may hold others."""


def is_document_name(name: str) -> bool:
    """Return whether a file of this name is a document: one that can be read by its ending, and not hidden."""
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in DOCUMENT_SUFFIXES  # noqa: PTH122


def weigh_file(name: str, size: int) -> int:
    """Return the size of a file in bytes, more for one that takes long to convert."""
    is_slow = os.path.splitext(name)[1].lower() in SLOW_SUFFIXES  # noqa: PTH122
    return max(size, _SLOW_BYTES) if is_slow else min(size, FILE_BYTES_MAX)


def is_skipped_folder(name: str) -> bool:
    """Return whether a folder of this name holds nothing for readers: hidden ones, and those that programs fill."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def order_name(name: str) -> tuple[int, tuple[tuple[int, int, str], ...], str]:
    """Return what sorts the names in a folder: README and index first, numbers by value, without regard to case."""
    stem = name.partition(".")[0].casefold()
    parts = tuple(
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name.casefold())
        if part
    )
    return _FIRST_STEMS.get(stem, 2) if "." in name else 2, parts, name


def show_name(name: str) -> str:
    """Return a file's name as text: bytes that are no UTF-8 are written as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def sort_paths(paths: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return paths in the order in which people read them."""
    return sorted(paths, key=lambda path: tuple(order_name(name) for name in path))


def nest(paths: Iterable[tuple[str, ...]]) -> tuple[Entry, ...]:
    """Return entries for files by their paths, and for the folders that they lie in; each folder's files together."""
    tree: dict[str, dict[str, Any]] = {}
    for path in paths:
        level = tree
        for name in path:
            level = level.setdefault(name, {})
    return tuple(_walk_tree(tree, ()))


def _walk_tree(tree: dict[str, dict[str, Any]], above: tuple[str, ...]) -> Iterator[Entry]:
    for name, below in tree.items():
        yield Entry(path=(*above, name), is_folder=bool(below))
        yield from _walk_tree(below, (*above, name))


def describe_left_out(names: list[str], reason: str) -> tuple[str, ...]:
    """Return a note on what was left out, none where nothing was."""
    if not names:
        return ()
    named = ", ".join(names[:_NAMED_MAX])
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return (f"Left out: {named}{more} ({reason}).",)
