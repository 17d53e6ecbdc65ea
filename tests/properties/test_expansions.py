"""Any sequence of expansions delivers each character at most once, and delivers what it reports."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.delivered import SpanSet
from roamtui.outline.expansion import annotate_with_ids, render_section
from roamtui.outline.missing_text import has_text
from tests.outline.documents import NONCE, documents
from tests.search.libraries import make_library

_HALF = settings(max_examples=settings().max_examples // 2)


def _references(library: Library) -> st.SearchStrategy[str]:
    """Draw ids, pages, ranges and invalid references."""
    ids = [library.root_id, *library.walk()]
    return st.builds(
        lambda section_id, suffix: section_id + suffix,
        st.sampled_from(ids),
        st.sampled_from(["", "", "", ":1", ":2", ":3", ":0", ":99", ":c1", ":c1.1", ":c2", ":x"]),
    )


@_HALF
@given(documents(), st.data())
def test_no_character_is_delivered_twice_and_every_span_is_in_its_block(text: str, data: st.DataObject) -> None:
    library = make_library(text)
    delivered = SpanSet()
    for requested in data.draw(st.lists(_references(library), max_size=12)):
        block = render_section(library, requested, delivered=delivered, nonce=NONCE)
        assert block.text
        spans = [(span.start, span.end) for span in block.spans]
        assert all(delivered.subtract_from(span) == [span] for span in block.spans), "no overlap"
        texts = [annotate_with_ids(library, span, section_id=block.section_id) for span in block.spans]
        fenced = re.findall(rf"^<<<{NONCE}\n(.*?)\n{NONCE}>>>$", block.text, re.MULTILINE | re.DOTALL)
        assert [each for each in texts if each in fenced] == fenced
        only_named = (span for span, each in zip(block.spans, texts, strict=True) if each not in fenced)
        assert not any(has_text(library, span) for span in only_named)
        assert (block.tokens > 0) is bool(fenced)
        assert block.section_id is None or block.section_id in library
        if spans:
            subtree = library.node(requested.partition(":")[0]).span
            assert all(subtree.start <= start < end <= subtree.end for start, end in spans)
        delivered |= block.spans
