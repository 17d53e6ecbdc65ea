"""Read the URL to which the head of an HTML page redirects."""

import re

from roamtui.convert.conversion import parse_start
from roamtui.web.urls import resolve_href

_HEAD_LENGTH_MAX = 200_000
_REFRESH = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_REFRESH_SECONDS_MAX = 10
"""A page that redirects only after a longer time is a page of its own: a person can read it."""


def find_refresh(body: bytes, charset: str | None, url: str) -> tuple[str, int] | None:
    """Return where an HTML page leads to by `<meta http-equiv="refresh">`, and after how many seconds.

    Parts for pages without scripts do not count.
    """
    if b"refresh" not in body[:_HEAD_LENGTH_MAX].lower():
        return None
    for meta in parse_start(body, charset, _HEAD_LENGTH_MAX).iter("meta"):
        match = _REFRESH.match(meta.get("content", ""))
        is_refresh = meta.get("http-equiv", "").strip().lower() == "refresh"
        is_unused = next(meta.iterancestors("noscript", "template", "svg"), None) is not None
        if match and is_refresh and not is_unused and int(match[1]) <= _REFRESH_SECONDS_MAX:
            target = resolve_href(url, match[2])
            return None if target is None else (target, int(match[1]))
    return None
