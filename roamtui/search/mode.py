"""The ways to search."""

from __future__ import annotations

from enum import StrEnum


class SearchMode(StrEnum):
    """How sections are found."""

    OFF = "off"
    """Not at all: the outline alone shows the way."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"
