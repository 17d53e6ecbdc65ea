"""What fetching takes: its limits; what it gives: a page."""

from __future__ import annotations

from dataclasses import dataclass

import roamtui

DEFAULT_ACCEPT = "text/markdown, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"
USER_AGENT = f"roamtui/{roamtui.__version__} (+https://pypi.org/project/roamtui/)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Limits of every fetch. Times are in seconds."""

    is_offline: bool = False
    """Whether the cache alone is used."""
    is_checking: bool = False
    """Whether sites are asked if a page has changed even where they said that it would not yet."""
    connect_seconds_max: float = 10.0
    read_seconds_max: float = 15.0
    """From one piece of an answer to the next."""
    total_seconds_max: float = 60.0
    """For a fetch with all its redirects and retries, without the wait for its turn."""
    body_bytes_max: int = 32_000_000
    """After decompression."""
    redirects_max: int = 5
    connections_per_host: int = 8
    """One, where the site's robots.txt asks for a pause between requests."""
    retries_max: int = 2
    """After a 429 or 503."""
    retry_seconds_max: float = 10.0
    """The longest wait before a retry; a site that asks for more is not asked again."""
    robots_seconds_max: float = 3.0
    """For reading robots.txt, once per origin."""
    crawl_delay_seconds_max: float = 2.0
    """The longest pause between requests that a site gets."""
    fresh_seconds_max: float = 300.0
    """How long a page is used without asking the site again, if the site allows it."""
    cache_bytes_max: int = 500_000_000
    user_agent: str = USER_AGENT


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
