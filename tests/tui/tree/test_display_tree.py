from __future__ import annotations

from dataclasses import replace

import pytest

from roamtui.document.parse import parse_document
from roamtui.tui.tree.display_tree import estimate_rows
from tests.real_documents import list_documents, read_document


def test_a_long_document_is_measured_without_counting_it() -> None:
    document = parse_document("# Title\n\n" + "Some words of text. " * 60_000)
    size = estimate_rows(document, 0, None)
    assert "tokens_before" not in vars(document)
    assert 0.95 < size / document.tokens_before[-1] < 1.05


def test_sizes_are_exact_once_tokens_are_counted() -> None:
    document = parse_document("# A\n\n" + "word " * 250_000 + "\n# B\n\nend\n")
    total = document.tokens_before[-1]
    assert estimate_rows(document, 0, None) == total
    assert estimate_rows(document, 0, 1) + estimate_rows(document, 1, 2) == total


def test_an_empty_document_has_no_size() -> None:
    assert estimate_rows(parse_document(""), 0, None) == 0


@pytest.mark.parametrize("name", list_documents("books/*.md"))
def test_sizes_of_books_are_near_the_truth(name: str) -> None:
    text = read_document(name)
    document = parse_document(text[:100_000])
    long_document = replace(document, text=str(document.text) + " " * 1_000_000)
    size = estimate_rows(long_document, 0, None)
    assert "tokens_before" not in vars(long_document)
    assert 0.7 < size / document.tokens_before[-1] < 1.4
