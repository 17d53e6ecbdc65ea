"""Format counts for sentences."""

from __future__ import annotations


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as ``1 section`` or ``2,000 sections``."""
    return f"1 {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"
