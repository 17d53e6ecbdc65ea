"""Which text of a span a model lacks. Headings alone are no text."""

from collections.abc import Iterable

from roamtui.document.library import Library
from roamtui.markdown.units import UnitKind, read_units
from roamtui.outline.delivered import SpanSet
from roamtui.text import Span, estimate_tokens

_HEADINGS_LENGTH_MAX = 2_000
"""Maximum length, in characters, of a part of a section that is parsed to see if it has only headings."""


def list_missing_text(library: Library, span: Span, delivered: SpanSet) -> list[Span]:
    """Return the parts of a span that the model lacks, in order, without those that have only headings.

    If the model has nothing of the span, return all of it.
    """
    left = delivered.subtract_from(span)
    if left == [span]:
        return left
    return [part for part in left if part.end - part.start > _HEADINGS_LENGTH_MAX or has_text(library, part)]


def has_all_text(library: Library, span: Span, delivered: SpanSet) -> bool:
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
