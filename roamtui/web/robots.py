"""Read which pages a site's robots.txt keeps from programs (RFC 9309), in bounded time.

protego multiplies the rules of a group by its user agents, and tries all rules with wildcards for each page.
Half a megabyte of either would take all memory or minutes.
"""

import re
from collections.abc import Iterator
from operator import itemgetter
from urllib.parse import quote, unquote, urlsplit

BYTES_MAX = 512_000
"""Bytes that are read: as many as RFC 9309 asks for."""
_USER_AGENT = "roamtui"
_PRODUCT = re.compile(r"[a-z_-]+|\*")
_PATTERN_SAFE = "/%:@!$&'()*+,;=~?"


class Robots:
    """The rules of a robots.txt for this program, and the sitemaps that it names."""

    def __init__(self, body: bytes = b"") -> None:
        self.is_cut = len(body) > BYTES_MAX
        """Whether the file is longer than what was read."""
        self.sitemaps: list[str] = []
        self._prefixes: dict[str, bool] = {}
        """Whether pages are allowed whose paths start with this."""
        self._wildcards: list[tuple[int, bool, re.Pattern[str]]] = []
        """Length, whether pages are allowed, and pattern of each rule with wildcards."""
        read = body[:BYTES_MAX].rpartition(b"\n")[0] if self.is_cut else body
        for is_allowed, pattern in self._iter_rules(read.decode("utf-8-sig", "replace")):
            self._add_rule(pattern, is_allowed=is_allowed)
        self._prefix_lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wildcards.sort(key=itemgetter(0, 1), reverse=True)

    def allows(self, url: str) -> bool:
        """Return whether this program may fetch a page: the longest rule decides, or else one that allows."""
        parts = urlsplit(url)
        path = _normalise(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        starts = (path[:length] for length in self._prefix_lengths if length <= len(path))
        prefix = next((start for start in starts if start in self._prefixes), "")
        length = len(prefix)
        is_allowed = self._prefixes.get(prefix, True)
        for rule_length, is_allowed_by_rule, pattern in self._wildcards:
            if rule_length < length:
                break
            if pattern.match(path):
                return is_allowed_by_rule or (is_allowed and rule_length == length)
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
        if "*" in normalised or normalised.endswith("$"):
            self._wildcards.append((len(normalised), is_allowed, _compile_pattern(normalised)))
        elif normalised:
            self._prefixes[normalised] = is_allowed or self._prefixes.get(normalised, False)


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with wildcards. Each but the last takes as little as it can, and never more later."""
    first, *rest = map(re.escape, pattern.removesuffix("$").split("*"))
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1])
    last = "".join(f".*{part}" for part in rest[-1:])
    end = r"\Z" if pattern.endswith("$") else ""
    return re.compile(f"{first}{middle}{last}{end}")


def _normalise(text: str) -> str:
    """Percent-encode a path or pattern in one way, so that equal ones are equal strings."""
    return quote(unquote(text, errors="replace"), safe=_PATTERN_SAFE)
