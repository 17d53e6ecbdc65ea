"""Read where an HTML page leads by itself."""

from __future__ import annotations

import re

from roamtui.sources.decode import decode_html, replace_surrogates
from roamtui.sources.web.urls import resolve_href

_HEAD_LENGTH_MAX = 200_000
_REFRESH = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_REFRESH_SECONDS_MAX = 10
"""A page that a person may read for longer is a page of its own."""


def find_refresh(body: bytes, charset: str | None, url: str) -> str | None:
    """Return the URL that an HTML page leads to by `<meta http-equiv="refresh">`, or None.

    One that is only for pages without scripts does not count.
    """
    head = body[:_HEAD_LENGTH_MAX]
    if b"refresh" not in head.lower():
        return None
    from lxml.etree import HTMLParser, fromstring  # noqa: PLC0415 - few pages need it

    text = replace_surrogates(decode_html(head, charset)[0])
    root = fromstring(f"<html>{text}".encode(), HTMLParser(encoding="utf-8", huge_tree=True))
    for meta in root.iter("meta"):
        match = _REFRESH.match(meta.get("content", ""))
        is_refresh = meta.get("http-equiv", "").strip().lower() == "refresh"
        is_shown = next(meta.iterancestors("noscript", "template", "svg"), None) is None
        if match and is_refresh and is_shown and int(match[1]) <= _REFRESH_SECONDS_MAX:
            return resolve_href(url, match[2])
    return None
