"""What every index backend promises: ids, limit, `within`, changes and deletions, two writers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search.base import SearchMode
from roamtui.search.searcher import Searcher
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.backends.conftest import Backend
from tests.search.libraries import id_of, make_folder, make_library

FILES = {
    "fees.md": "# Fees\n\nIn euros.\n\n## Late fees\n\nA late fee is 2 % a month.\n\n"
    "## Invoices\n\nWho pays late is reminded.\n",
    "work/remote.md": "# Remote work\n\nAsk `getUserById` or set `max_tokens` and `--dry-run`; written in C++.\n",
    "work/leave.md": "# Sick leave\n\nTell your manager on the first day. Naïve café, 東京都.\n",
    "garden.md": "# Watering\n\nThe gardeners water the roses.\n",
}
LIBRARY = make_folder(FILES)
ALL_MODES = [SearchMode.KEYWORD, SearchMode.VECTOR, SearchMode.HYBRID]


def _find(searcher: Searcher, library: Library, query: str, within: str | None = None) -> list[str]:
    return [library.node(hit.section_id).title for hit in searcher.search(library, query, within=within)]


def test_unchanged_text_is_not_written_again(backend: Backend) -> None:
    assert backend.count_written(LIBRARY) == 6
    assert backend.count_written(LIBRARY) == 0
    assert backend.count_written(make_folder(dict(reversed(FILES.items())))) == 0


def test_only_changed_files_are_written_and_removed_ones_are_gone(backend: Backend) -> None:
    backend.count_written(LIBRARY)
    changed = make_folder(
        {"fees.md": FILES["fees.md"], "garden.md": "# Watering\n\nBy zebras.\n", "new.md": "# Ox\n\nOxen.\n"}
    )
    assert backend.count_written(changed) == 2
    searcher = backend.open(changed)
    assert _find(searcher, changed, "zebras") == ["Watering"]
    assert _find(searcher, changed, "oxen") == ["Ox"]
    assert _find(searcher, changed, "roses") == []
    assert _find(searcher, changed, "manager") == []
    assert _find(backend.open(LIBRARY), LIBRARY, "roses") == ["Watering"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_search_includes_text_loaded_later(backend: Backend, mode: SearchMode) -> None:
    searcher = backend.open(LIBRARY, mode)
    searcher.search(LIBRARY, "roses")
    changed = make_folder({**FILES, "garden.md": "# Watering\n\nZebras drink lemonade.\n"})
    assert _find(searcher, changed, "zebras lemonade")[0] == "Watering"


@pytest.mark.parametrize("mode", ALL_MODES)
def test_within_holds(backend: Backend, mode: SearchMode) -> None:
    searcher = backend.open(LIBRARY, mode)
    inside = id_of(LIBRARY, "Fees")
    assert "Late fees" in _find(searcher, LIBRARY, "late roses", inside)
    assert set(_find(searcher, LIBRARY, "late water roses manager", inside)) <= {"Fees", "Late fees", "Invoices"}
    with pytest.raises(UnknownSectionError):
        searcher.search(LIBRARY, "x", within="feedbeef")


@pytest.mark.parametrize("mode", [SearchMode.VECTOR, SearchMode.HYBRID])
def test_vectors_find_what_words_miss_and_are_computed_once(backend: Backend, mode: SearchMode) -> None:
    embedder = HashedEmbedder()
    hits = backend.open(LIBRARY, mode, embedder).search(LIBRARY, "gardenerswater", with_snippets=True)
    assert LIBRARY.node(hits[0].section_id).title == "Watering"
    assert hits[0].snippet == "The gardeners water the roses."
    assert hits[0].is_related
    worded = backend.open(LIBRARY, mode, embedder).search(LIBRARY, "water the roses", with_snippets=True)
    assert [hit.is_related for hit in worded if LIBRARY.node(hit.section_id).title == "Watering"] == [False]
    count = len(embedder.asked)
    changed = make_folder({**FILES, "garden.md": "# Watering\n\nGardeners rest.\n"})
    backend.open(changed, mode, embedder).search(changed, "gardenerswater")
    assert embedder.asked[count:] == ["garden > Watering\nGardeners rest.", "gardenerswater"]


class _Stop(Exception):  # noqa: N818 - not an error
    pass


def test_interrupted_writing_is_resumed(backend: Backend) -> None:
    def stop(done: int, total: int) -> None:  # noqa: ARG001 - the callback's signature
        if done:
            raise _Stop

    library = make_library("".join(f"# Title {number}\n\nWord{number}.\n\n" for number in range(100)))
    with pytest.raises(_Stop):
        backend.prepare(library, stop)
    searcher = backend.open(library)
    assert _find(searcher, library, "word99") == ["Title 99"]
    assert len(searcher.search(library, "title", limit=200)) == 100


def test_two_programs_may_write_at_once(backend: Backend) -> None:
    def find() -> list[str]:
        return _find(backend.open(LIBRARY, SearchMode.HYBRID), LIBRARY, "late fees")

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: find(), range(4)))
    assert found == [found[0]] * 4
    assert find() == found[0]
    assert backend.count_written(LIBRARY) == 0
