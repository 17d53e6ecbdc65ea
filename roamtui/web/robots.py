"""Read which pages a site's robots.txt keeps from programs (RFC 9309), in bounded time.

protego multiplies the rules of a group by its user agents, and tries all rules with wildcards for each page.
Half a megabyte of either would take all memory or minutes.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

from msgspec import Struct

BYTES_MAX = 512_000
"""Bytes that are read: as many as RFC 9309 asks for."""
_USER_AGENT = "roamtui"
_PRODUCT = re.compile(r"[a-z_-]+|\*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_PATTERN_SAFE = "/%:@!$&'()*+,;=~?"


class _WildcardRule(Struct, frozen=True, kw_only=True):
    length: int
    is_allowed: bool
    parts: tuple[str, ...]
    """Text before, between and after the wildcards. The first and the last may be empty."""
    longest_part: str

    def matches(self, path: str) -> bool:
        """Find the parts from left to right, which takes time by the length of the path."""
        first, *rest = self.parts
        if not rest:
            return path == first
        *middle, last = rest
        if not (path.startswith(first) and path.endswith(last)):
            return False
        end = len(path) - len(last)
        position = len(first)
        for part in middle:
            position = path.find(part, position, end)
            if position < 0:
                return False
            position += len(part)
        return position <= end


class Robots:
    """The rules of a robots.txt for this program, and the sitemaps that it names."""

    def __init__(self, body: bytes = b"") -> None:
        self.is_cut = len(body) > BYTES_MAX
        """Whether the file is longer than what was read."""
        self.sitemaps: list[str] = []
        self._prefixes: dict[str, bool] = {}
        """Whether pages are allowed whose paths start with this."""
        self._wildcards: list[_WildcardRule] = []
        read = body[:BYTES_MAX].rpartition(b"\n")[0] if self.is_cut else body
        for is_allowed, pattern in self._iter_rules(read.decode("utf-8-sig", "replace")):
            self._add_rule(pattern, is_allowed=is_allowed)
        self._prefix_lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wildcards.sort(key=lambda rule: (rule.length, rule.is_allowed), reverse=True)

    def allows(self, url: str) -> bool:
        """Return whether this program may fetch a page: the longest rule decides, or else one that allows."""
        parts = urlsplit(url)
        path = _normalise(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        starts = (path[:length] for length in self._prefix_lengths if length <= len(path))
        prefix = next((start for start in starts if start in self._prefixes), "")
        length = len(prefix)
        is_allowed = self._prefixes.get(prefix, True)
        for rule in self._wildcards:
            if rule.length < length:
                break
            if rule.longest_part in path and rule.matches(path):
                return rule.is_allowed or (is_allowed and rule.length == length)
        return is_allowed

    def _iter_rules(self, text: str) -> Iterator[tuple[bool, str]]:
        """Yield the rules of the groups for this program, or else for all programs. Collect the sitemaps."""
        rules: dict[str, list[tuple[bool, str]]] = {}
        agents: set[str] = set()
        has_rules = False
        for line in text.splitlines():
            name, _, rest = line.partition("#")[0].partition(":")
            field = name.strip().lower()
            value = rest.strip()
            if field == "user-agent":
                agents = set() if has_rules else agents
                has_rules = False
                product = _PRODUCT.match(value.lower())
                if product and product[0] in (_USER_AGENT, "*"):
                    agents.add(product[0])
                    rules.setdefault(product[0], [])
            elif field in ("allow", "disallow"):
                has_rules = True
                for agent in agents:
                    rules[agent].append((field == "allow", value))
            elif field == "sitemap":
                self.sitemaps.append(value)
        yield from rules.get(_USER_AGENT, rules.get("*", ()))

    def _add_rule(self, pattern: str, *, is_allowed: bool) -> None:
        normalised = _normalise(pattern)
        length = len(normalised)
        has_end = normalised.endswith("$")
        if not length:
            return
        if "*" not in normalised and not has_end:
            self._prefixes[normalised] = is_allowed or self._prefixes.get(normalised, False)
            return
        whole = normalised[:-1] if has_end else f"{normalised}*"
        parts = tuple(whole.split("*"))
        longest = max(parts, key=len)
        rule = _WildcardRule(length=length, is_allowed=is_allowed, parts=parts, longest_part=longest)
        self._wildcards.append(rule)


def _normalise(text: str) -> str:
    """Percent-encode a path or pattern in one way, so that equal ones are equal strings."""
    return _ESCAPE.sub(_normalise_escape, quote(text, safe=_PATTERN_SAFE, errors="replace"))


def _normalise_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if _UNRESERVED.match(character) else escape[0].upper()
