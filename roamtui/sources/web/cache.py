"""`PageCache`: stores each HTTP response in a file. Several programs of one user may share the folder.

A file is written under another name and then renamed, so a reader sees either the old response or the new one.
A damaged file is deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import msgspec

from roamtui.paths import make_private_folder, write_private_file

PAGE_STATUSES = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)
MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_REDIRECTS = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)
_SUFFIX = ".page"
_TEMPORARY_SUFFIX = ".part"
_EVICTION_SHARE = 0.9
"""Eviction deletes files until they use at most this share of the limit."""
_RECOUNT_SHARE = 0.05
"""After writing this share of the limit, the size of the folder is measured again: other programs also write there."""
_MAX_AGE = re.compile(r"max-age=\"?(\d{1,12})(?!\d)", re.ASCII)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response as it was received."""

    status: int
    headers: Mapping[str, str]
    """First value of each header, by its name in lower case."""
    body: bytes
    """Empty unless the response is a page."""

    @property
    def location(self) -> str | None:
        """Redirect target as the site wrote it, possibly relative."""
        return self.headers.get("location") if self.status in _REDIRECTS else None

    @property
    def is_conclusive(self) -> bool:
        """Whether the response is a page, a redirect, or says that the page does not exist."""
        return self.status in PAGE_STATUSES or self.status in MISSING_STATUSES or self.location is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedResponse:
    """A response in the cache. Times are seconds since 1970."""

    url: str
    status: int
    media_type: str
    charset: str | None
    location: str | None
    """Redirect target as the site wrote it."""
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float
    body: bytes

    def is_fresh(self, now: float) -> bool:
        """Check whether the response may be used without asking the site again."""
        return self.fetched_at <= now < self.fresh_until


class PageCache:
    """Caches responses in a folder. If the folder is unusable, nothing is cached, without an error. Thread-safe."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._free_bytes = 0.0
        """Bytes that may still be written before the size of the folder is measured again."""

    def load(self, url: str) -> CachedResponse | None:
        """Return the cached response, or None if there is none."""
        path, response = self._path(url), None
        try:
            with contextlib.suppress(msgspec.DecodeError):
                response = msgspec.msgpack.decode(path.read_bytes(), type=CachedResponse)
        except OSError:
            return None
        if response is None or response.url != url:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used
        return response

    def save(self, response: CachedResponse) -> None:
        """Cache a response, and evict the least recently used ones if the cache is full."""
        data = msgspec.msgpack.encode(response)
        if len(data) > self._bytes_max * _EVICTION_SHARE:
            return
        path = self._path(response.url)
        try:
            make_private_folder(self._folder)
            write_private_file(path, data, suffix=_TEMPORARY_SUFFIX)
        except OSError:
            return
        with self._lock:
            self._free_bytes -= len(data)
            if self._free_bytes < 0:
                self._free_bytes = min(self._bytes_max - self._evict(), self._bytes_max * _RECOUNT_SHARE)

    def drop(self, url: str) -> None:
        """Delete a cached response."""
        with contextlib.suppress(OSError):
            self._path(url).unlink()

    def _path(self, url: str) -> Path:
        key = hashlib.sha256(url.encode()).hexdigest()
        return self._folder / f"{key}{_SUFFIX}"

    def _evict(self) -> int:
        """Delete the least recently used files if the cache is over its limit, and return the size of the rest."""
        files: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._folder):
                with contextlib.suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    files.append((info.st_mtime, info.st_size, entry.path))
        bytes_total = sum(size for _, size, _ in files)
        bytes_max = bytes_total if bytes_total <= self._bytes_max else self._bytes_max * _EVICTION_SHARE
        for _, size, path in sorted(files):
            if bytes_total <= bytes_max:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - os.scandir gives strings
            bytes_total -= size
        return bytes_total


def to_cached_response(url: str, response: HttpResponse, fresh_seconds_max: float) -> CachedResponse:
    """Make the cache entry of a response that was just received."""
    content_type = response.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    now = time.time()
    return CachedResponse(
        url=url,
        status=int(response.status),
        media_type=media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        charset=charset.group(1).lower() if charset else None,
        location=response.location,
        etag=response.headers.get("etag"),
        last_modified=response.headers.get("last-modified"),
        fetched_at=now,
        fresh_until=now + compute_freshness_seconds(response.headers, fresh_seconds_max),
        body=response.body,
    )


def compute_freshness_seconds(headers: Mapping[str, str], seconds_max: float) -> float:
    """Compute how long a response may be used without asking the site again."""
    directives = headers.get("cache-control", "").lower()
    found = _MAX_AGE.search(directives)
    return min(float(found[1]), seconds_max) if found and "no-cache" not in directives else 0.0


def parse_retry_after(text: str) -> float | None:
    """Parse a `Retry-After` header, a number or a date. Return the seconds to wait, or None if it is invalid."""
    try:
        seconds = float(text)
    except ValueError:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415 - only a busy site needs it

        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
