"""Sets of spans hold characters of documents, each once."""

from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.delivered import SpanSet
from roamtui.text import Span

_SPAN = st.builds(
    lambda doc, start, length: Span(doc=doc, start=start, end=start + length),
    st.sampled_from(["a", "b"]),
    st.integers(0, 12),
    st.integers(0, 6),
)
_SPANS = st.lists(_SPAN, max_size=6)


def _characters(*spans: Span) -> set[tuple[str, int]]:
    return {(span.doc, offset) for span in spans for offset in range(span.start, span.end)}


@given(_SPANS, _SPANS)
def test_a_union_has_the_characters_of_both(spans: list[Span], more: list[Span]) -> None:
    union = SpanSet.from_spans(spans) | more
    assert _characters(*union) == _characters(*spans, *more)
    assert bool(union) is bool(_characters(*union))


@given(_SPANS, _SPAN)
def test_what_is_left_of_a_span_is_what_the_set_lacks(spans: list[Span], span: Span) -> None:
    known = SpanSet.from_spans(spans)
    left = known.subtract_from(span)
    assert _characters(*left) == _characters(span) - _characters(*spans)
    assert (known | left).subtract_from(span) == []
