"""Addresses of pages: what a person typed or a page links to, as one normalised URL or not at all.

Everything odd is refused rather than guessed: two readers of one address must never see two hosts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from roamtui.errors import SourceError, UsageError

_LENGTH_MAX = 4096
_SHOWN_MAX = 80
_HOST_LENGTH_MAX = 253
_PORT_MAX = 65535
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
_USER = re.compile(r"//[^/?#]*@")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENCODED_DOT = re.compile(r"%2e", re.IGNORECASE)
_PATH_SAFE = "/%:@!$&'()*+,;=~"
_QUERY_SAFE = _PATH_SAFE + "?"
_REMOVED_IN_LINKS = str.maketrans("", "", "\t\n\r")


def parse_url(text: str) -> str:
    """Return an address as a normalised URL: host in lower case and IDNA, no default port, no fragment.

    Raises:
        SourceError: It is no plain http or https address.
    """
    text = text.strip(" \t\r\n")
    shown = _format_url(text)
    if len(text) > _LENGTH_MAX:
        raise SourceError(f"{shown} is longer than {_LENGTH_MAX:,} characters. Name a shorter address.")
    if _UNSAFE.sub("", text.replace(" ", "")) != text.replace(" ", ""):
        raise SourceError(f"{shown} holds characters that belong in no address. Copy the address again.")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise SourceError(f"{shown} is no valid address. Check the host.") from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise SourceError(f"{shown} cannot be fetched. Name an address that begins with https:// or http://.")
    if not parts.netloc:
        raise SourceError(f"{shown} names no host. Write it as in https://example.com/page.")
    if "@" in parts.netloc:
        raise SourceError(f"{shown} was given with a name or password. Leave out all between // and @.")
    host, port = _read_host(parts.netloc, scheme, shown)
    query = quote(_STRAY_PERCENT.sub("%25", parts.query), safe=_QUERY_SAFE, errors="replace")
    return f"{scheme}://{host}{port}{_clean_path(parts.path)}{query and f'?{query}'}"


def origin_of(url: str) -> str:
    """Return the origin of an address: scheme, host, and the port unless it is the default one."""
    parts = urlsplit(parse_url(url))
    return f"{parts.scheme}://{parts.netloc}"


def resolve_href(base: str, link: str) -> str | None:
    """Return the address that a link on a page leads to, None where it is none that can be fetched.

    A link that is a fragment alone leads to the page itself.
    """
    link = link.strip().translate(_REMOVED_IN_LINKS)
    scheme = _SCHEME.match(link)
    if not link or (scheme and scheme.group(1).lower() not in _DEFAULT_PORTS):
        return None
    before, mark, query = link.partition("?")
    try:
        return parse_url(urljoin(base, before.replace("\\", "/") + mark + query))
    except (SourceError, ValueError):
        return None


def is_same_site(allowed: str, origin: str) -> bool:
    """Return whether an origin counts as another one that was allowed.

    So do https in place of http, both at their default ports, and a host with or without `www.`.
    """
    known, wanted = urlsplit(allowed), urlsplit(origin)
    if bare_host(known.hostname or "") != bare_host(wanted.hostname or ""):
        return False
    if known.scheme == wanted.scheme:
        return known.port == wanted.port
    return (known.scheme, wanted.scheme, known.port, wanted.port) == ("http", "https", None, None)


def bare_host(host: str) -> str:
    """Return a host without `www.` before it."""
    return host.removeprefix("www.")


def _format_url(text: str) -> str:
    """Return an address for a sentence: short, without control characters and credentials."""
    text = _USER.sub("//", text)
    short = text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."
    return "".join(character if character.isprintable() else "?" for character in short) or "An empty address"


def _read_host(netloc: str, scheme: str, shown: str) -> tuple[str, str]:
    """Return the host and `:port` of an address, the latter empty for the scheme's own."""
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]*))?", netloc, re.ASCII)
    if match is None:
        raise SourceError(f"{shown} is no valid address. Check the host and the port.")
    host, port = match.group(1), match.group(2)
    if port and not (len(port) <= 5 and 0 < int(port) <= _PORT_MAX):
        raise SourceError(f"{shown} names a port that does not exist. Ports go from 1 to 65535.")
    is_default = not port or int(port) == _DEFAULT_PORTS[scheme]
    suffix = "" if is_default else f":{int(port)}"
    if host.startswith("["):
        return _read_ipv6(host[1:-1], shown), suffix
    return _read_name(host, shown), suffix


def _read_ipv6(host: str, shown: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(host.replace('%', ' ')).compressed}]"  # no zones
    except ValueError:
        raise SourceError(f"{shown} holds no valid IPv6 address. Check the part in brackets.") from None


def _read_name(host: str, shown: str) -> str:
    name = _encode_name(host, shown).removesuffix(".")
    labels = name.split(".")
    if len(name) > _HOST_LENGTH_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise SourceError(f"{shown} names no valid host. Write it as in https://example.com/page.")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise SourceError(
                f"{shown} writes a numeric address in an unusual way. Write it as four numbers, as in 192.0.2.1."
            ) from None
    return name


def _encode_name(host: str, shown: str) -> str:
    if host.isascii():
        return host.lower()
    import idna  # noqa: PLC0415 - few addresses need its tables

    try:
        return idna.encode(host, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise SourceError(f"{shown} names no valid host. Check its spelling.") from None


def _clean_path(path: str) -> str:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedOrigins:
    """What may be fetched. Origins are written as `origin_of` returns them."""

    typed: frozenset[str] = frozenset()
    """Origins that a person typed: these alone may be private or loopback."""
    approved: frozenset[str] = frozenset()
    """Further origins that a person approved."""

    def allows(self, url: str) -> bool:
        """Return whether an address may be fetched."""
        return _is_among(origin_of(url), self.typed | self.approved)

    def may_be_local(self, url: str) -> bool:
        """Return whether an address may lead to this machine or its network."""
        return _is_among(origin_of(url), self.typed)


def _is_among(origin: str, allowed: frozenset[str]) -> bool:
    return origin in allowed or any(is_same_site(known, origin) for known in allowed)


def parse_origins(addresses: Sequence[str], option: str) -> frozenset[str]:
    """Return the origins of addresses that a person typed."""
    try:
        return frozenset(map(origin_of, addresses))
    except SourceError as error:
        raise UsageError(f"{option}: {error}") from None
