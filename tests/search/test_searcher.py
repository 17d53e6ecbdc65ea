"""Hybrid search: fusion, neighbours and reranking, and what happens if a part fails."""

from collections.abc import Sequence
from typing import Any

import pytest

from roamtui.document.library import Library
from roamtui.errors import ModelError
from roamtui.search import searcher as searching
from roamtui.search.base import RetrievalOptions, SearchMode, SearchServices
from roamtui.search.searcher import Searcher
from tests.case_files import read_case
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import make_library

HANDBOOK = make_library(read_case("handbook_for_meaning.md"))


class ScriptedReranker:
    def __init__(self, order: tuple[int, ...] | None) -> None:
        self._order = order
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        self.asked.append((query, tuple(texts)))
        if self._order is None:
            raise ModelError("The model said nothing useful.")
        return self._order


def _make(options: dict[str, Any], library: Library = HANDBOOK, **services: Any) -> Searcher:  # noqa: ANN401
    retrieval = RetrievalOptions(**{"mode": SearchMode.HYBRID, "chunk_size": 200, **options})
    return Searcher(library, retrieval, SearchServices(**{"embedder": HashedEmbedder(), **services}))


def _find(searcher: Searcher, query: str, **limits: Any) -> list[str]:  # noqa: ANN401
    return [HANDBOOK.node(hit.section_id).title for hit in searcher.search(HANDBOOK, query, **limits)]


@pytest.mark.parametrize("mode", [SearchMode.VECTOR, SearchMode.HYBRID])
def test_a_query_that_shares_no_word_and_is_near_nothing_finds_nothing(mode: SearchMode) -> None:
    assert _find(_make({"mode": mode}), "zxqv blorp") == []


def test_the_piece_of_a_section_that_is_nearest_in_meaning_is_found() -> None:
    library = make_library("# Harbour\n\n" + "Boats lie here in the sun. " * 20 + "\n\nA lantern burns at the pier.\n")
    searcher = _make({}, library)
    for query, is_lantern in (("burning lanterns", True), ("boats in the sun", False)):
        (hit,) = searcher.search(library, query)
        assert hit.piece is not None
        assert ("lantern" in library.text_at(hit.piece)) is is_lantern
    assert Searcher(library).search(library, "boats")[0].piece is None


def test_the_model_reranks_the_first_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = ScriptedReranker((1,))
    plain = _find(_make({}), "late fees")
    monkeypatch.setattr(searching, "_RERANKED_COUNT", 2)
    searcher = _make({"rerank": "on"}, reranker=reranker)
    hits = searcher.search(HANDBOOK, "late fees")
    assert [HANDBOOK.node(hit.section_id).title for hit in hits] == [plain[1], plain[0], *plain[2:]]
    assert hits[0].why.endswith("model rank 1")
    assert "model rank" not in hits[1].why
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    query, texts = reranker.asked[0]
    assert query == "late fees"
    assert len(texts) == 2
    assert "Handbook > Paying > Late fees\n### Late fees\n\nA late fee" in texts[0]


def test_without_a_usable_answer_the_order_stays_with_one_warning() -> None:
    warnings: list[str] = []
    searcher = _make({"rerank": "on"}, reranker=ScriptedReranker(None), on_warning=warnings.append)
    assert _find(searcher, "late fees") == _find(_make({}), "late fees")
    _find(searcher, "late fees")
    assert warnings == [
        "The search results stay in their usual order, because ranking failed: The model said nothing useful."
    ]


def test_a_follow_up_is_embedded_with_the_topic_of_the_conversation() -> None:
    embedder = HashedEmbedder()
    searcher = _make({}, embedder=embedder)
    hit = searcher.search(HANDBOOK, "What else?", earlier=("Tell me about paying.", "Pay in time."))[0]
    assert "Paying: What else?" in embedder.asked
    assert "meaning rank 1" in hit.why
    hit = searcher.search(HANDBOOK, "What of late fees?")[0]
    assert embedder.asked[-1] == "What of late fees?"
    assert hit.why.startswith("text rank 1 · meaning rank ")


@pytest.mark.parametrize("fails_after", [0, 5])
def test_hybrid_search_falls_back_to_keywords_if_the_embedder_fails(fails_after: int) -> None:
    warnings: list[str] = []
    searcher = _make({}, embedder=HashedEmbedder(fails_after=fails_after), on_warning=warnings.append)
    assert _find(searcher, "late fees") == _find(_make({"mode": SearchMode.KEYWORD}), "late fees")
    _find(searcher, "late fees")
    assert warnings[0] == "Searched by words only, because search by meaning failed: The embedder is away; ask again."
    assert len(warnings) == len(set(warnings)) <= 2


def test_hits_are_of_the_library_that_is_searched_whatever_was_searched_before() -> None:
    searcher = _make({})
    grown = make_library(HANDBOOK.root.text + "\n## Kangaroos\n\nThey hop.\n")
    for library, is_found in ((HANDBOOK, False), (grown, True), (HANDBOOK, False)):
        titles = [library.node(hit.section_id).title for hit in searcher.search(library, "kangaroos hop")]
        assert ("Kangaroos" in titles) is is_found


@pytest.mark.parametrize("mode", [SearchMode.KEYWORD, SearchMode.VECTOR, SearchMode.HYBRID])
def test_a_statement_that_a_query_names_stays_first(mode: SearchMode) -> None:
    table = "| a | b |\n|---|---|\n" + "| c | 1 |\n" * 9
    text = f"## Balance sheet\n\n{table}\n## Speeds\n\nWhat the speed of a heron is: herons have a speed of 45.\n"
    library = make_library(f"# Birds\n\n{text}")
    searcher = _make({"mode": mode}, library)
    hits = searcher.search(library, "Which speed do herons have by the balance sheet?")
    assert library.node(hits[0].section_id).title == "Balance sheet"
    assert [hit.is_asked_for for hit in hits] == [True, *[False] * (len(hits) - 1)]
