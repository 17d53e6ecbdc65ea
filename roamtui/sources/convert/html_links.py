"""Addresses in a page: made absolute, and left out where they lead to no page."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit

_LENGTH_MAX = 2_000
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_UNWRITABLE = re.compile(r"[\x00-\x20<>()\\\x7f-\x9f\u2028\u2029]")
_STRIPPED = "".join(map(chr, range(33)))


def resolve_link(address: str, base_url: str | None) -> str:
    """Return an address as it can stand in Markdown, absolute where the page's is known; empty for a bad one.

    Args:
        address: As it stands in a page.
        base_url: Address of the page.
    """
    address = address.strip(_STRIPPED).replace("\t", "").replace("\n", "").replace("\r", "")
    if not address or len(address) > _LENGTH_MAX:
        return ""
    try:
        if base_url:
            address = urljoin(base_url, address)
        if urlsplit(address).scheme.lower() not in _SCHEMES:
            return ""
    except ValueError:
        return ""
    return _UNWRITABLE.sub(lambda found: quote(found[0]), address)
