"""`Document`: one parsed file or page, a value of text and columns."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from roamtui.document.ids import make_ids
from roamtui.document.lines import find_line_starts
from roamtui.document.node import NodeKind
from roamtui.document.titles import make_slug
from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.document.columns import Columns
    from roamtui.document.text import DocumentText

_LEVEL_ZERO = re.compile(rb"\0")
"""Of all rows only preambles need to be looked at, and these have that level."""
_PIECE_LENGTH = 1 << 20
"""Characters that are encoded at once."""
_WIDE_MIN = 500
"""Children; those of a node with as many are looked for once."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """The text of one file or page, its nodes as columns, and what follows from them on demand."""

    key: str
    """Its key within the source, empty for a single document."""
    title: str
    text: DocumentText
    """Decoded source without byte order mark; own texts are slices of it."""
    columns: Columns
    url: str | None = None
    notes: tuple[str, ...] = ()
    """What was replaced or guessed while reading, one sentence each."""
    salt: str = ""
    """Part of all ids where those without it collide with an earlier file's."""
    page_starts: tuple[int, ...] = ()
    """Offset at which each page of a paged file begins, none for all others."""
    problem: str = ""
    """Why it could not be read, one sentence; it has neither text nor nodes then."""

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Id of each row."""
        is_listing = self.columns.has_files
        return tuple(make_ids(self.key, self.columns.paths(), salt=self.salt, is_listing=is_listing))

    @cached_property
    def rows_by_id(self) -> dict[str, int]:
        """Row of each id."""
        return {section_id: row for row, section_id in enumerate(self.ids)}

    @cached_property
    def title_row(self) -> int | None:
        """Row of the single top heading that holds everything, preambles beside it, None where there is none."""
        row = self.sole_row
        return row if row is not None and self.columns.ends[row] - row > 1 else None

    @cached_property
    def sole_row(self) -> int | None:
        """Row of the single heading at the top, of level 1, whether anything stands below it or not."""
        columns = self.columns
        preamble = NodeKind.PREAMBLE
        tops = list(islice((row for row in columns.children(-1) if columns.kinds[row] is not preamble), 2))
        if len(tops) != 1 or columns.kinds[tops[0]] is not NodeKind.SECTION or columns.levels[tops[0]] != 1:
            return None
        return tops[0]

    @cached_property
    def head_rows(self) -> int:
        """Number of rows before the first section below the title: opening text, and the title itself."""
        if self.sole_row is not None:
            return self.sole_row + 1
        return 1 if self.columns.kinds and self.columns.kinds[0] is NodeKind.PREAMBLE else 0

    @cached_property
    def hidden_ids(self) -> frozenset[str]:
        """Ids of preambles of nothing but white space: they exist for exact slices alone."""
        columns = self.columns
        return frozenset(
            self.ids[found.start()]
            for found in _LEVEL_ZERO.finditer(columns.levels)
            if columns.kinds[found.start()] is NodeKind.PREAMBLE and not self._read_row(found.start()).strip()
        )

    def _read_row(self, row: int) -> str:
        return self.text[self.columns.starts[row] : self.columns.starts[row + 1]]

    def list_children(self, row: int) -> tuple[str, ...]:
        """Return the ids of the rows directly below `row`; those at the top for -1."""
        known = self._wide_children.get(row)
        if known is None:
            ids = self.ids
            known = tuple([ids[child] for child in self.columns.children(row)])
            if len(known) >= _WIDE_MIN:
                self._wide_children[row] = known
        return known

    @cached_property
    def _wide_children(self) -> dict[int, tuple[str, ...]]:
        return {}

    @cached_property
    def anchors(self) -> dict[str, int]:
        """Row of each heading by its anchor, as GitHub makes them."""
        counts: dict[str, int] = {}
        rows: dict[str, int] = {}
        for row, title in enumerate(self.columns.titles):
            slug = make_slug(title)
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            rows.setdefault(f"{slug}-{count}" if count else slug, row)
        return rows

    def page_at(self, offset: int) -> int | None:
        """Return the 1-based page of the character at `offset`, None where there are no pages."""
        return max(1, bisect_right(self.page_starts, offset)) if self.page_starts else None

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


def hash_text(text: DocumentText) -> str:
    """Return a digest of `text` that is the same on every machine, as 32 hex digits."""
    digest = blake2b(digest_size=16)
    for start in range(0, len(text), _PIECE_LENGTH):
        digest.update(text[start : start + _PIECE_LENGTH].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
