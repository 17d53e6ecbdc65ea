"""`PageCache`: stores each HTTP response in a file. Several programs of one user may share the folder.

A file has one line of JSON, followed by the body. It is written under another name and then renamed, so a reader sees
either the old response or the new one. A damaged file is deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
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
_FORMAT_VERSION = 1
_SUFFIX = ".page"
_TEMPORARY_SUFFIX = ".part"
_HEAD_BYTES_MAX = 64_000
_EVICTION_SHARE = 0.9
"""Eviction deletes files until they use at most this share of the limit."""
_RECOUNT_SHARE = 0.05
"""After writing this share of the limit, the size of the folder is measured again: other programs also write there."""
_DIRECTIVE = re.compile(r"([a-z-]{1,40})(?:\s*=\s*\"?([^\",]{0,40})\"?)?")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_DATE = re.compile(r"[A-Za-z0-9,: +-]{1,64}", re.ASCII)


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

    @property
    def is_cacheable(self) -> bool:
        """Whether a private cache may store the response."""
        is_stored = "no-store" not in _parse_cache_control(self.headers) and self.headers.get("vary", "").strip() != "*"
        return self.is_conclusive and is_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedResponse:
    """A response in the cache. Times are seconds since 1970."""

    url: str
    accept: str
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

    def load(self, url: str, accept: str) -> CachedResponse | None:
        """Return the cached response, or None if there is none."""
        path = self._path(url, accept)
        try:
            with path.open("rb") as file:
                response = _decode(file.readline(_HEAD_BYTES_MAX), file.read())
        except OSError:
            return None
        if response is None or (response.url, response.accept) != (url, accept):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used
        return response

    def save(self, response: CachedResponse) -> None:
        """Cache a response, and evict the least recently used ones if the cache is full."""
        values = asdict(replace(response, body=b""))
        del values["body"]
        head = json.dumps({"format": _FORMAT_VERSION, **values, "digest": _digest(response.body)})
        data = head.encode("ascii") + b"\n" + response.body
        if len(data) > self._bytes_max * _EVICTION_SHARE:
            return
        path = self._path(response.url, response.accept)
        try:
            make_private_folder(self._folder)
            write_private_file(path, data, suffix=_TEMPORARY_SUFFIX)
        except OSError:
            return
        with self._lock:
            self._free_bytes -= len(data)
            if self._free_bytes < 0:
                self._free_bytes = min(self._bytes_max - self._evict(), self._bytes_max * _RECOUNT_SHARE)

    def drop(self, url: str, accept: str) -> None:
        """Delete a cached response."""
        with contextlib.suppress(OSError):
            self._path(url, accept).unlink()

    def _path(self, url: str, accept: str) -> Path:
        key = hashlib.sha256(f"{url}\n{accept}".encode()).hexdigest()
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


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _decode(head: bytes, body: bytes) -> CachedResponse | None:
    """Decode a cache file, or return None if it is damaged or has another format."""
    try:
        values = json.loads(head)
        if values.pop("format") != _FORMAT_VERSION or values.pop("digest") != _digest(body):
            return None
        return msgspec.convert({**values, "body": body}, CachedResponse)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        return None


def to_cached_response(url: str, accept: str, response: HttpResponse, fresh_seconds_max: float) -> CachedResponse:
    """Make the cache entry of a response that was just received."""
    content_type = response.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type)
    now = time.time()
    return CachedResponse(
        url=url,
        accept=accept,
        status=int(response.status),
        media_type=media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        charset=charset.group(1).lower() if charset else None,
        location=response.location,
        etag=_validate(_ETAG, response.headers.get("etag")),
        last_modified=_validate(_DATE, response.headers.get("last-modified")),
        fetched_at=now,
        fresh_until=now + compute_freshness_seconds(response.headers, fresh_seconds_max),
        body=response.body,
    )


def _validate(pattern: re.Pattern[str], text: str | None) -> str | None:
    return text if text is not None and pattern.fullmatch(text) else None


def compute_freshness_seconds(headers: Mapping[str, str], seconds_max: float) -> float:
    """Compute how long a response may be used without asking the site again."""
    directives = _parse_cache_control(headers)
    if "no-cache" in directives:
        return 0.0
    fresh = parse_seconds(directives.get("max-age", "")) or 0.0
    age = parse_seconds(headers.get("age", "")) or 0.0
    return max(0.0, min(fresh - age, seconds_max))


def parse_seconds(text: str) -> float | None:
    """Parse a non-negative integer of an HTTP header, or return None."""
    return float(text) if _SECONDS.fullmatch(text.strip()) else None


def _parse_cache_control(headers: Mapping[str, str]) -> dict[str, str]:
    directives: dict[str, str] = {}
    for part in headers.get("cache-control", "").lower().split(","):
        match = _DIRECTIVE.fullmatch(part.strip())
        if match:
            directives.setdefault(match.group(1), match.group(2) or "")
    return directives


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
