"""`roamtui cache`: how much is kept on this machine that can be made again, and dropping it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.headless.output import write_json, write_text
from roamtui.sources.web.cache import CacheSize, PageCache
from roamtui.sources.web.options import FetchOptions

_DELETE_INDEXES = "`roamtui index SOURCE --delete` deletes one; to delete all, delete that folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFolders:
    """Where things lie that can be made again."""

    pages: Path
    """Of the web."""
    converted: Path
    """Texts of files of other formats."""
    indexes: Path
    """For search, which cost most to make: they are never dropped unasked."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What lies in a folder."""

    one: str
    many: str
    folder: Path
    files: int
    bytes_total: int

    def describe(self) -> str:
        return f"{self.files:,} {self.one if self.files == 1 else self.many}, {_describe_bytes(self.bytes_total)}"


def run_cache(folders: CacheFolders, action: str, *, as_json: bool) -> int:
    """Write how much is kept, or drop it all but indexes, and return the exit status.

    Args:
        folders: Where.
        action: `show` or `clear`.
        as_json: Whether the answer is for a program.
    """
    bytes_max = FetchOptions().cache_bytes_max
    cache = PageCache(folders.pages, bytes_max)
    if action == "clear":
        _clear(cache, folders, as_json=as_json)
    else:
        _show(cache, folders, bytes_max, as_json=as_json)
    return 0


def _show(cache: PageCache, folders: CacheFolders, bytes_max: int, *, as_json: bool) -> None:
    size, converted, indexes = cache.measure(), _measure_converted(folders), _measure_indexes(folders)
    if as_json:
        told = {"folder": str(folders.pages), "pages": size.pages, "bytes": size.bytes_total, "bytes_max": bytes_max}
        write_json({**told, **_describe_as_json(converted, indexes)})
        return
    lines = [f"{_describe_size(size)} of at most {_describe_bytes(bytes_max)} in {folders.pages}"]
    if converted.files:
        lines.append(f"{converted.describe()} in {converted.folder}")
    if indexes.files:
        lines.append(f"{indexes.describe()} in {indexes.folder} ({_DELETE_INDEXES})")
    write_text("\n".join(lines) + "\n")


def _clear(cache: PageCache, folders: CacheFolders, *, as_json: bool) -> None:
    converted, indexes = _measure_converted(folders), _measure_indexes(folders)
    size = cache.clear()
    for path in _list_files(converted.folder):
        with suppress(OSError):
            path.unlink()
    if as_json:
        told = {"folder": str(folders.pages), "dropped_pages": size.pages, "dropped_bytes": size.bytes_total}
        left = {"left": _describe_as_json(indexes)}
        write_json({**told, **_describe_as_json(converted), **left})
        return
    lines = [f"Dropped {_describe_size(size)} from {folders.pages}"]
    if converted.files:
        lines.append(f"Dropped {converted.describe()} from {converted.folder}")
    if indexes.files:
        lines.append(f"Left {indexes.describe()} in {indexes.folder}: {_DELETE_INDEXES}")
    write_text("\n".join(lines) + "\n")


def _measure_converted(folders: CacheFolders) -> _Kept:
    return _measure("converted file", "converted files", folders.converted)


def _measure_indexes(folders: CacheFolders) -> _Kept:
    return _measure("file of search indexes", "files of search indexes", folders.indexes)


def _measure(one: str, many: str, folder: Path) -> _Kept:
    sizes = []
    for path in _list_files(folder):
        with suppress(OSError):
            sizes.append(path.stat().st_size)
    return _Kept(one, many, folder, len(sizes), sum(sizes))


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield the files that lie in a folder itself, none where it cannot be read."""
    with suppress(OSError):
        yield from [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]


def _describe_as_json(*all_kept: _Kept) -> dict[str, Any]:
    return {
        kept.folder.name: {"folder": str(kept.folder), "files": kept.files, "bytes": kept.bytes_total}
        for kept in all_kept
    }


def _describe_size(size: CacheSize) -> str:
    return f"{size.pages:,} page{'' if size.pages == 1 else 's'}, {_describe_bytes(size.bytes_total)}"


def _describe_bytes(count: int) -> str:
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
