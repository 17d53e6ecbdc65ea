"""Secrets of the environment out of what is written to a file, also where they come in pieces."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.models.keys import find_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MASK = "[redacted]"


@dataclass(frozen=True, slots=True)
class Secrets:
    """Values that no file may hold, the longest first."""

    values: tuple[str, ...]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Secrets:
        """Return the values of variables that are named like secrets."""
        values = {form for value in find_secrets(environ) for form in _list_forms(value)}
        return cls(tuple(sorted(values, key=lambda value: (-len(value), value))))

    def redact(self, value: object) -> object:
        """Return a JSON value with a mask in place of every secret in its texts."""
        if isinstance(value, str):
            return self.redact_pieces((value,))[0]
        if isinstance(value, dict):
            return {name: self.redact(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.redact(item) for item in value]
        return value

    def redact_pieces(self, pieces: tuple[str, ...]) -> tuple[str, ...]:
        """Return as many pieces of a text, without the secrets that it holds as a whole."""
        text = "".join(pieces)
        for start, end in reversed(self._find(text)):
            pieces = tuple(_cut(pieces, start, end))
        return pieces

    def count_open(self, text: str) -> int:
        """Return the length of the longest end of `text` with which a secret may begin."""
        return max((_count_overlap(text, value) for value in self.values), default=0)

    def _find(self, text: str) -> list[tuple[int, int]]:
        if not any(value in text for value in self.values):
            return []
        pattern = "|".join(re.escape(value) for value in self.values)
        return [match.span() for match in re.finditer(pattern, text)]


def _list_forms(value: str) -> Iterator[str]:
    """Yield a secret as it is, and as it stands in JSON: a call's arguments are such a text."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]


def _cut(pieces: tuple[str, ...], start: int, end: int) -> Iterator[str]:
    """Yield pieces of a text without the range of it, which a mask replaces in the piece where it begins."""
    offset = 0
    for piece in pieces:
        first, last = max(0, start - offset), max(0, end - offset)
        mask = MASK if offset <= start < offset + len(piece) else ""
        yield piece[:first] + mask + piece[last:]
        offset += len(piece)


def _count_overlap(text: str, value: str) -> int:
    longest = min(len(value) - 1, len(text))
    return next((count for count in range(longest, 0, -1) if text.endswith(value[:count])), 0)
