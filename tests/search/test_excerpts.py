"""Excerpts of sections: the best sentences with their context, and snippets."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.tokens import estimate_tokens
from roamtui.search.excerpts import select_excerpt
from roamtui.search.terms import extract_query_terms
from tests.outline.documents import documents

_FILLER = "Some words that say nothing of it. "
_ROWS = "".join(f"| {name} | {number} crowns |\n" for number, name in enumerate(("Otter", "Vole", "Crane") * 20))


def _excerpts(text: str, query: str, tokens_max: int = 60) -> list[str]:
    return [text[start:end] for start, end in select_excerpt(text, extract_query_terms(query), tokens_max=tokens_max)]


def test_a_short_text_is_returned_whole_without_its_heading() -> None:
    assert _excerpts("## Fees\n\nIt costs 2 euros.\n\nBut not on Mondays.\n", "costs") == [
        "It costs 2 euros.\n\nBut not on Mondays."
    ]


@pytest.mark.parametrize("text", ["", "## Fees\n", "Fees\n----\n\n\n"])
def test_a_bare_heading_has_no_excerpt(text: str) -> None:
    assert _excerpts(text, "fees") == []


def test_the_best_sentence_of_a_long_text_comes_with_its_context() -> None:
    text = f"## Fees\n\n{_FILLER * 40}\n\nA heron costs 2 euros.\n\nBut not on Mondays.\n\n{_FILLER * 40}\n"
    found = "\n".join(_excerpts(text, "what does a heron cost"))
    assert "A heron costs 2 euros.\n\nBut not on Mondays." in found
    assert estimate_tokens(found) <= 60


def test_a_row_comes_with_the_totals_of_its_table() -> None:
    table = f"| Animal | Price |\n|---|---|\n{_ROWS}| Beaver | 99 crowns |\n{_ROWS}| **Total** | 7 crowns |\n"
    found = "\n".join(_excerpts(f"## Prices\n\n{_FILLER * 20}\n\n{table}", "price of a beaver"))
    assert "| Beaver | 99 crowns |" in found
    assert "| **Total** | 7 crowns |" in found


def test_code_is_whole_or_comes_with_its_fences() -> None:
    code = "```python\nadd_heron(\n    1,\n)\n```"
    text = f"## Fees\n\n{_FILLER * 40}\n\n{code}\n\n{_FILLER * 40}\n"
    assert _excerpts(text, "add_heron")[0].endswith(code)
    lines = "".join(f"bird_{number} = {number}\n" for number in range(60))
    text = f"## Fees\n\n{_FILLER * 40}\n\n```python\n{lines}add_heron(1)\n{lines}```\n\n{_FILLER * 40}\n"
    opening, middle, closing = _excerpts(text, "add_heron")
    assert (opening, closing) == ("```python", "```")
    assert "add_heron(1)\nbird_0 = 0" in middle


@example("# Fees\n\nOne.\n\n# Fees\n\nword7919 word7950 word7981 word8012 word8043\n\n", "word7", 20)
@given(documents(), st.sampled_from(["word7", "fees late", "nothing of it"]), st.integers(20, 200))
def test_spans_are_in_order_and_never_blank(text: str, query: str, tokens_max: int) -> None:
    bounds = select_excerpt(text, extract_query_terms(query), tokens_max=tokens_max)
    ends = [0, *(end for _, end in bounds)]
    assert all(before <= start < end <= len(text) for before, (start, end) in zip(ends, bounds, strict=False))
    assert all(text[start:end].strip() for start, end in bounds)
