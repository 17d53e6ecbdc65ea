"""Answers of sites into what is kept of them, and back into questions whether they have changed."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from roamtui.sources.web.cache import CachedReply, find_fresh_seconds, may_store
from roamtui.sources.web.exchange import PAGE_STATUSES, Reply

_REDIRECTS = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)
MISSING = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_DATE = re.compile(r"[A-Za-z0-9,: +-]{1,64}", re.ASCII)


def is_answer(reply: Reply) -> bool:
    """Return whether an answer says what an address holds: a page, where it has gone, or that there is none."""
    return reply.status in PAGE_STATUSES or reply.status in MISSING or _find_location(reply) is not None


def is_kept(reply: Reply) -> bool:
    """Return whether an answer may go into the cache."""
    return is_answer(reply) and may_store(reply.headers)


def make_entry(url: str, accept: str, reply: Reply, *, now: float, fresh_seconds_max: float) -> CachedReply:
    """Return an answer as it is kept."""
    media_type, charset = read_content_type(reply.headers.get("content-type", ""))
    return CachedReply(
        url=url,
        accept=accept,
        status=int(reply.status),
        media_type=media_type,
        charset=charset,
        location=_find_location(reply),
        etag=_match(_ETAG, reply.headers.get("etag")),
        last_modified=_match(_DATE, reply.headers.get("last-modified")),
        fetched_at=now,
        fresh_until=now + find_fresh_seconds(reply.headers, fresh_seconds_max),
        body=reply.body,
    )


def renew_entry(entry: CachedReply, reply: Reply, *, now: float, fresh_seconds_max: float) -> CachedReply:
    """Return what was kept after the site said that it has not changed."""
    return replace(
        entry,
        etag=_match(_ETAG, reply.headers.get("etag")) or entry.etag,
        last_modified=_match(_DATE, reply.headers.get("last-modified")) or entry.last_modified,
        fetched_at=now,
        fresh_until=now + find_fresh_seconds(reply.headers, fresh_seconds_max),
    )


def list_conditions(entry: CachedReply | None) -> Mapping[str, str]:
    """Return the headers that ask whether what is kept has changed, none where that cannot be asked."""
    if entry is None or entry.status not in PAGE_STATUSES:
        return {}
    conditions = {"If-None-Match": entry.etag, "If-Modified-Since": entry.last_modified}
    return {name: value for name, value in conditions.items() if value is not None}


def read_content_type(header: str) -> tuple[str, str | None]:
    """Return the media type in lower case, empty where there is none, and the character set."""
    media_type = header.partition(";")[0].strip().lower()
    charset = _CHARSET.search(header)
    return (
        media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        charset.group(1).lower() if charset else None,
    )


def read_retry_after(text: str) -> float | None:
    """Return how many seconds a busy site wants to be left alone, None where it does not say."""
    try:
        seconds = float(text)
    except ValueError:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415 - only a busy site needs it

        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _find_location(reply: Reply) -> str | None:
    return reply.headers.get("location") if reply.status in _REDIRECTS else None


def _match(pattern: re.Pattern[str], text: str | None) -> str | None:
    return text if text is not None and pattern.fullmatch(text) else None
