"""An index writes what is new, takes out what is gone, and then answers as one that was filled at once."""

from __future__ import annotations

import gc
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.document.library import Library
from roamtui.search import segments
from roamtui.search.base import IndexLostError
from roamtui.search.index import IndexLocation, SectionIndex, SectionStore, is_large
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.terms import code_identifier
from tests.search.libraries import id_of, make_folder, make_library

WEIGHTS = (3.0, 1.0, 1.0, 2.0, 0.3)
FILES = {
    "a.md": "# Apples\n\nRed and round. getApple\n\n## Kinds\n\nBoskoop\n",
    "b/c.md": "# Cherries\n\nRed and small.\n",
    "d.md": "# Dates\n\nBrown.\n",
}


def rank_titles(index: SectionIndex, expression: str) -> list[str]:
    """Return the titles that an expression finds, the best first."""
    return [index.title(number) for number, _ in index.rank(expression, WEIGHTS, range(len(index)), 20)]


def rank_scores(index: SectionIndex, expression: str) -> dict[str, float]:
    """Return scores by id."""
    found = index.rank(expression, WEIGHTS, range(len(index)), 20)
    return {index.layout.id_of(number): round(score, 9) for number, score in found}


def _change(library: Library, **texts: str) -> Library:
    """Return a library whose unchanged files are the very same documents."""
    names = {"c": "b/c.md"}
    changed = make_folder({**FILES, **{names.get(name, f"{name}.md"): text for name, text in texts.items()}})
    old = {document.key: document for document in library.documents}
    grafts = {
        node: old[new.key] if old.get(new.key) is not None and old[new.key].text == new.text else new
        for node, new in changed.grafts.items()
    }
    return Library(source=library.source, root=changed.root, grafts=grafts)


def test_a_text_that_is_written_in_pieces_is_found_and_taken_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_library('# Pumps\n\nA "pump_valve" \\ or a pumpGauge,\tin \u2028caf\xe9s.\n')
    whole = SectionIndex(library)
    monkeypatch.setattr(segments, "_PIECE_LENGTH", 3)
    index = SectionIndex(library, SectionStore(tmp_path / "index.sqlite3"))
    expressions = ('"pump"', '"gauge"', '"cafes"', f"names : {code_identifier('pump_valve')}")
    for expression in expressions:
        assert rank_scores(index, expression) == rank_scores(whole, expression) != {}
    after = SectionIndex(make_library("# Dates\n"), index.store, before=index)
    assert [rank_titles(after, expression) for expression in expressions] == [[]] * len(expressions)
    assert not after.has_word("gauge")


def test_runs_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_RUNS_MAX", 2)
    names = segments.NamesByRun()
    before = [names[run] for run in ("a_b", "plain", "getApple")]
    assert [names[run] for run in ("a_b", "plain", "getApple")] == before
    assert before[1] is None
    assert len(names) <= 2


def test_after_changes_it_answers_like_a_new_one() -> None:
    library = make_folder(FILES)
    index = SectionIndex(library)
    for texts in ({"d": "# Dates\n\nRed too.\n"}, {"c": "# Currants\n\nRed.\n"}, {"e": "# Elder\n\nRed? Black.\n"}, {}):
        library = _change(library, **texts)
        index = SectionIndex(library, index.store, before=index)
        for expression in ('"red"', '"red" OR "brown" OR "small"', 'names : "x"', '"appl"'):
            assert rank_scores(index, expression) == rank_scores(SectionIndex(library), expression)
        assert list(index.store.list_title_words()) == list(SectionIndex(library).store.list_title_words())


def test_an_index_of_an_earlier_library_finds_nothing_of_the_later_one() -> None:
    library = make_folder(FILES)
    before = SectionIndex(library)
    SectionIndex(_change(library, d="# Dates\n\nRed now.\n"), before.store, before=before)
    assert "Dates" not in rank_titles(before, '"red"')
    assert rank_titles(before, '"small"') == ["Cherries"]


def test_a_broken_expression_is_told_and_nothing_is_lost() -> None:
    index = SectionIndex(make_folder(FILES))
    with pytest.raises(IndexLostError):
        index.rank('"red" AND', WEIGHTS, range(len(index)), 5)
    assert rank_titles(index, '"brown"') == ["Dates"]


_FRUIT = {"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Dates\n\nBrown and sweet.\n"}
_FRUIT_LIBRARY = make_folder(_FRUIT)
_FILL = """
import sys
from pathlib import Path
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.search.keyword import KeywordSearcher
from roamtui.search import index as indexing
from roamtui.search.index import IndexLocation

indexing._BATCH_ROWS = 5_000
def tell(done, total):
    if done:
        print(done, flush=True)
        sys.stdin.readline()
text = "".join(f"# Title {number}\\n\\nWord{number} common.\\n\\n" for number in range(15_000))
library = Library(source="folder", root=parse_document(text))
KeywordSearcher(library, location=IndexLocation(folder=Path(sys.argv[1]), force=True)).prepare(tell)
"""


class _Place:
    """A folder for indexes that remembers what was told."""

    def __init__(self, folder: Path) -> None:
        self.told: list[str] = []
        self.place = IndexLocation(folder=folder / "indexes", on_warning=self.told.append, force=True)

    def open(self, library: Library = _FRUIT_LIBRARY) -> KeywordSearcher:
        return KeywordSearcher(library, location=self.place)

    @property
    def path(self) -> Path:
        path = self.place.get_path(_FRUIT_LIBRARY)
        assert path is not None
        return path


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


def _finds(searcher: KeywordSearcher, query: str) -> list[str]:
    library = searcher.prepare().library
    return [library.title_of(hit.section_id) for hit in searcher.search(query)]


def test_it_is_for_its_owner_alone(place: _Place) -> None:
    place.open().prepare()
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("kept", "filling"), [(0, b"garbage "), (20, b"garbage "), (4_096, b"\xff"), (8_192, b"")])
def test_a_damaged_file_is_made_anew_and_said(place: _Place, kept: int, filling: bytes) -> None:
    place.open().prepare()
    data = place.path.read_bytes()
    place.path.write_bytes(data[:kept] + filling * ((len(data) - kept) // max(1, len(filling))))
    assert _finds(place.open(), "sweet") == ["Dates"]
    assert place.open().prepare().store.path == place.path
    assert len(place.told) == 1
    assert "damaged" in place.told[0]


def test_a_file_that_is_damaged_while_it_is_used_is_made_anew(place: _Place) -> None:
    searcher = place.open()
    searcher.prepare()
    with closing(sqlite3.connect(place.path)) as connection:
        connection.execute("DELETE FROM sections_data WHERE id > 10")
        connection.commit()
    assert _finds(searcher, "sweet") == ["Dates"]
    assert ["damaged" in text for text in place.told] == [True]


def test_a_file_of_another_version_is_made_anew(place: _Place) -> None:
    place.open().prepare()
    with closing(sqlite3.connect(place.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert _finds(place.open(), "sweet") == ["Dates"]
    assert place.path.exists()


def test_without_a_folder_it_is_kept_in_memory_and_said_once(tmp_path: Path) -> None:
    (tmp_path / "indexes").write_text("no folder")
    place = _Place(tmp_path)
    searcher = place.open()
    assert _finds(searcher, "sweet") == ["Dates"]
    searcher.refresh(make_folder({**_FRUIT, "c.md": "# Currants\n"}))
    assert _finds(searcher, "currants") == ["Currants"]
    assert searcher.prepare().store.path is None
    assert len(place.told) == 1
    assert "memory" in place.told[0]


def test_a_full_disk_means_memory(place: _Place) -> None:
    searcher = place.open()
    store = searcher.prepare().store
    assert isinstance(store, SectionStore)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    text = "".join(f"# Title {number}\n\n" + "words of a long text " * 50 + "\n\n" for number in range(200))
    searcher.refresh(make_folder({**_FRUIT, "c.md": text}))
    assert "Title 7" in _finds(searcher, "title 7")
    assert ["full" in text for text in place.told] == [True]


def test_what_another_program_is_writing_is_searched_in_memory(place: _Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.search.index._BUSY_SECONDS", 0.05)
    place.open().prepare()
    with closing(sqlite3.connect(place.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert _finds(place.open(), "sweet") == ["Dates"]
    assert ["locked" in text for text in place.told] == [True]
    assert place.open().prepare().store.path == place.path


def test_two_programs_over_two_texts_of_a_source_both_find_theirs(place: _Place) -> None:
    first = place.open()
    first.prepare()
    second = place.open(make_folder({"a.md": "# Apples\n\nGreen.\n"}))
    assert _finds(second, "green") == ["Apples"]
    assert _finds(first, "sweet") == ["Dates"]
    assert _finds(first, "round") == ["Apples"]
    assert ["another program" in text for text in place.told] == [True]


def test_two_programs_may_index_the_same_text_at_once(place: _Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.search.index._BATCH_ROWS", 1)
    first, second = place.open(), place.open()

    def index_too(done: int, total: int) -> None:
        assert done <= total
        second.prepare()

    first.prepare(index_too)

    assert _finds(first, "sweet") == _finds(second, "sweet") == ["Dates"]
    assert first.prepare().store.path == second.prepare().store.path == place.path
    assert place.told == []


def test_a_text_that_another_program_takes_out_meanwhile_is_indexed_in_memory(
    place: _Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.search.index._BATCH_ROWS", 1)
    other = make_folder({"a.md": "# Apples\n\nGreen.\n"})
    first = place.open()

    def index_other(done: int, total: int) -> None:
        if 0 < done <= total:
            place.open(other).prepare()

    first.prepare(index_other)

    assert _finds(first, "sweet") == ["Dates"]
    assert _finds(first, "round") == ["Apples"]
    assert ["another program" in text for text in place.told] == [True]


def test_a_program_that_is_killed_leaves_a_file_to_go_on_with(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _FILL, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "5000"
        process.kill()
    done = subprocess.run(command, input="\n" * 9, capture_output=True, text=True, check=True)
    (path,) = tmp_path.glob("*.sqlite3")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT sum(count) FROM parts").fetchone() == (15_000,)
        connection.execute("INSERT INTO sections(sections) VALUES('integrity-check')")
    assert done.stdout.split() == ["5000", "10000"]


def test_a_pipe_and_a_small_library_stay_in_memory(tmp_path: Path) -> None:
    place = IndexLocation(folder=tmp_path)
    assert KeywordSearcher(_FRUIT_LIBRARY, location=place).prepare().store.path is None
    piped = make_library("# One\n")
    vars(piped)["source"] = "-"
    assert place.get_path(piped) is None
    assert list(tmp_path.iterdir()) == []
    assert not is_large(_FRUIT_LIBRARY)
    assert is_large(make_library("# One\n" * 5_000))
    assert is_large(make_library("# One\n\n" + "x" * 2_000_000))


def test_numbers_follow_the_document() -> None:
    library = make_library("Before.\n\n# One\n\n## Two\n\n### Three\n\n## Four\n\n# Five\n")
    index = SectionIndex(library)
    assert [index.layout.id_of(number) for number in range(len(index))] == list(library.walk())
    assert [index.title(number) for number in range(len(index))] == ["", "One", "Two", "Three", "Four", "Five"]
    assert [index.layout.parent(number) for number in range(len(index))] == [-1, -1, 1, 2, 1, -1]
    assert [index.layout.subtree(number).stop for number in range(len(index))] == [1, 5, 4, 4, 5, 6]
    assert index.layout.find(id_of(library, "Two")) == 2
    assert index.layout.find("nowhere") is None


def test_memory_is_given_back_with_the_index() -> None:
    index = SectionIndex(make_library("# One\n"))
    assert isinstance(index.store, SectionStore)
    connection = index.store._connection
    del index
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
