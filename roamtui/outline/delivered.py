"""How much of a document a model gets at once, and which parts it already has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from roamtui.text import Bounds, Span, merge_bounds, subtract_bounds

PART_TOKENS = 4_000
"""Size of a part of a long section, in tokens."""
WHOLE_TOKENS_MAX = 3_000
"""Maximum tokens of a subtree that a model gets whole when it opens a section."""


class SpanSet(Struct, frozen=True):
    """Parts of documents, such as all that a model has read."""

    bounds: Mapping[str, Sequence[Bounds]] = {}
    """The parts by the key of the document, in order. No two of them overlap or touch."""

    @classmethod
    def from_spans(cls, spans: Iterable[Span]) -> SpanSet:
        """Make the set of all characters in some spans."""
        bounds = defaultdict[str, list[Bounds]](list)
        for span in spans:
            bounds[span.doc].append((span.start, span.end))
        return cls({doc: merged for doc, each in bounds.items() if (merged := merge_bounds(each))})

    def __bool__(self) -> bool:
        return bool(self.bounds)

    def __iter__(self) -> Iterator[Span]:
        for doc, bounds in self.bounds.items():
            yield from (Span(doc=doc, start=start, end=end) for start, end in bounds)

    def __or__(self, spans: Iterable[Span]) -> SpanSet:
        """Return the set with some more spans."""
        return SpanSet.from_spans((*self, *spans))

    def subtract_from(self, span: Span) -> list[Span]:
        """Return the parts of a span that are not in the set, in order."""
        left = subtract_bounds(span.start, span.end, self.bounds.get(span.doc, ()))
        return [Span(doc=span.doc, start=start, end=end) for start, end in left]
