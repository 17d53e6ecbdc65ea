"""`PageCache`: stores each HTTP response in a file. Several programs of one user may share the folder.

A file is written under another name and then renamed, so a reader sees either the old response or the new
one. A damaged file is deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import msgspec
from msgspec import Struct

from roamtui.paths import make_private_folder, trim_folder, write_private_file

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
_SPARE_SHARE = 0.05
"""Share of the maximum size that is free after responses were evicted."""
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A response as it was received, perhaps some time ago."""

    url: str
    status: int
    headers: Mapping[str, str]
    """First value of each header, by its name in lower case."""
    body: bytes
    """Empty unless the response is a page."""
    fetched_at: float
    """Seconds since 1970."""
    allowed_local: bool
    """Whether it was allowed to come from this machine or its network."""

    @property
    def media_type(self) -> str:
        """In lower case, without parameters; empty if the site sent none."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return media_type if _MEDIA_TYPE.fullmatch(media_type) else ""

    @property
    def charset(self) -> str | None:
        """Charset in the Content-Type header."""
        charset = _CHARSET.search(self.headers.get("content-type", ""))
        return charset[1].lower() if charset else None

    @property
    def location(self) -> str | None:
        """Redirect target as the site wrote it, possibly relative."""
        return self.headers.get("location") if self.status in _REDIRECTS else None

    @property
    def is_conclusive(self) -> bool:
        """Whether the response is a page, a redirect, or says that the page does not exist."""
        return self.status in PAGE_STATUSES or self.status in MISSING_STATUSES or self.location is not None


class PageCache:
    """Caches responses in a folder. If that is unusable, nothing is cached, silently. Thread-safe."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._room_bytes = 0
        """How much may be saved before the folder is listed again."""

    def load(self, url: str) -> HttpResponse | None:
        """Return the cached response, or None if there is none."""
        path = self._path(url)
        response = None
        try:
            with contextlib.suppress(msgspec.DecodeError):
                response = msgspec.msgpack.decode(path.read_bytes(), type=HttpResponse)
        except OSError:
            return None
        if response is None or response.url != url:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used
        return response

    def save(self, response: HttpResponse) -> None:
        """Cache a response, and evict the least recently used ones if the cache is full."""
        data = msgspec.msgpack.encode(response)
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            write_private_file(self._path(response.url), data, suffix=_TEMPORARY_SUFFIX)
            self._room_bytes -= len(data)
            if self._room_bytes < 0:  # listing the folder for each page would take long
                self._room_bytes = int(self._bytes_max * _SPARE_SHARE)
                trim_folder(self._folder, self._bytes_max - self._room_bytes)

    def _path(self, url: str) -> Path:
        key = hashlib.sha256(url.encode()).hexdigest()
        return self._folder / f"{key}{_SUFFIX}"
