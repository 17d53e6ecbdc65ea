"""What a site's robots.txt asks of this program: a pause between requests.

Pages are fetched one by one because a person or their question needs them, not crawled, so its lists of paths are
not read.
"""

from __future__ import annotations

import math

from roamtui.sources.web.freshness import read_seconds

ROBOTS_BYTES_MAX = 500_000
"""As much of the file as RFC 9309 wants to be read."""
ROBOTS_ACCEPT = "text/plain, */*;q=0.1"
ROBOTS_FRESH_SECONDS = 86_400.0
"""The file may be used for a day without asking again (RFC 9309)."""
_AGENT = "roamtui"
_FRACTION_DIGITS_MAX = 3


def find_crawl_delay(text: str) -> float:
    """Return the pause in seconds that robots.txt asks of this program, else of everyone; 0 for none."""
    delays: dict[str, float] = {}
    agents: list[str] = []
    is_list_open = False
    for line in text.splitlines():
        name, mark, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip().lower()
        if not mark or not name:
            continue
        if name == "user-agent":
            agents = [*agents, value] if is_list_open else [value]
            is_list_open = True
            continue
        is_list_open = False
        delay = _read_delay(value) if name == "crawl-delay" else None
        if delay is not None:
            delays |= dict.fromkeys(agents, delay)
    return delays.get(_AGENT, delays.get("*", 0.0))


def _read_delay(text: str) -> float | None:
    whole, mark, fraction = text.partition(".")
    seconds = read_seconds(whole or "0")
    if seconds is None or (mark and not (fraction.isascii() and fraction.isdigit())):
        return None
    delay = seconds + (float(f"0.{fraction[:_FRACTION_DIGITS_MAX]}") if mark else 0.0)
    return delay if math.isfinite(delay) else None
