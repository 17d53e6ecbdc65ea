"""Read what an HTML page's head tells programs: the URL that it redirects to, and the URL of its Markdown."""

import re
from collections.abc import Iterator, Mapping

from roamtui.convert.conversion import parse_start
from roamtui.web.urls import resolve_href

_HEAD_LENGTH_MAX = 200_000
_REFRESH = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_REFRESH_SECONDS_MAX = 10
"""A page that redirects only after a longer time is a page of its own: a person can read it."""
_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")


def find_refresh(body: bytes, charset: str | None, url: str) -> str | None:
    """Return the URL that an HTML page leads to by `<meta http-equiv="refresh">`, or None."""
    for meta in _iter_elements(body, charset, "meta", b"refresh"):
        match = _REFRESH.match(meta.get("content", ""))
        is_refresh = meta.get("http-equiv", "").strip().lower() == "refresh"
        if match and is_refresh and int(match[1]) <= _REFRESH_SECONDS_MAX:
            return resolve_href(url, match[2])
    return None


def find_markdown_link(body: bytes, charset: str | None, url: str) -> str | None:
    """Return the URL of the Markdown that an HTML page names as another form of itself, or None."""
    for link in _iter_elements(body, charset, "link", b"markdown"):
        is_alternate = "alternate" in link.get("rel", "").lower().split()
        if is_alternate and link.get("type", "").strip().lower() in _MARKDOWN_TYPES:
            return resolve_href(url, link.get("href", ""))
    return None


def _iter_elements(body: bytes, charset: str | None, name: str, word: bytes) -> Iterator[Mapping[str, str]]:
    """Yield the attributes of each element `name` in the head, outside of parts for pages without scripts.

    To save time, yield nothing if `word` is not in the head.
    """
    if word not in body[:_HEAD_LENGTH_MAX].lower():
        return
    for element in parse_start(body, charset, _HEAD_LENGTH_MAX).iter(name):
        if next(element.iterancestors("noscript", "template", "svg"), None) is None:
            yield dict(element.attrib)
