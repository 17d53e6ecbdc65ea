"""`roamtui cache`: the sizes of cached pages, conversions and search indexes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from roamtui.document.counts import format_count
from roamtui.headless.output import write_json, write_text
from roamtui.paths import conversions_path, indexes_path, pages_path
from roamtui.sources.web.page import FetchOptions

_DELETE_HINT = "`roamtui index SOURCE --delete` deletes one; to delete all, delete that folder"


def report_cache(*, clear: bool, as_json: bool) -> None:
    """Write the size of the cache. If `clear`, delete its pages and conversions, and write the size that they had."""
    bytes_max = FetchOptions().cache_bytes_max
    pages, conversions, indexes = pages_path(), conversions_path(), indexes_path()
    files = {folder: _get_file_sizes(folder) for folder in (pages, conversions, indexes)}
    sizes = {folder: sum(file_sizes.values()) for folder, file_sizes in files.items()}
    if clear:  # not the indexes, which are the most expensive to rebuild
        for path in (*files[pages], *files[conversions]):
            with suppress(OSError):
                path.unlink()
    if as_json:
        conversions_json, indexes_json = (
            {folder.name: {"folder": str(folder), "files": len(files[folder]), "bytes": sizes[folder]}}
            for folder in (conversions, indexes)
        )
        if clear:
            counts = {"dropped_pages": len(files[pages]), "dropped_bytes": sizes[pages]}
            write_json({"folder": str(pages), **counts, **conversions_json, "left": indexes_json})
        else:
            counts = {"pages": len(files[pages]), "bytes": sizes[pages], "bytes_max": bytes_max}
            write_json({"folder": str(pages), **counts, **conversions_json, **indexes_json})
        return

    def describe_folder(noun: str, plural: str, folder: Path) -> str:
        return f"{format_count(len(files[folder]), noun, plural)}, {_format_bytes(sizes[folder])}"

    verb, left = ("Deleted ", "Left ") if clear else ("", "")
    limit = "from" if clear else f"of at most {_format_bytes(bytes_max)} in"
    lines = [f"{verb}{describe_folder('page', 'pages', pages)} {limit} {pages}"]
    if files[conversions]:
        count = describe_folder("converted file", "converted files", conversions)
        lines.append(f"{verb}{count} {'from' if clear else 'in'} {conversions}")
    if files[indexes]:
        count = describe_folder("file of search indexes", "files of search indexes", indexes)
        hint = f": {_DELETE_HINT}" if clear else f" ({_DELETE_HINT})"
        lines.append(f"{left}{count} in {indexes}{hint}")
    write_text("\n".join(lines) + "\n")


def _format_bytes(count: int) -> str:
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


def _get_file_sizes(folder: Path) -> dict[Path, int]:
    """Return the size of each file directly in a folder. If the folder cannot be read, return nothing."""
    sizes: dict[Path, int] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_file() and not path.is_symlink():
                with suppress(OSError):
                    sizes[path] = path.stat().st_size
    return sizes
