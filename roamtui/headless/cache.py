"""`roamtui cache`: how much of the web is kept on this machine, and dropping it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.headless.output import write_json, write_text
from roamtui.sources.web.cache import PageCache
from roamtui.sources.web.options import FetchOptions

if TYPE_CHECKING:
    from pathlib import Path

    from roamtui.sources.web.cache import CacheSize


def run_cache(folder: Path, action: str, *, as_json: bool) -> int:
    """Write how much is kept in a folder, or drop it all, and return the exit status.

    Args:
        folder: Where pages are kept.
        action: `show` or `clear`.
        as_json: Whether the answer is for a program.
    """
    bytes_max = FetchOptions().cache_bytes_max
    cache = PageCache(folder, bytes_max)
    if action == "clear":
        _clear(cache, folder, as_json=as_json)
    else:
        _show(cache, folder, bytes_max, as_json=as_json)
    return 0


def _show(cache: PageCache, folder: Path, bytes_max: int, *, as_json: bool) -> None:
    size = cache.measure()
    if as_json:
        write_json({"folder": str(folder), "pages": size.pages, "bytes": size.bytes_total, "bytes_max": bytes_max})
    else:
        write_text(f"{_describe_size(size)} of at most {_describe_bytes(bytes_max)} in {folder}\n")


def _clear(cache: PageCache, folder: Path, *, as_json: bool) -> None:
    size = cache.clear()
    if as_json:
        write_json({"folder": str(folder), "dropped_pages": size.pages, "dropped_bytes": size.bytes_total})
    else:
        write_text(f"Dropped {_describe_size(size)} from {folder}\n")


def _describe_size(size: CacheSize) -> str:
    return f"{size.pages:,} page{'' if size.pages == 1 else 's'}, {_describe_bytes(size.bytes_total)}"


def _describe_bytes(count: int) -> str:
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
