from __future__ import annotations

import pytest

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.chat.answer_view import Numbering
from roamtui.tui.chat.sources_view import SourcesView


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("once its [grace period](#grace-period) has ended", "once its grace period has ended"),
        ("see [a](https://example.org/a) or ![b](b.png)", "see a or b"),
        ("an array[0](x y) and [a]", "an array[0](x y) and [a]"),
    ],
)
def test_of_a_link_in_a_quote_the_words_are_shown(quote: str, shown: str) -> None:
    view = SourcesView(lambda section_id: f"Section {section_id}")
    citation = Citation(section_id="0a", quote=quote, state=QuoteState.EXACT)
    view.show_citations((citation,), Numbering())
    assert view.lay_out(100).plain.splitlines()[1] == f" 1 Section 0a · “{shown}”  ✓ in the text"
