"""Who changes what is open."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Who asks."""

    AGENT = "agent"
    PERSON = "person"
