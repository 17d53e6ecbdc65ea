"""What a site says of how its answers may be kept: whether at all, and how long without asking again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIRECTIVE = re.compile(r"\s*([a-z-]{1,40})\s*(?:=\s*\"?([^\",]{0,40})\"?)?\s*")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


def may_store(headers: Mapping[str, str]) -> bool:
    """Return whether an answer may be kept for its own user. Names of headers are in lower case."""
    return "no-store" not in _read_directives(headers) and headers.get("vary", "").strip() != "*"


def find_fresh_seconds(headers: Mapping[str, str], seconds_max: float) -> float:
    """Return for how long an answer may be used without asking again."""
    directives = _read_directives(headers)
    if "no-cache" in directives:
        return 0.0
    fresh = read_seconds(directives.get("max-age", "")) or 0.0
    age = read_seconds(headers.get("age", "")) or 0.0
    return max(0.0, min(fresh - age, seconds_max))


def read_seconds(text: str) -> float | None:
    """Return a number of seconds as HTTP writes it, None where the text is none."""
    return float(text) if _SECONDS.fullmatch(text.strip()) else None


def _read_directives(headers: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in headers.get("cache-control", "").lower().split(","):
        match = _DIRECTIVE.fullmatch(part)
        if match:
            found.setdefault(match.group(1), match.group(2) or "")
    return found
