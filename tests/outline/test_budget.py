"""The outline keeps to its budget, whatever the document and the budget are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.tokens import estimate_tokens
from roamtui.outline.budget import OUTLINE_TOKENS_MAX, outline_budget
from roamtui.outline.render import render_outline
from tests.outline.documents import documents, make_library, make_shape, read_book, shapes
from tests.real_documents import list_documents

_BUDGETS = (300, 317, 400, 600, 1_000, 1_500, 2_500, 5_000, 12_000)
_BOOK_BUDGETS = (300, 1_500, 12_000)


def test_the_budget_is_a_share_of_the_window_up_to_a_limit() -> None:
    assert outline_budget(None) == OUTLINE_TOKENS_MAX == 12_000
    assert outline_budget(8_000) == 1_200
    assert outline_budget(80_000) == 12_000
    assert outline_budget(1_000_000) == 12_000


@pytest.mark.parametrize("shape", shapes())
def test_generated_documents_keep_to_the_budget(shape: str) -> None:
    library = make_shape(shape)
    for budget in _BUDGETS if len(library) < 5_000 else _BUDGETS[::3]:
        assert 0 < estimate_tokens(render_outline(library, budget_tokens=budget)) <= budget


@pytest.mark.parametrize("name", list_documents("books/*.md"))
def test_real_books_keep_to_the_budget_and_use_it(name: str) -> None:
    sizes = [estimate_tokens(render_outline(read_book(name), budget_tokens=budget)) for budget in _BOOK_BUDGETS]
    assert all(size <= budget for size, budget in zip(sizes, _BOOK_BUDGETS, strict=True))
    assert sizes[-1] > 2_500, "a book fills a good part of a full budget"


@settings(max_examples=settings().max_examples // 2)
@given(documents(), st.integers(300, 3_000))
def test_any_document_keeps_to_any_budget(text: str, budget: int) -> None:
    assert estimate_tokens(render_outline(make_library(text), budget_tokens=budget)) <= budget


def test_a_larger_budget_never_says_less() -> None:
    library = make_shape("five levels deep")
    lengths = [len(render_outline(library, budget_tokens=budget)) for budget in (300, 1_000, 4_000, 12_000)]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]
