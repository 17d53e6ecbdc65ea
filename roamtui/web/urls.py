"""Parses and normalises URLs that a person typed or a page links to, and checks which origins are allowed.

Anything unusual is refused instead of guessed, so that no two parsers see different hosts in the same URL.
"""

import ipaddress
import re
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from roamtui.errors import SourceError
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten

_URL_LENGTH_MAX = 4096
_SHOWN_LENGTH_MAX = 80
_TITLE_LENGTH_MAX = 300
_HOST_LENGTH_MAX = 253
_PORT_MAX = 65535
DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\\]")
"""Characters that no URL may contain. A space is allowed: it is encoded, or refused in a host."""
_CREDENTIALS = re.compile(r"//[^/?#]*@")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENCODED_DOT = re.compile(r"%2e", re.IGNORECASE)
_PATH_SAFE = "/%:@!$&'()*+,;=~"
_QUERY_SAFE = _PATH_SAFE + "?"
_REMOVED_IN_LINKS = str.maketrans("", "", "\t\n\r")
"""Browsers remove these characters inside links too."""


def normalise_url(text: str) -> str:
    """Normalise a URL: host in lower case and IDNA, no default port, no fragment, path without `.` and `..`.

    Characters that must not be in a path or a query are percent-encoded.

    Raises:
        SourceError: The text is not an http or https URL, is too long, or has a user name, a password, or an
            unusual host.
    """
    text = text.strip(" \t\r\n")
    # For messages: shortened, and without credentials and control characters.
    shown = _CREDENTIALS.sub("//", text)[:_SHOWN_LENGTH_MAX]
    shown = "".join(each if each.isprintable() else "?" for each in shown) or "An empty URL"
    invalid = SourceError(f"{shown} is not a valid URL. Write it as in https://example.com/page.")
    if len(text) > _URL_LENGTH_MAX or _FORBIDDEN.search(text):
        raise invalid
    try:
        parts = urlsplit(text)
    except ValueError:
        raise invalid from None
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise SourceError(f"{shown} cannot be fetched. Name a URL that starts with https:// or http://.")
    if "@" in parts.netloc:
        raise SourceError(f"{shown} contains a user name or password. Remove everything between // and @.")
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?", parts.netloc, re.ASCII)
    port = int(match[2] or DEFAULT_PORTS[scheme]) if match else 0
    if match is None or not 0 < port <= _PORT_MAX:
        raise invalid
    try:
        host = _normalise_host(match[1])
    except ValueError:  # also what idna raises
        raise invalid from None
    netloc = host if port == DEFAULT_PORTS[scheme] else f"{host}:{port}"
    query = quote(_STRAY_PERCENT.sub("%25", parts.query), safe=_QUERY_SAFE, errors="replace")
    query = f"?{query}" if query else ""
    return f"{scheme}://{netloc}{_normalise_path(parts.path)}{query}"


def origin_of(url: str) -> str:
    """Return the origin of a URL: scheme, host, and the port unless it is the default one."""
    parts = urlsplit(normalise_url(url))
    return f"{parts.scheme}://{parts.netloc}"


def resolve_href(base: str, link: str) -> str | None:
    """Return the absolute URL of a link, without fragment, or None if the link cannot be fetched."""
    link = link.strip().translate(_REMOVED_IN_LINKS)
    scheme = _SCHEME.match(link)
    if not link or (scheme and scheme.group(1).lower() not in DEFAULT_PORTS):
        return None
    before, mark, query = link.partition("?")
    # Browsers read a backslash before the query as a slash.
    try:
        return normalise_url(urljoin(base, before.replace("\\", "/") + mark + query))
    except (SourceError, ValueError):
        return None


def covers_origin(allowed: str, origin: str) -> bool:
    """Return whether the permission for the origin `allowed` covers `origin`.

    It covers the same origin with or without `www.`. On default ports, http covers https, but https does not
    cover http.
    """
    known = urlsplit(allowed)
    other = urlsplit(origin)
    if strip_www(known.hostname or "") != strip_www(other.hostname or ""):
        return False
    if known.scheme == other.scheme:
        return known.port == other.port
    return (known.scheme, other.scheme, known.port, other.port) == ("http", "https", None, None)


def strip_www(host: str) -> str:
    """Remove a leading `www.` from a host."""
    return host.removeprefix("www.")


def _normalise_host(host: str) -> str:
    """Normalise a host, so that it has only one spelling. Raise `ValueError` if it is invalid or unusual."""
    if host.startswith("["):
        return f"[{ipaddress.IPv6Address(host[1:-1].replace('%', ' ')).compressed}]"  # a zone (%) is refused
    name = host.lower()
    if not host.isascii():
        import idna  # noqa: PLC0415 - few hosts need its tables

        name = idna.encode(host, uts46=True).decode("ascii").lower()
    name = name.removesuffix(".")
    labels = name.split(".")
    if len(name) > _HOST_LENGTH_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(name)
    # Some parsers read 0x7f.1 or 2130706433 as an IPv4 address.
    return str(ipaddress.IPv4Address(name)) if _NUMERIC_LABEL.fullmatch(labels[-1]) else name


def _normalise_path(path: str) -> str:
    """Encode a path, and resolve `.` and `..` in it."""
    encoded = quote(_STRAY_PERCENT.sub("%25", path), safe=_PATH_SAFE, errors="replace")
    segments: list[str] = []
    parts = encoded.split("/")[1:] or [""]
    for index, segment in enumerate(parts):
        plain = _ENCODED_DOT.sub(".", segment)
        is_last = index == len(parts) - 1
        if plain == "..":
            if segments:
                segments.pop()
        elif plain != ".":
            segments.append(segment)
            continue
        if is_last:
            segments.append("")
    return "/" + "/".join(segments)


class AllowedOrigins(Struct, frozen=True, kw_only=True):
    """Origins that may be fetched, in the form of `origin_of`."""

    typed: frozenset[str] = frozenset()
    """Origins that a person typed. Only these may be private or loopback."""
    approved: frozenset[str] = frozenset()
    """Further origins that a person approved."""

    def allows(self, url: str) -> bool:
        """Return whether a URL may be fetched."""
        return _is_among(origin_of(url), self.typed | self.approved)

    def may_be_local(self, url: str) -> bool:
        """Return whether a URL may lead to this machine or its network."""
        return _is_among(origin_of(url), self.typed)


def _is_among(origin: str, allowed: frozenset[str]) -> bool:
    return any(covers_origin(other, origin) for other in allowed)


def make_title_from_url(url: str) -> str:
    """Make a title for a page that is known only by its URL."""
    return shorten(sanitise_line(url.partition("://")[2].rstrip("/")), _TITLE_LENGTH_MAX)
