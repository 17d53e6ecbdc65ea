"""The Markdown variant of a page: where a site keeps it, learned once for each site."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

_TEXT_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".txt", ".text")
_PAGE_SUFFIXES = (".html", ".htm")


class VariantStyle(StrEnum):
    """How the address of a variant is made from that of its page. Tried in this order."""

    SAME = "the same address"
    """The site answers with Markdown where that is asked for."""
    SUFFIX = "page.md"
    HTML_SUFFIX = "page.html.md"
    INDEX_HTML = "page/index.html.md"
    INDEX = "page/index.md"
    ALTERNATE = "named by the page"
    """Each page has a `<link>` to its variant."""
    NONE = "none"


OTHER_ADDRESSES = (VariantStyle.SUFFIX, VariantStyle.HTML_SUFFIX, VariantStyle.INDEX_HTML, VariantStyle.INDEX)
"""Styles whose variants have an address of their own."""


def is_text_address(url: str) -> bool:
    """Return whether an address already is that of a text."""
    return urlsplit(url).path.lower().endswith(_TEXT_SUFFIXES)


def make_variant_address(url: str, style: VariantStyle) -> str | None:
    """Return the address of a page's variant in one style, None where that style has none for it."""
    parts = urlsplit(url)
    if style not in OTHER_ADDRESSES or parts.query:
        return None
    stem = parts.path.rstrip("/")
    suffix = next((suffix for suffix in _PAGE_SUFFIXES if stem.lower().endswith(suffix)), "")
    last = stem.rpartition("/")[2]
    if "." in last and not suffix and not last.rpartition(".")[2].isdigit():
        return None
    paths = {
        VariantStyle.SUFFIX: f"{stem.removesuffix(suffix) or '/index'}.md",
        VariantStyle.HTML_SUFFIX: f"{stem}.md" if suffix else f"{stem or '/index'}.html.md",
        VariantStyle.INDEX_HTML: None if suffix else f"{stem}/index.html.md",
        VariantStyle.INDEX: None if suffix else f"{stem}/index.md",
    }
    path = paths[style]
    return None if path is None else urlunsplit((parts.scheme, parts.netloc, path, "", ""))


class VariantStyles:
    """What was learned of each origin. Safe from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, VariantStyle] = {}
        self._locks: dict[str, threading.Lock] = {}

    def find(self, origin: str) -> VariantStyle | None:
        """Return the style of an origin, None while it is not known."""
        return self._known.get(origin)

    def settle(self, origin: str, try_out: Callable[[], VariantStyle | None]) -> None:
        """Find out the style of an origin where it is not known: one page tries, those of other threads wait for it."""
        if origin in self._known:
            return
        with self._locks.setdefault(origin, threading.Lock()):
            if origin not in self._known:
                style = try_out()
                if style is not None:
                    self._known[origin] = style
