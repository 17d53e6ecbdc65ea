"""How much of a document a model gets at once, and which parts it already has."""

from collections.abc import Iterable, Mapping, Sequence

from roamtui.document.library import Library
from roamtui.markdown.units import UnitKind, read_units
from roamtui.text import Bounds, Span, estimate_tokens, subtract_bounds

PART_TOKENS = 4_000
"""Size of a part of a long section, in tokens."""
WHOLE_TOKENS_MAX = 3_000
"""Maximum tokens of a subtree that a model gets whole when it opens a section."""
_HEADINGS_LENGTH_MAX = 2_000
"""Maximum length, in characters, of a part of a section that is parsed to see if it has only headings."""
Delivered = Mapping[str, Sequence[Bounds]]
"""Ranges of characters that the model already has, by the key of the document."""


def subtract_delivered(span: Span, delivered: Delivered) -> list[Span]:
    """Return the parts of a span that the model does not have yet, in order."""
    left = subtract_bounds(span.start, span.end, delivered.get(span.doc, ()))
    return [Span(doc=span.doc, start=start, end=end) for start, end in left]


def add_delivered(delivered: dict[str, list[Bounds]], spans: Iterable[Span]) -> None:
    """Add spans to the ranges that the model has."""
    for span in spans:
        delivered.setdefault(span.doc, []).append((span.start, span.end))


def join_delivered(delivered: Delivered, spans: Iterable[Span]) -> dict[str, list[Bounds]]:
    """Return a copy of `delivered` with some more spans."""
    joined = {doc: [*bounds] for doc, bounds in delivered.items()}
    add_delivered(joined, spans)
    return joined


def join_all(*parts: Delivered) -> dict[str, list[Bounds]]:
    """Return the ranges of several mappings."""
    joined: dict[str, list[Bounds]] = {}
    for part in parts:
        for doc, bounds in part.items():
            joined.setdefault(doc, []).extend(bounds)
    return joined


def list_missing_text(library: Library, span: Span, delivered: Delivered) -> list[Span]:
    """Return the parts of a span that the model lacks, in order, without those that have only headings.

    If the model has nothing of the span, return all of it.
    """
    left = subtract_delivered(span, delivered)
    if left == [span]:
        return left
    return [part for part in left if part.end - part.start > _HEADINGS_LENGTH_MAX or has_text(library, part)]


def has_all_text(library: Library, span: Span, delivered: Delivered) -> bool:
    """Return whether some of a span is delivered, and the rest has only headings."""
    return span.start < span.end and not list_missing_text(library, span, delivered)


def has_text(library: Library, span: Span) -> bool:
    """Return whether a span contains text other than headings."""
    text = library.clean_text(span)
    if not text.strip():  # as between most paragraphs
        return False
    return any(unit.kind is not UnitKind.HEADING for unit in read_units(text).units)


def count_span_tokens(library: Library, spans: Iterable[Span]) -> int:
    """Estimate the tokens of some spans of text."""
    return sum(estimate_tokens(library.text_at(span)) for span in spans)
