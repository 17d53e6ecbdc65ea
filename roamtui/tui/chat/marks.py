"""Citation marks in an answer: which sections `[a8a96034]` names, and the numbers under which they are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.agent.marks import MARK, MARKED_ID

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Mark:
    """One bracket in an answer."""

    start: int
    end: int
    section_ids: tuple[str, ...]
    """Without the numbers of pages and ranges."""


def find_marks(text: str) -> Iterator[Mark]:
    """Yield the citation marks of `text` in order."""
    for match in MARK.finditer(text):
        ids = tuple(dict.fromkeys(MARKED_ID.findall(match.group())))
        yield Mark(match.start(), match.end(), ids)


@dataclass(slots=True)
class Numbering:
    """Numbers sections in the order in which an answer names them first; a number never changes."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def number_of(self, section_id: str) -> int:
        """Return the number of a section, the next free one for a new section."""
        return self._numbers.setdefault(section_id, len(self._numbers) + 1)

    def __len__(self) -> int:
        return len(self._numbers)
