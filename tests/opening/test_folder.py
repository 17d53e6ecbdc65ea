"""A folder as a library of folders, files and sections. Files are read when loaded; unreadable ones say why."""

from pathlib import Path

import pytest

from roamtui.document.library import Library, LibrarySource
from roamtui.opening.added_sources import list_sources_with, open_all, restore_sources
from roamtui.opening.loader import Loader, load_pending, open_sources
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.search.libraries import id_of
from tests.sources.listings import write

GUIDE = "# Guide\n\nHow to begin.\n\n## First steps\n\nTake one.\n\n## First steps\n\nTake two.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "b/c").mkdir(parents=True)
    (root / "README.md").write_text(GUIDE, "utf-8")
    (root / "b/one.md").write_text("---\ntitle: x\n---\n# One\n\nOnly text.\n", "utf-8")
    (root / "b/c/two.txt").write_text("no headings at all\n", "utf-8")
    (root / "b/three.md").write_text("# A\n\n# B\n", "utf-8")
    return root


def open_folder(folder: Path) -> tuple[Library, Loader]:
    library, loader = open_sources([str(folder)])
    assert loader is not None
    return library, loader


def test_a_folder_is_listed_without_reading_a_file(folder: Path) -> None:
    library, _ = open_folder(folder)
    nodes = [library.node(node_id) for node_id in library.walk()]
    assert [(node.kind.value, node.doc) for node in nodes] == [
        ("file", "README.md"),
        ("folder", "b"),
        ("folder", "b/c"),
        ("file", "b/c/two.txt"),
        ("file", "b/one.md"),
        ("file", "b/three.md"),
    ]
    assert [node.path for node in nodes][3] == ("b", "c", "two.txt")
    assert [node.is_loaded for node in nodes] == [False, True, True, False, False, False]
    assert (library.title, library.source) == ("docs", str(folder))


def test_files_without_text_are_named(folder: Path) -> None:
    for name, text in (("empty.md", ""), ("blank.txt", " \n\n")):
        (folder / name).write_text(text, "utf-8")
    library, loader = open_folder(folder)
    assert library.empty_names == []
    loaded = load_pending(library, loader)
    assert (loaded.empty_names, loaded.notes) == (["blank.txt", "empty.md"], ("No text: blank.txt, empty.md.",))


def test_an_unreadable_file_says_why_and_can_be_loaded_again(folder: Path) -> None:
    (folder / "b/scan.pdf").write_bytes(make_pdf([lay_out("a"), []], empty="0 0 m 9 9 l S"))
    library, loader = open_folder(folder)
    (folder / "b/one.md").rename(folder / "b/kept")
    (folder / "b/three.md").write_bytes(b"\x89PNG\r\n\0\0\0")
    whole = load_pending(library, loader)
    one, three = id_of(whole, "one.md"), id_of(whole, "three.md")
    assert whole.node(one).problem.startswith("There is no file ")
    assert "does not look like text" in whole.node(three).problem
    assert len(whole.notes) == 3
    assert any(note.startswith("b/scan.pdf: pages without text: 2") for note in whole.notes)
    assert not whole.node(one).is_loaded
    assert list(whole.walk(one)) == [one]
    (folder / "b/kept").rename(folder / "b/one.md")
    again = whole.graft_all(loader.load_batch(whole, (one,), frozenset()))
    assert again.node(one).is_loaded
    assert again.node(one).problem == ""


def test_a_new_file_with_the_name_of_an_added_source_keeps_its_own_text(tmp_path: Path) -> None:
    for place, words in (("docs/a.md", "A"), ("notes/a.md", "Added")):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text(words)
    saved = list_sources_with(open_sources([str(tmp_path / "docs")]).library, str(tmp_path / "notes"))
    (tmp_path / "docs/notes").mkdir()
    (tmp_path / "docs/notes/a.md").write_text("New")

    opened = open_sources([str(tmp_path / "docs")])
    library, loader = restore_sources(*opened, saved, lambda name: open_sources([name]))

    assert loader is not None
    library = load_pending(library, loader)
    assert library.sources[-1].key == "notes (2)"
    texts = {document.key: document.text for document in library.grafts.values()}
    assert texts == {"a.md": "A", "notes/a.md": "New", "notes (2)/a.md": "Added"}


def test_a_source_keeps_its_key_although_the_first_source_with_that_name_was_taken_out(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "new/docs/b.md")
    saved = LibrarySource(name=str(tmp_path / "new/docs"), key="docs")
    first = open_sources([str(tmp_path / "docs")])
    library, _ = restore_sources(*first, (saved,), lambda name: open_sources([name]))
    assert (library.source, library.sources) == (first.library.source, (saved,))
    again = open_all((LibrarySource(name=first.library.source, key=""), saved), lambda name: open_sources([name]), "x")
    assert [source.key for source in again.library.sources] == ["", "docs (2)"]
