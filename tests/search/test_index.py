"""The index numbers nodes in document order and knows what lies below each."""

from __future__ import annotations

import gc
import sqlite3

import pytest

from roamtui.search.index import SectionIndex, SectionStore
from tests.search.libraries import id_of, make_library

_WEIGHTS = (3.0, 1.0, 1.0, 2.0, 0.3)


def test_numbers_follow_the_document() -> None:
    library = make_library("Before.\n\n# One\n\n## Two\n\n### Three\n\n## Four\n\n# Five\n")
    index = SectionIndex(library)
    assert [index.id_of(number) for number in range(len(index))] == list(library.walk())
    assert [index.title(number) for number in range(len(index))] == ["", "One", "Two", "Three", "Four", "Five"]
    assert [index.layout.parent(number) for number in range(len(index))] == [-1, -1, 1, 2, 1, -1]
    assert [index.layout.subtree(number).stop for number in range(len(index))] == [1, 5, 4, 4, 5, 6]
    assert index.number_of(id_of(library, "Two")) == 2
    assert index.number_of("nowhere") is None


def test_memory_is_given_back_with_the_index() -> None:
    index = SectionIndex(make_library("# One\n"))
    assert isinstance(index.store, SectionStore)
    connection = index.store._connection
    del index
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
