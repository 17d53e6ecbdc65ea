"""`PageCache`: answers of sites in files, one each, shared by all programs of one person at once.

A file is a line of JSON and the body. It is written beside its place and takes it whole, so that a reader sees the
old answer or the new one; what is damaged all the same is dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from roamtui.private_folders import make_private_folder, write_private_file

_FORMAT = 1
_SUFFIX = ".page"
_TEMPORARY_SUFFIX = ".part"
_HEAD_BYTES_MAX = 64_000
_KEPT_SHARE = 0.9
"""How full the cache is left when something was dropped."""
_COUNT_AGAIN_SHARE = 0.05
"""How much is written, as a share of the limit, before other programs' files are counted again."""
_ABANDONED_SECONDS = 3600.0
"""Age at which a temporary file belongs to a program that has ended."""
_DIRECTIVE = re.compile(r"\s*([a-z-]{1,40})\s*(?:=\s*\"?([^\",]{0,40})\"?)?\s*")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedReply:
    """An answer of a site as it is kept. Times are seconds since 1970."""

    url: str
    accept: str
    status: int
    media_type: str
    charset: str | None
    location: str | None
    """Where a redirect leads, as the site wrote it."""
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float
    body: bytes

    def is_fresh(self, now: float) -> bool:
        """Return whether it may be used without asking the site again."""
        return self.fetched_at <= now < self.fresh_until


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSize:
    """How much a cache holds."""

    pages: int
    bytes_total: int


class PageCache:
    """Keeps answers in a folder. No method fails for a folder that cannot be used. Thread-safe."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._bytes_known: int | None = None
        self._bytes_written = 0

    def load(self, url: str, accept: str) -> CachedReply | None:
        """Return the answer that is kept, None where there is none."""
        path = self._path(url, accept)
        try:
            with path.open("rb") as file:
                head = file.readline(_HEAD_BYTES_MAX)
                reply = _decode(head, file.read())
        except OSError:
            return None
        if reply is None or (reply.url, reply.accept) != (url, accept):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        self.touch(url, accept)
        return reply

    def save(self, reply: CachedReply) -> bool:
        """Keep an answer, and drop those that were not used for longest where room is short.

        Returns:
            Whether it is kept.
        """
        data = _encode(reply)
        if len(data) > self._bytes_max * _KEPT_SHARE:
            return False
        path = self._path(reply.url, reply.accept)
        try:
            make_private_folder(self._folder)
            write_private_file(path, data, suffix=_TEMPORARY_SUFFIX)
        except OSError:
            return False
        self._make_room(len(data))
        return True

    def touch(self, url: str, accept: str) -> None:
        """Note that an answer was used."""
        with contextlib.suppress(OSError):
            os.utime(self._path(url, accept))

    def drop(self, url: str, accept: str) -> None:
        """Forget an answer."""
        with contextlib.suppress(OSError):
            self._path(url, accept).unlink()

    def measure(self) -> CacheSize:
        """Return how much is kept."""
        sizes = [size for _, size, _ in self._list()]
        return CacheSize(pages=len(sizes), bytes_total=sum(sizes))

    def clear(self) -> CacheSize:
        """Drop everything, and return how much that was."""
        count, bytes_total = 0, 0
        for _, size, path in self._list():
            with contextlib.suppress(OSError):
                path.unlink()
                count, bytes_total = count + 1, bytes_total + size
        self._drop_abandoned(0.0)
        return CacheSize(pages=count, bytes_total=bytes_total)

    def _path(self, url: str, accept: str) -> Path:
        key = hashlib.sha256(f"{url}\n{accept}".encode()).hexdigest()
        return self._folder / f"{key}{_SUFFIX}"

    def _list(self) -> list[tuple[float, int, Path]]:
        """Return time of last use, size and path of every answer."""
        return [
            (found.st_mtime, found.st_size, self._folder / entry.name)
            for entry, found in self._scan()
            if entry.name.endswith(_SUFFIX)
        ]

    def _scan(self) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        try:
            entries = list(os.scandir(self._folder))
        except OSError:
            return
        for entry in entries:
            with contextlib.suppress(OSError):
                yield entry, entry.stat(follow_symlinks=False)

    def _make_room(self, added: int) -> None:
        with self._lock:
            self._bytes_written += added
            is_known = self._bytes_known is not None and self._bytes_known + self._bytes_written <= self._bytes_max
            if not is_known or self._bytes_written >= self._bytes_max * _COUNT_AGAIN_SHARE:
                self._bytes_written = 0
                self._bytes_known = self._evict()

    def _evict(self) -> int:
        """Drop the answers that were not used for longest until the rest fits, and return its size."""
        self._drop_abandoned(_ABANDONED_SECONDS)
        found = sorted(self._list(), key=lambda entry: entry[0])
        bytes_total = sum(size for _, size, _ in found)
        if bytes_total <= self._bytes_max:
            return bytes_total
        for _, size, path in found:
            if bytes_total <= self._bytes_max * _KEPT_SHARE:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            bytes_total -= size
        return bytes_total

    def _drop_abandoned(self, seconds: float) -> None:
        now = time.time()
        for entry, found in self._scan():
            if entry.name.endswith(_TEMPORARY_SUFFIX) and now - found.st_mtime >= seconds:
                with contextlib.suppress(OSError):
                    (self._folder / entry.name).unlink()


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _encode(reply: CachedReply) -> bytes:
    values = asdict(replace(reply, body=b""))
    del values["body"]
    head = json.dumps({"format": _FORMAT, **values, "digest": _digest(reply.body)})
    return head.encode("ascii") + b"\n" + reply.body


def _decode(head: bytes, body: bytes) -> CachedReply | None:
    """Return what a file holds, None where it is damaged or of another format."""
    try:
        values = json.loads(head)
        if values.pop("format") != _FORMAT or values.pop("digest") != _digest(body):
            return None
        return msgspec.convert({**values, "body": body}, CachedReply)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        return None


def may_store(headers: Mapping[str, str]) -> bool:
    """Return whether an answer may be kept for its own user. Names of headers are in lower case."""
    return "no-store" not in _read_directives(headers) and headers.get("vary", "").strip() != "*"


def find_fresh_seconds(headers: Mapping[str, str], seconds_max: float) -> float:
    """Return for how long an answer may be used without asking again."""
    directives = _read_directives(headers)
    if "no-cache" in directives:
        return 0.0
    fresh = read_seconds(directives.get("max-age", "")) or 0.0
    age = read_seconds(headers.get("age", "")) or 0.0
    return max(0.0, min(fresh - age, seconds_max))


def read_seconds(text: str) -> float | None:
    """Return a number of seconds as HTTP writes it, None where the text is none."""
    return float(text) if _SECONDS.fullmatch(text.strip()) else None


def _read_directives(headers: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in headers.get("cache-control", "").lower().split(","):
        match = _DIRECTIVE.fullmatch(part)
        if match:
            found.setdefault(match.group(1), match.group(2) or "")
    return found
