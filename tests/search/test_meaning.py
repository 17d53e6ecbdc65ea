"""Search by words with a second opinion by meaning."""

import pytest

from roamtui.document.library import Library
from roamtui.search.base import RetrievalOptions, Searcher, SearchServices
from roamtui.search.hybrid import make_searcher
from roamtui.search.meaning import MeaningOrder
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import id_of, make_library

LIBRARY = make_library(
    "# Handbook\n\n"
    "## Lending\n\nA member borrows a bicycle for a week. A bicycle has a bell. A bicycle is blue.\n\n"
    "## Repairs\n\nBicycle repairing: whoever breaks it, repairs it.\n\n"
    "## Roses\n\nWater them.\n"
)
QUERY = "bicycle repairing"


def make(
    embedder: HashedEmbedder | None,
    library: Library = LIBRARY,
    *,
    warnings: list[str] | None = None,
    is_ahead: bool = False,
) -> Searcher:
    """Return a search by words, and by meaning if there is an embedder; it may have embedded everything ahead."""
    services = SearchServices(meaning=embedder, on_warning=None if warnings is None else warnings.append)
    searcher = make_searcher(library, RetrievalOptions(), services)
    assert searcher is not None
    while is_ahead and searcher.embed_ahead():
        pass
    return searcher


def test_meaning_orders_the_hits_of_words_and_says_so() -> None:
    embedder = HashedEmbedder()
    hits = make(embedder).search(QUERY)
    assert {hit.section_id for hit in hits} == {hit.section_id for hit in make(None).search(QUERY)}
    assert hits[0].score == 1.0
    assert "meaning rank 1" in hits[0].why
    assert hits[0].similarity == max(hit.similarity or 0 for hit in hits) > 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert embedder.asked[0] == QUERY


def test_after_embedding_ahead_only_the_query_is_left_to_embed() -> None:
    embedder = HashedEmbedder()
    searcher = make(embedder, is_ahead=True)
    count = len(embedder.asked)
    assert count == len(set(embedder.asked)) > 0
    searcher.search(QUERY)
    assert embedder.asked[count:] == [QUERY]


@pytest.mark.parametrize(
    ("text", "fails_after"),
    [
        pytest.param("# Book\n\n" + "A bicycle has a bell. " * 100_000, None, id="long"),
        pytest.param("# Buch\n\nDas Fahrrad ist nicht blau und wird auch geliehen.\n", None, id="language"),
        pytest.param("# Book\n\nA bicycle has a bell.\n", 0, id="failure"),
    ],
)
def test_nothing_is_embedded_ahead_in_vain(text: str, fails_after: int | None) -> None:
    embedder = HashedEmbedder(fails_after=fails_after)
    assert not make(embedder, make_library(text)).embed_ahead()
    assert embedder.asked == []


def test_a_model_that_fails_costs_only_its_opinion() -> None:
    warnings: list[str] = []
    failing = make(HashedEmbedder(fails_after=0), warnings=warnings)
    assert failing.search(QUERY) == make(None).search(QUERY)
    assert warnings == ["Searched by words only, because search by meaning failed: The embedder is away; ask again."]


def test_an_english_model_has_no_opinion_on_german_questions() -> None:
    embedder = HashedEmbedder()
    make(embedder).search("Wie repariere ich das bicycle und wer bezahlt?")
    assert embedder.asked == []


def test_after_the_deadline_words_decide() -> None:
    searcher = make(None)
    ranking = searcher.rank(QUERY, limit=10)  # type: ignore[attr-defined]
    store = searcher.prepare().store  # type: ignore[attr-defined]
    assert MeaningOrder(HashedEmbedder(), 600, seconds_max=-1.0).order(QUERY, ranking, store) == ranking.hits


def test_once_all_is_embedded_sections_near_in_meaning_are_found_too_but_never_instead_of_a_phrase() -> None:
    text = "# Club\n\n## Fees\n\nA bicycle costs 5 crowns.\n\n## Bicyclists\n\nBicyclists ride.\n\n## Tea\n\nHot.\n"
    library = make_library(text)
    titles = ("Fees", "Bicyclists")
    first = [hit.section_id for hit in make(HashedEmbedder(), library).search("bicycle")]
    searcher = make(HashedEmbedder(), library, is_ahead=True)
    hits = searcher.search("bicycle")
    assert first == [id_of(library, "Fees")]
    assert [hit.section_id for hit in hits] == [id_of(library, title) for title in titles]
    assert hits[1].why == "meaning rank 1"
    assert [hit.section_id for hit in searcher.search('"bicycle costs"')] == first
    assert [hit.section_id for hit in searcher.search("bicycle", within=first[0])] == first


def test_a_search_within_the_statement_that_its_query_names_finds_the_statement() -> None:
    table = "| (in millions) | 2022 |\n|---|---|\n" + "| Cash | 7,000 |\n" * 12
    library = make_library(f"# Heron annual report\n\nHeron lends.\n\n## Balance Sheets\n\n{table}")
    statement = id_of(library, "Balance Sheets")
    hits = make(HashedEmbedder(), library, is_ahead=True).search("What is the quick ratio?", within=statement)
    assert [(hit.section_id, hit.is_named) for hit in hits] == [(statement, True)]
