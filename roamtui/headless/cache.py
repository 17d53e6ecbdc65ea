"""`roamtui cache`: how much is kept on this machine that can be made again, and dropping it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.headless.output import write_json, write_text
from roamtui.sources.web.page import FetchOptions

_DELETE_INDEXES = "`roamtui index SOURCE --delete` deletes one; to delete all, delete that folder"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What lies in a folder."""

    noun: str
    """With a mark where the plural has its ``s``."""
    folder: Path
    files: int
    bytes_total: int

    def describe(self) -> str:
        noun = self.noun.replace("*", "" if self.files == 1 else "s")
        return f"{self.files:,} {noun}, {_describe_bytes(self.bytes_total)}"


def run_cache(action: str, *, pages_path: Path, converted_path: Path, indexes_path: Path, as_json: bool) -> int:
    """Write how much is kept, or drop it all but indexes, and return the exit status.

    Args:
        action: `show` or `clear`.
        pages_path: Of the web.
        converted_path: Texts of files of other formats.
        indexes_path: For search, which cost most to make: they are never dropped unasked.
        as_json: Whether the answer is for a program.
    """
    bytes_max = FetchOptions().cache_bytes_max
    is_cleared = action == "clear"
    pages = _measure("page*", pages_path)
    converted = _measure("converted file*", converted_path)
    indexes = _measure("file* of search indexes", indexes_path)
    if is_cleared:
        for path in (*_list_files(pages_path), *_list_files(converted_path)):
            with suppress(OSError):
                path.unlink()
    if as_json:
        write_json(_describe_as_json(pages, converted, indexes, None if is_cleared else bytes_max))
        return 0
    verb, left = ("Dropped ", "Left ") if is_cleared else ("", "")
    limit = "from" if is_cleared else f"of at most {_describe_bytes(bytes_max)} in"
    lines = [f"{verb}{pages.describe()} {limit} {pages.folder}"]
    if converted.files:
        lines.append(f"{verb}{converted.describe()} {'from' if is_cleared else 'in'} {converted.folder}")
    if indexes.files:
        hint = f": {_DELETE_INDEXES}" if is_cleared else f" ({_DELETE_INDEXES})"
        lines.append(f"{left}{indexes.describe()} in {indexes.folder}{hint}")
    write_text("\n".join(lines) + "\n")
    return 0


def _describe_as_json(pages: _Kept, converted: _Kept, indexes: _Kept, bytes_max: int | None) -> dict[str, Any]:
    """Return what is kept, or where no limit is given, what was dropped and what is left."""
    others = {
        kept.folder.name: {"folder": str(kept.folder), "files": kept.files, "bytes": kept.bytes_total}
        for kept in (converted, indexes)
    }
    told: dict[str, Any] = {"folder": str(pages.folder)}
    if bytes_max is not None:
        return {**told, "pages": pages.files, "bytes": pages.bytes_total, "bytes_max": bytes_max, **others}
    left = {"left": {indexes.folder.name: others.pop(indexes.folder.name)}}
    return {**told, "dropped_pages": pages.files, "dropped_bytes": pages.bytes_total, **others, **left}


def _measure(noun: str, folder: Path) -> _Kept:
    sizes = []
    for path in _list_files(folder):
        with suppress(OSError):
            sizes.append(path.stat().st_size)
    return _Kept(noun, folder, len(sizes), sum(sizes))


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield the files that lie in a folder itself, none where it cannot be read."""
    with suppress(OSError):
        yield from [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]


def _describe_bytes(count: int) -> str:
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
