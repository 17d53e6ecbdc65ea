"""What is shown of a section that was found: the one sentence that answers best."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.search.sentences import best_sentences, find_opening

SNIPPET_LENGTH = 240
_SOURCE_LENGTH = 20_000
"""Characters of a very long section that are looked through."""
_TERM_START = 5
"""Letters of a term by which the part of a long section is chosen; what follows may be inflected."""


def make_snippet(text: str, terms: Sequence[str]) -> str:
    """Return the best sentence of a section's own text, else its first, on one line that is safe to display.

    Args:
        text: Markdown.
        terms: As `roamtui.search.terms.query_terms` gives them.
    """
    text = narrow_text(text, terms)
    best = best_sentences(text, terms, limit=1)
    sentence = best[0] if best else find_opening(text)
    if sentence is None:
        return ""
    return shorten(plain_line(text[sentence.start : sentence.end].replace("\n>", "\n")), SNIPPET_LENGTH)


def read_own_text(library: Library, section_id: str) -> str:
    """Return the text of a section from its heading to the next heading."""
    document, row = library.locate(section_id)
    starts = document.columns.starts
    return document.text[starts[row] : starts[row + 1]]


def narrow_text(text: str, terms: Sequence[str]) -> str:
    """Return a long text's part that holds most of the terms."""
    if len(text) <= _SOURCE_LENGTH:
        return text
    starts = [term[:_TERM_START] for term in terms]
    parts = (text[start : start + _SOURCE_LENGTH] for start in range(0, len(text), _SOURCE_LENGTH))
    return max(parts, key=lambda part: sum(start in part.lower() for start in starts))
