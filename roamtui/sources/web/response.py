"""`HttpResponse`: a response of a site, as the cache stores it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from msgspec import Struct

PAGE_STATUSES = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)
MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_REDIRECTS = (301, 302, 303, 307, 308)
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
