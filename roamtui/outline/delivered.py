"""How much of a document a model gets at once, and which parts it already has."""

from collections.abc import Iterable, Mapping, Sequence

from roamtui.text import Bounds, Span, subtract_bounds

PART_TOKENS = 4_000
"""Size of a part of a long section, in tokens."""
WHOLE_TOKENS_MAX = 3_000
"""Maximum tokens of a subtree that a model gets whole when it opens a section."""
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
