"""How much of a library is compared by meaning: what is embedded when, kept, and said."""

from pathlib import Path
from typing import Any

import pytest

from roamtui.document.library import Library
from roamtui.errors import UsageError
from roamtui.search import searcher as searching
from roamtui.search.base import IndexLostError, RetrievalOptions, SearchMode, SearchServices, VectorCoverage
from roamtui.search.index import IndexLocation
from roamtui.search.searcher import Searcher
from roamtui.search.section_store import SectionStore
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import make_folder, make_library

LIBRARY = make_library(
    "# Club\n\nFor all.\n\n## Fees\n\nA bicycle costs 5 crowns.\n\n## Bicyclists\n\nBicyclists ride.\n\n"
    "## Tea\n\nHot.\n\n"
    + "".join(f"## Rule {number}\n\nRule {number} of the club is long.\n\n" for number in range(12))
)
TOTAL = 16
_ADVICE = "`roamtui index` with the same source compares all."


class Place:
    """A folder for indexes, and what was said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[str] = []

    def open(
        self,
        embedder: HashedEmbedder | None,
        mode: SearchMode = SearchMode.HYBRID,
        library: Library = LIBRARY,
        **services: Any,  # noqa: ANN401
    ) -> Searcher:
        given = SearchServices(embedder=embedder, on_warning=self.warnings.append, **services)
        location = IndexLocation(folder=self.folder, on_warning=self.warnings.append)
        return Searcher(library, RetrievalOptions(mode=mode), given, location)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "indexes")


def _list_titles(searcher: Searcher, query: str, **limits: Any) -> list[str]:  # noqa: ANN401
    return [LIBRARY.node(hit.section_id).title for hit in searcher.search(LIBRARY, query, **limits)]


@pytest.fixture
def is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question wait for one batch only."""
    monkeypatch.setattr(searching, "_SECONDS_MAX", -1.0)


def test_a_small_library_is_embedded_whole_at_the_first_search_and_kept(place: Place) -> None:
    first = place.open(HashedEmbedder())
    assert _list_titles(first, "bicycle")[:2] == ["Fees", "Bicyclists"]
    assert first.vector_coverage == VectorCoverage(TOTAL, TOTAL)
    embedder = HashedEmbedder()
    second = place.open(embedder)
    assert second.search(LIBRARY, "bicycle") == first.search(LIBRARY, "bicycle")
    assert embedder.asked == ["bicycle"]
    assert place.warnings == []


@pytest.mark.usefixtures("is_slow")
def test_of_a_large_library_the_best_hits_are_embedded_and_the_rest_waits(place: Place) -> None:
    embedder = HashedEmbedder()
    searcher = place.open(embedder)
    assert _list_titles(searcher, "rule 3")[0] == "Rule 3"
    assert searcher.vector_coverage == VectorCoverage(4, TOTAL)
    assert "Club > Rule 3\nRule 3 of the club is long." in embedder.asked[1:5]
    assert place.warnings == [], "the next search compares more by itself"
    again = place.open(HashedEmbedder())
    again.prepare()
    assert again.vector_coverage == VectorCoverage(4, TOTAL)
    told: list[tuple[int, int]] = []
    again.embed_all(lambda done, count: told.append((done, count)))
    assert told == [(4, TOTAL), (TOTAL, TOTAL)], "a second run counts on from where the first one stopped"


@pytest.mark.usefixtures("is_slow")
def test_idle_moments_embed_what_was_found_first(place: Place) -> None:
    embedder = HashedEmbedder()
    searcher = place.open(embedder)
    searcher.search(LIBRARY, "rule")
    count = len(embedder.asked)
    while searcher.embed_ahead():
        pass
    ahead = [text.partition("\n")[0].removeprefix("Club > ") for text in embedder.asked[count:]]
    assert all(title.startswith("Rule ") for title in ahead[:8])
    assert set(ahead[8:]) == {"Club", "Fees", "Bicyclists", "Tea"}
    assert len(embedder.asked) - 1 == len(set(embedder.asked) - {"rule"}) == TOTAL
    assert searcher.vector_coverage == VectorCoverage(TOTAL, TOTAL)


def test_a_server_embeds_nothing_unasked(place: Place) -> None:
    embedder = HashedEmbedder(embeds_unasked=False)
    searcher = place.open(embedder)
    words = place.open(None)
    assert searcher.search(LIBRARY, "bicycle") == words.search(LIBRARY, "bicycle")
    assert not searcher.embed_ahead()
    assert embedder.asked == []
    assert place.warnings == [f"0 of {TOTAL} sections with text compared by meaning. {_ADVICE}"]
    plan = searcher.plan_embedding()
    assert plan is not None
    assert (plan.embedder, plan.sections) == ("hashed", TOTAL)
    assert 0 < plan.tokens < 500
    assert plan.cost_usd == pytest.approx(plan.tokens / 1e6)
    searcher.embed_all()
    assert searcher.plan_embedding() is None
    assert _list_titles(searcher, "bicycle")[:2] == ["Fees", "Bicyclists"]


def test_a_search_that_needs_all_vectors_needs_an_index_of_a_server(place: Place) -> None:
    searcher = place.open(HashedEmbedder(embeds_unasked=False), SearchMode.VECTOR)
    with pytest.raises(UsageError, match=r"^hashed has not read 16 sections\. Run `roamtui index`"):
        searcher.search(LIBRARY, "bicyclists")
    searcher.embed_all()
    assert _list_titles(searcher, "bicyclists")[0] == "Bicyclists"


def test_a_full_disk_costs_only_what_would_be_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise IndexLostError("database or disk is full")

    monkeypatch.setattr(searching, "_SAVED_AT_ONCE", 4)
    monkeypatch.setattr(SectionStore, "save", fail)
    searcher = place.open(HashedEmbedder())
    assert _list_titles(searcher, "bicycle")[:2] == ["Fees", "Bicyclists"]
    reason = "their index cannot be written: database or disk is full"
    assert place.warnings[0] == f"What was compared by meaning is not kept, because {reason}"
    assert searcher.vector_coverage == VectorCoverage(TOTAL, TOTAL)
    with pytest.raises(IndexLostError):
        place.open(HashedEmbedder(), needs_all_vectors=True).prepare()


def test_what_could_not_be_saved_is_saved_later(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise IndexLostError("database is locked")

    searcher = place.open(HashedEmbedder())
    with monkeypatch.context() as patch:
        patch.setattr(SectionStore, "save", fail)
        searcher.search(LIBRARY, "bicycle")
    assert searcher.vector_coverage == VectorCoverage(TOTAL, TOTAL)
    assert not searcher.embed_ahead()
    embedder = HashedEmbedder()
    place.open(embedder).search(LIBRARY, "bicycle")
    assert embedder.asked == ["bicycle"]


def test_an_english_model_has_no_opinion_on_other_languages(place: Place) -> None:
    embedder = HashedEmbedder()
    place.open(embedder).search(LIBRARY, "Wie repariere ich das bicycle und wer bezahlt?")
    library = make_library("# Buch\n\nDas Fahrrad ist nicht blau und wird auch geliehen.\n")
    german = place.open(embedder, library=library)
    german.search(library, "What is blue?")
    assert not german.embed_ahead()
    assert german.vector_coverage == VectorCoverage()
    assert embedder.asked == []


@pytest.mark.parametrize(("german_count", "english_count", "is_compared"), [(1, 30, True), (600, 1, False)])
def test_the_language_of_a_library_is_that_of_all_its_documents(
    place: Place, german_count: int, english_count: int, *, is_compared: bool
) -> None:
    german = "# Hausordnung\n\n" + "Das Treppenhaus ist nicht zum Spielen da und wird auch geputzt. " * 500
    english = "# Rules\n\nThe stairs are for all of us, and they have to be clean when you leave.\n"
    texts = {f"a{number}.md": german for number in range(german_count)}
    texts |= {f"b{number}.md": english for number in range(english_count)}
    searcher = place.open(HashedEmbedder(), library=make_folder(texts))
    searcher.prepare()
    assert bool(searcher.vector_coverage.total) is is_compared
