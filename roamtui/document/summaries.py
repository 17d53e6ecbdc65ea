"""Which summary belongs to a document or a section: the one that was written of the very same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.document import hash_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.document.document import Document


def find_row_summary(document: Document, row: int, summaries: Mapping[str, str]) -> str:
    """Return what was written of a section with all below it, and of a document at its first row; empty without.

    Args:
        document: Holds the section.
        row: Its place there.
        summaries: By the digest of the text that they are of, as `hash_text` gives it.
    """
    if not summaries:
        return ""
    columns = document.columns
    digests = [hash_text(document.text[columns.starts[row] : columns.starts[columns.ends[row]]])]
    if row == 0:
        digests.append(document.content_hash)
    return "\n".join(summaries[digest] for digest in dict.fromkeys(digests) if digest in summaries)
