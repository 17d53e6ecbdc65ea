"""`Document`: one parsed file or page, a value of text and columns."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from roamtui.document.ids import make_ids
from roamtui.document.lines import find_line_starts
from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.document.columns import Columns


@dataclass(frozen=True, kw_only=True)
class Document:
    """The text of one file or page, its nodes as columns, and what follows from them on demand."""

    key: str
    """Its key within the source, empty for a single document."""
    title: str
    text: str
    """Decoded source without byte order mark; own texts are slices of it."""
    columns: Columns
    url: str | None = None
    notes: tuple[str, ...] = ()
    """What was replaced or guessed while reading, one sentence each."""
    salt: str = ""
    """Part of all ids where those without it collide with an earlier file's."""

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Id of each row."""
        return tuple(make_ids(self.key, self.columns.paths(), salt=self.salt))

    @cached_property
    def rows_by_id(self) -> dict[str, int]:
        """Row of each id."""
        return {section_id: row for row, section_id in enumerate(self.ids)}

    @cached_property
    def line_starts(self) -> array[int]:
        """Offset of each line's first character."""
        return find_line_starts(self.text)

    @cached_property
    def own_tokens(self) -> array[int]:
        """Estimated tokens of each row's own text."""
        starts = self.columns.starts
        return array(
            "Q",
            (estimate_tokens(self.text[starts[row] : starts[row + 1]]) for row in range(len(self.columns))),
        )

    @cached_property
    def tokens_before(self) -> array[int]:
        """Estimated tokens of all own texts before each row; one more entry holds the whole document's."""
        total = 0
        sums = array("Q", [0])
        for tokens in self.own_tokens:
            total += tokens
            sums.append(total)
        return sums

    @cached_property
    def content_hash(self) -> str:
        """Digest of the text, to tell whether a document has changed."""
        return hash_text(self.text)


def hash_text(text: str) -> str:
    """Return a digest of `text` that is the same on every machine, as 32 hex digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
