"""Notebooks: one TOML file each, which a person may edit, and which several programs may change at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.notebook_export import export_notebook
from roamtui.conversation.notebooks import (
    EXPORT_NAME,
    Notebook,
    NotebookStore,
    list_named_sources,
)
from roamtui.document.library_source import LibrarySource, make_unique_key
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, StoreError, UsageError


@pytest.fixture
def store(tmp_path: Path) -> NotebookStore:
    return NotebookStore(tmp_path / "notebooks")


def make_source(path: Path | str, key: str = "", *, is_muted: bool = False) -> LibrarySource:
    return LibrarySource(name=str(path), key=key or Path(path).name, is_muted=is_muted)


def saving(*sources: LibrarySource) -> Callable[[object], Sequence[LibrarySource]]:
    return lambda _: sources


def test_what_is_saved_is_read_again(store: NotebookStore, tmp_path: Path) -> None:
    sources = (
        make_source(tmp_path / 'a "b" \\ c.md', "c.md"),
        make_source(tmp_path / "acts", "acts (2)", is_muted=True),
        LibrarySource(name="https://site.example/llms.txt", key="site.example"),
    )
    store.change("law", saving(*sources))
    assert store.read("law") == Notebook(name="law", sources=sources)
    assert store.list_names() == ("law",)


@given(name=st.text(max_size=30))
def test_any_name_is_accepted_or_refused_in_one_sentence(name: str) -> None:
    try:
        path = NotebookStore(Path("/notebooks")).get_path(name)
    except UsageError as error:
        problem = str(error)
    else:
        problem = ""
        assert path.parent == Path("/notebooks")
        assert path.name == f"{name}.toml"
    assert not problem or "cannot be the name of a notebook" in problem
    assert sanitise_line(problem) == problem


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "law.", "📚", "x" * 70, "-", "@law", "a\0b"])
def test_a_name_that_is_no_plain_word_is_refused(store: NotebookStore, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a notebook"):
        store.change(name, saving())
    assert not store.list_names()


def test_a_person_may_edit_the_file(store: NotebookStore, tmp_path: Path) -> None:
    store.change("law", saving(make_source(tmp_path / "a.md")))
    path = store.get_path("law")
    path.write_text(
        '# My notes on this set.\ncolour = "red"\n\n[[sources]]\nsource = "../b.md"\n\n'
        '[[sources]]\nsource = "/else/b.md"\nmuted = true\n'
    )
    assert [(each.name, each.key, each.is_muted) for each in store.read("law").sources] == [
        (str(tmp_path / "b.md"), "b.md", False),
        ("/else/b.md", "b.md (2)", True),
    ]
    store.change("law", lambda sources: sources[1:])
    assert path.read_text().startswith('# My notes on this set.\ncolour = "red"\n\n[[sources]]')
    assert [each.key for each in store.read("law").sources] == ["b.md (2)"]


@pytest.mark.parametrize(
    "name",
    ["https://site.example/a\\b", "https://site.example/..", "https://site.example/a/../..", "/docs/ ", "/docs/\u200f"],
)
def test_a_source_of_any_name_can_be_read_again(store: NotebookStore, name: str) -> None:
    source = LibrarySource(name=name, key=make_unique_key(name, ()))
    store.change("law", saving(source))
    assert store.read("law").sources == (source,)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[sources]\n", "is not valid TOML"),
        ("sources = 1\n", "must be a list of tables"),
        ("[[sources]]\n", "source 1 needs a line"),
        ("[[sources]]\nsource = 3\n", "source 1 needs a line"),
        ('[[sources]]\nsource = "a.md"\nkey = "../x"\n', '"key" of source 1'),
        ('[[sources]]\nsource = "a.md"\nkey = ".."\n', '"key" of source 1'),
        ('[[sources]]\nsource = "a.md"\nmuted = "yes"\n', '"muted" of source 1'),
        ('[[sources]]\nsource = "@law"\n', "source 1 is a notebook"),
        ('[[sources]]\nsource = "a.md"\nkey = "a"\n[[sources]]\nsource = "b.md"\nkey = "a"\n', "different keys"),
        ('sources = [{source = "a.md"}]\n', "each below a line"),
        ("sources = []\n", "each below a line"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_broken_file_is_told_in_one_sentence_and_stays_as_it_was(
    store: NotebookStore, text: str | bytes, problem: str
) -> None:
    store.change("law", saving())
    path = store.get_path("law")
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(content)
    for use in (lambda: store.read("law"), lambda: store.change("law", saving(make_source("/a.md")))):
        with pytest.raises(StoreError, match=problem) as caught:
            use()
        assert str(path) in str(caught.value)
        assert "Fix or delete it." in str(caught.value)
    assert path.read_bytes() == content


def test_two_programs_that_change_one_notebook_lose_nothing(tmp_path: Path) -> None:
    stores = [NotebookStore(tmp_path / "notebooks") for _ in range(4)]
    stores[0].change("law", saving(make_source("/start.md")))
    before = stores[0].read("law").sources

    def add(number: int) -> None:
        for count in range(5):
            after = (*before, make_source(f"/new-{number}-{count}.md"))
            stores[number].apply("law", before, after)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {each.name for each in stores[0].read("law").sources}
    assert names == {"/start.md", *(f"/new-{number}-{count}.md" for number in range(4) for count in range(5))}


def test_a_change_keeps_what_another_program_changed_meanwhile(store: NotebookStore) -> None:
    one, two, three = make_source("/one.md"), make_source("/two.md"), make_source("/three.md")
    store.change("law", saving(one, two))
    before = store.read("law").sources
    store.change("law", saving(one, two, three))  # by another program
    muted = make_source("/one.md", is_muted=True)
    store.apply("law", before, (muted,))
    assert store.read("law").sources == (muted, three)
    store.apply("law", before, (*before, make_source("/else/three.md")))
    assert [each.key for each in store.read("law").sources] == ["one.md", "three.md", "three.md (2)"]


def test_a_notebook_is_renamed_and_deleted_by_its_name(store: NotebookStore) -> None:
    store.change("law", saving(make_source("/a.md")))
    store.change("tax", saving())
    with pytest.raises(UsageError, match='a notebook "tax" already'):
        store.rename("law", "tax")
    with pytest.raises(UsageError, match='no notebook "none"'):
        store.rename("none", "some")
    store.rename("law", "acts")
    assert [each.name for each in store.read("acts").sources] == ["/a.md"]
    store.delete("acts")
    with pytest.raises(UsageError, match='no notebook "acts"'):
        store.delete("acts")
    assert store.list_names() == ("tax",)


def test_without_a_place_on_disk_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "notebooks").write_text("a file where the folder should be")
    store = NotebookStore(tmp_path / "notebooks")
    with pytest.raises(StoreError, match="It stays as it was"):
        store.change("law", saving())


def test_sources_are_named_by_path_address_notebook_or_exported_folder(
    store: NotebookStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.md", "sub/a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# A\n")
    present = (make_source(tmp_path / "a.md"),)
    found = list_named_sources(["a.md", "sub/a.md", "https://site.example/"], present, store, "law")
    assert [(each.name, each.key) for each in found] == [
        (str(tmp_path / "sub" / "a.md"), "a.md (2)"),
        ("https://site.example/", "site.example"),
    ]
    store.change("tax", saving(*found))
    export_notebook(Notebook(name="tax", sources=found), tmp_path / "out")
    for name in ("@tax", "out"):
        copied = list_named_sources([name], (), store, "law")
        assert [each.key for each in copied] == ["a.md (2)", "site.example"]
    for wrong, problem in (("@law", "cannot contain itself"), ("-", "standard input"), ("@none", "no notebook")):
        with pytest.raises(UsageError, match=problem):
            list_named_sources([wrong], (), store, "law")
    with pytest.raises(SourceError, match="There is no file none"):
        list_named_sources(["none.md"], (), store, "law")


@pytest.mark.parametrize("name", ["../secret.md", "link.md"])
def test_an_exported_folder_brings_no_file_from_outside(store: NotebookStore, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    folder = tmp_path / "from-someone"
    folder.mkdir()
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / EXPORT_NAME).write_text(f'[[sources]]\nsource = "{name}"\n')
    with pytest.raises(UsageError, match="outside its folder"):
        list_named_sources([str(folder)], (), store, "law")
