"""`FetchedPage`: what an address gave."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """One page as it came, decompressed but not decoded."""

    url: str
    """The address that was asked for, normalised, without fragment."""
    final_url: str
    """Where it was found after all redirects."""
    media_type: str
    """In lower case, without parameters; empty where the site does not say it."""
    charset: str | None
    """What the site says of the encoding of its text."""
    body: bytes
    is_from_cache: bool
    """Whether the body was not transferred now."""
    notes: tuple[str, ...] = ()
    """What a person should know of it, one sentence each."""
