"""An updated index answers like a new one, on disk and in memory."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.document.library import Library
from roamtui.search.index import IndexLocation, SectionIndex
from roamtui.search.keyword import KeywordRanker
from roamtui.search.section_store import SUMMARIES, VERSION, SectionStore, load_summaries
from tests.search.libraries import make_folder, make_library

FILES = {
    "a.md": "# Apples\n\nRed and round. getApple\n\n## Kinds\n\nBoskoop\n",
    "b/c.md": "# Cherries\n\nRed and small.\n",
    "d.md": "# Dates\n\nBrown.\n",
}


def rank_scores(index: SectionIndex, expression: str) -> dict[str, float]:
    found = index.rank(expression, range(len(index)), 20)
    return {index.numbering.id_of(number): round(score, 9) for number, score in found}


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


def test_an_updated_index_answers_like_a_new_one() -> None:
    library = make_folder(FILES)
    index = SectionIndex(library)
    for texts in ({"d": "# Dates\n\nRed too.\n"}, {"c": "# Currants\n\nRed.\n"}, {"e": "# Elder\n\nRed? Black.\n"}, {}):
        library = _change(library, **texts)
        index = SectionIndex(library, index.store)
        for expression in ('"red"', '"red" OR "brown" OR "small"', '"appl"'):
            assert rank_scores(index, expression) == rank_scores(SectionIndex(library), expression)
        assert index.title_words == SectionIndex(library).title_words


_FRUIT = {"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Dates\n\nBrown and sweet.\n"}
_FRUIT_LIBRARY = make_folder(_FRUIT)


class _IndexFolder:
    """A folder for indexes, and the warnings about them."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        self.location = IndexLocation(folder=folder / "indexes", on_warning=self.warnings.append, stores_small=True)

    def open(self) -> KeywordRanker:
        return KeywordRanker(self.location)

    def index(self) -> SectionIndex:
        return self.open().update_index(_FRUIT_LIBRARY)

    @property
    def path(self) -> Path:
        path = self.location.get_path(_FRUIT_LIBRARY)
        assert path is not None
        return path


@pytest.fixture
def folder(tmp_path: Path) -> _IndexFolder:
    return _IndexFolder(tmp_path)


def _finds(ranker: KeywordRanker, query: str, library: Library = _FRUIT_LIBRARY) -> list[str]:
    return [library.node(hit.section_id).title for hit in ranker.rank(library, query, 10, None, ()).hits]


def test_only_the_owner_can_read_the_file(folder: _IndexFolder) -> None:
    folder.index()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("kept", "filling"), [(0, b"garbage "), (20, b"garbage "), (4_096, b"\xff")])
def test_a_damaged_file_is_replaced_with_a_warning(folder: _IndexFolder, kept: int, filling: bytes) -> None:
    folder.index()
    data = folder.path.read_bytes()
    folder.path.write_bytes(data[:kept] + filling * ((len(data) - kept) // max(1, len(filling))))
    _check_that_it_is_built_again_once(folder, folder.open())


def test_reading_summaries_waits_for_no_writer_and_changes_nothing(folder: _IndexFolder) -> None:
    folder.index().store.save(SUMMARIES, {"digest": "Paid for."})
    with closing(sqlite3.connect(folder.path, isolation_level=None)) as writer:
        writer.execute(f"PRAGMA user_version = {VERSION + 1}")
        writer.execute("BEGIN IMMEDIATE")
        assert load_summaries(folder.path) == {"digest": "Paid for."}
        writer.execute("ROLLBACK")
        assert writer.execute("PRAGMA user_version").fetchone()[0] == VERSION + 1


def test_a_file_without_tables_has_no_summaries(folder: _IndexFolder) -> None:
    folder.path.parent.mkdir(parents=True)
    folder.path.touch()  # as a full disk leaves it
    assert load_summaries(folder.path) == {}


def test_a_file_of_another_version_keeps_its_summaries_and_vectors(folder: _IndexFolder) -> None:
    store = folder.index().store
    store.save(SUMMARIES, {"digest": "Fruit that was paid for."})
    store.save("embedder", {"digest": b"vector"})
    store.close()
    with closing(sqlite3.connect(folder.path)) as connection:
        connection.execute("UPDATE sections SET title = 'of another form'")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.commit()
    assert load_summaries(folder.path) == {"digest": "Fruit that was paid for."}
    ranker = folder.open()
    assert _finds(ranker, "sweet") == ["Dates"]
    assert _finds(ranker, "another form") == []
    assert ranker.update_index(_FRUIT_LIBRARY).store.load("embedder") == {"digest": b"vector"}
    assert folder.warnings == []


@pytest.mark.parametrize("damage", ["DELETE FROM sections_data WHERE id > 10", "DROP TABLE sections"])
def test_tables_that_are_damaged_while_in_use_are_filled_again(folder: _IndexFolder, damage: str) -> None:
    ranker = folder.open()
    ranker.update_index(_FRUIT_LIBRARY).store.save(SUMMARIES, {"digest": "Paid for."})
    with closing(sqlite3.connect(folder.path)) as connection:
        connection.execute(damage)
        connection.commit()
    _check_that_it_is_built_again_once(folder, ranker)
    assert load_summaries(folder.path) == {"digest": "Paid for."}


def _check_that_it_is_built_again_once(folder: _IndexFolder, ranker: KeywordRanker) -> None:
    assert _finds(ranker, "sweet") == ["Dates"]
    assert _finds(folder.open(), "sweet") == ["Dates"]
    assert folder.index().store.path == folder.path
    assert ["built again" in warning for warning in folder.warnings] == [True]


def test_a_full_disk_means_memory(folder: _IndexFolder) -> None:
    ranker = folder.open()
    store = ranker.update_index(_FRUIT_LIBRARY).store
    assert isinstance(store, SectionStore)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    text = "".join(f"# Title {number}\n\n" + "words of a long text " * 50 + "\n\n" for number in range(200))
    library = make_folder({**_FRUIT, "c.md": text})
    assert "Title 7" in _finds(ranker, "title 7", library)
    assert ["full" in text for text in folder.warnings] == [True]


def test_two_programs_with_different_texts_of_a_source_both_find_theirs(folder: _IndexFolder) -> None:
    first = folder.open()
    first.update_index(_FRUIT_LIBRARY)
    assert _finds(folder.open(), "green", make_folder({"a.md": "# Apples\n\nGreen.\n"})) == ["Apples"]
    assert _finds(first, "sweet") == ["Dates"]
    assert _finds(first, "round") == ["Apples"]
    assert ["another program" in text for text in folder.warnings] == [True]


def test_a_large_library_is_stored_on_disk(tmp_path: Path) -> None:
    library = make_library("# One\n\n" + "x" * 2_000_000)
    assert KeywordRanker(IndexLocation(folder=tmp_path)).update_index(library).store.path is not None
