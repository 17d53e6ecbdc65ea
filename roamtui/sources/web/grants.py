"""`Grants`: the origins that a person allowed."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.sources.web.address import is_same_site, origin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What may be fetched. Origins are written as `origin_of` returns them."""

    typed: frozenset[str] = frozenset()
    """Origins that a person typed: these alone may be private or loopback."""
    approved: frozenset[str] = frozenset()
    """Further origins that a person approved."""

    def covers(self, url: str) -> bool:
        """Return whether an address may be fetched."""
        return _is_among(origin_of(url), self.typed | self.approved)

    def may_be_local(self, url: str) -> bool:
        """Return whether an address may lead to this machine or its network."""
        return _is_among(origin_of(url), self.typed)


def _is_among(origin: str, granted: frozenset[str]) -> bool:
    return origin in granted or any(is_same_site(known, origin) for known in granted)
