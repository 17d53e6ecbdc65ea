"""Questions in everyday words, written with the sections that answer them by somebody who had not seen the code."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from roamtui.bootstrap import open_library
from roamtui.document.library import Library
from roamtui.models.local_embedder import find_installed_embedder
from roamtui.search.base import RetrievalOptions, SearchServices
from roamtui.search.searcher import Searcher
from tests.real_documents import PROJECT_DIR

pytest.importorskip("onnxruntime")
_HANDBOOK = "examples/handbook.md"


def _iter_questions() -> Iterator[dict[str, Any]]:
    for line in (PROJECT_DIR / "tests" / "cases" / "everyday.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        if question["document"] == _HANDBOOK and question["paths"]:
            yield question


def _count_found(searcher: Searcher, library: Library, count: int) -> int:
    """Return for how many questions a right section is among the first `count`."""
    found = 0
    for question in _iter_questions():
        earlier = [question["before"]] if "before" in question else []
        hits = searcher.search(library, question["question"], limit=count, earlier=earlier)
        found += any([*library.node(hit.section_id).path] in question["paths"] for hit in hits)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("packaged_model")
def test_words_and_meaning_find_what_people_ask_in_their_own_words() -> None:
    library = open_library([str(PROJECT_DIR / _HANDBOOK)])
    embedder = find_installed_embedder()
    words = Searcher(library, RetrievalOptions())
    both = Searcher(library, RetrievalOptions(), SearchServices(embedder=embedder, needs_all_vectors=True))
    assert embedder is not None
    assert _count_found(both, library, 5) >= 10 > _count_found(words, library, 5), "of 14 questions"
