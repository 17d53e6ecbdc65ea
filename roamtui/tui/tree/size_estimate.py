"""Sizes of sections for display, without counting all tokens of a document before its first line can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.document.document import Document

_COUNTED_DOCUMENT_LENGTH_MAX = 1_000_000
"""Characters; shorter documents are counted as a whole in the time that nobody notices."""
_COUNTED_LENGTH_MAX = 20_000
"""Characters; of a longer section as many are counted, and the rest is taken to be like them."""


def estimate_rows(document: Document, first: int, end: int | None) -> int:
    """Return the estimated tokens of the rows `first` to `end` of a document, to its end for None.

    They are exact unless the document is long and its tokens have not been counted yet.
    """
    columns = document.columns
    last = len(columns) if end is None else end
    if "tokens_before" in vars(document) or len(document.text) <= _COUNTED_DOCUMENT_LENGTH_MAX:
        return document.tokens_before[last] - document.tokens_before[first]
    start, length = columns.starts[first], columns.starts[last] - columns.starts[first]
    counted = estimate_tokens(document.text[start : start + min(length, _COUNTED_LENGTH_MAX)])
    return counted if length <= _COUNTED_LENGTH_MAX else counted * length // _COUNTED_LENGTH_MAX
