"""Listings of folders and of several sources: their files, the order, skipped and changed files."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import SourceError
from roamtui.sources import listing as listing_module
from roamtui.sources.listing import Listing, list_files, list_folder, locate_document, read_listed
from roamtui.sources.source_names import join_sources, make_short_name, split_sources
from roamtui.sources.stamps import FileStamps
from tests.sources.listings import keys, write


def test_folders_and_files_are_in_reading_order(tmp_path: Path) -> None:
    top = ("10 boats.md", "2 boats.md", "zebra.md", "Apple.md", "part10.md", "part2.md", "readme.txt")
    write(tmp_path, *top, "b/index.md", "b/a.md", "b/README.md")
    files_of_b = ("b/README.md", "b/index.md", "b/a.md")
    assert keys(list_folder(tmp_path)) == [
        *("readme.txt", "2 boats.md", "10 boats.md", "Apple.md", "b", *files_of_b, "part2.md", "part10.md", "zebra.md")
    ]


def test_files_in_gitignore_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path, "a.md", "draft.md", "build/x.md", "docs/build.md", "docs/draft.md", "docs/old/x.md", "docs/new/x.md"
    )
    (tmp_path / ".gitignore").write_text("build/\n/draft.md\ndocs/*\n!docs/new\n[\n")
    assert keys(list_folder(tmp_path)) == ["a.md", "docs", "docs/new", "docs/new/x.md"]


def test_links_out_of_the_folder_are_skipped_with_a_note(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, "secret.md", "secrets/x.md", "root/a.md")
    (root / "file.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path / "secrets")
    (root / "dots.md").symlink_to("../secret.md")
    (root / "zero.md").symlink_to(tmp_path / "secret.md")
    listing = list_folder(root)
    assert keys(listing) == ["a.md"]
    assert listing.left_out == ("dots.md, file.md, folder and 1 more (links that lead outside the folder)",)
    (note,) = listing.notes
    assert note == f"Skipped: 4 links that lead outside the folder. To list them: `roamtui outline {root} --skipped`."


def test_links_to_what_is_no_document_are_not_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, "away/lib.so", "root/a.md")
    (root / ".gitignore").write_text("out\nenv/\n")
    for name in ("node_modules", ".cache", "out", "env"):
        (root / name).symlink_to(tmp_path / "away")
    (root / "lib.so").symlink_to(tmp_path / "away/lib.so")
    listing = list_folder(root)
    assert listing.left_out == ()
    assert listing.notes == (f"Skipped: 1 file of another kind. To list them: `roamtui outline {root} --skipped`.",)


def test_links_inside_are_followed_to_files_and_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    (tmp_path / "c.md").symlink_to("a/b.md")
    (tmp_path / "a/up").symlink_to("..")
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    listing = list_folder(tmp_path)
    assert keys(listing) == ["a", "a/b.md", "c.md"]
    assert [*listing.skipped.values()] == [["gone.md", "a/self"]]
    assert listing.left_out == ()


def test_names_that_are_no_utf8_are_shown_and_read(tmp_path: Path) -> None:
    assert make_short_name("/a/b\udcff.md") == r"b_xff.md"
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as file:  # noqa: PTH123 - a name of bytes
        file.write("# Café\n")
    listing = list_folder(tmp_path)
    assert keys(listing) == ["caf\\xe9.md"]
    assert read_listed(listing.files["caf\\xe9.md"], "café.md").text == "# Café\n"


def test_files_of_other_kinds_are_counted_but_no_text_is_missing(tmp_path: Path) -> None:
    write(tmp_path, "one/a.md", "one/b/c.png", "one/.hidden.png", "two/d.md", "two/run.exe", "two/go.bin")
    (tmp_path / "two" / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(tmp_path / "two" / "pipe.md")
    listing = list_files([tmp_path / "one", tmp_path / "two"])
    assert listing.notes[0].startswith("Skipped: 5 files of other kinds. To list them: `roamtui outline ")
    assert [*map(sorted, listing.skipped.values())] == [
        ["one/b/c.png", "two/go.bin", "two/gone.md", "two/pipe.md", "two/run.exe"]
    ]
    assert listing.left_out == ()
    assert list_folder(tmp_path / "one").notes[0].startswith("Skipped: 1 file of another kind.")


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b/c.png")
    with pytest.raises(SourceError, match="contains no document that roamtui can read"):
        list_folder(tmp_path)
    with pytest.raises(SourceError, match="cannot be listed: No such file"):
        list_folder(tmp_path / "gone")


def test_files_and_folders_over_the_limits_are_skipped_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing_module, "FILES_MAX", 3)
    monkeypatch.setattr(listing_module, "DEPTH_MAX", 1)
    write(tmp_path, "0/1/2.md", "1.md")
    assert list_folder(tmp_path).left_out == ("0/1 (folders nested too deeply)",)
    write(tmp_path, *(f"{number}.md" for number in range(2, 6)))
    listing = list_folder(tmp_path)
    assert keys(listing) == ["1.md", "2.md", "3.md"]
    assert listing.notes == ("Skipped: all files after the first 3.",)  # the walk ended, so nothing can list them


def test_a_giant_file_is_refused_when_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_module, "FILE_BYTES_MAX", 5)
    write(tmp_path, "a.md")
    with pytest.raises(SourceError, match=r"a\.md is larger than"):
        read_listed(list_folder(tmp_path).files["a.md"], "a.md")


def _replace_folder(file: Path, other: Path) -> None:
    file.parent.rename(file.parent.with_name("moved"))
    file.parent.symlink_to(other.parent)


@pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")
@pytest.mark.parametrize(
    ("put", "text"),
    [
        pytest.param(lambda file, other: file.symlink_to(other), None, id="link outside"),
        pytest.param(lambda file, _: file.symlink_to("b.md"), "# Title\n", id="link inside"),
        pytest.param(lambda file, other: other.rename(file), "# Secret\n", id="file"),
        pytest.param(lambda file, _: os.mkfifo(file), None, id="pipe"),
        pytest.param(_replace_folder, None, id="link in place of the folder"),
    ],
)
def test_what_took_the_place_of_a_file_is_read_if_it_is_a_file_of_the_folder(
    tmp_path: Path, put: Callable[[Path, Path], object], text: str | None
) -> None:
    write(tmp_path, "docs/a.md", "docs/b.md")
    write(tmp_path, "outside/a.md", text="# Secret\n")
    listing = list_folder(tmp_path / "docs")
    (tmp_path / "docs/a.md").unlink()
    put(tmp_path / "docs/a.md", tmp_path / "outside/a.md")
    file = listing.files["a.md"]
    if text is not None:
        assert read_listed(file, "a.md").text == text
        return
    with pytest.raises(SourceError) as caught:
        read_listed(file, "a.md")
    assert str(caught.value) == "a.md is not a file of the folder any more. Reload the document."


def test_a_link_that_a_person_named_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    write(tmp_path, "outside/a.md", text="# Outside\n")
    (tmp_path / "link.md").symlink_to("outside/a.md")
    (tmp_path / "linked").symlink_to("outside")
    listing = list_files([tmp_path / "docs", tmp_path / "link.md", tmp_path / "linked/a.md", tmp_path / "outside"])
    assert keys(listing) == ["docs", "docs/a.md", "link.md"]
    assert read_listed(listing.files["link.md"], "link.md").text == "# Outside\n"


def test_files_of_several_folders_are_at_the_top_by_their_names(tmp_path: Path) -> None:
    names = {"x/a.md": "a.md (x)", "y/z/a.md": "a.md (z)", "x/b.md": "b.md", "v/z/a.md": "a.md (z) (2)"}
    write(tmp_path, *names, "y/docs/c.md", "x/d.md")
    listing = list_files([*(tmp_path / name for name in names), tmp_path / "y/docs", tmp_path / "y/docs/c.md"])
    assert keys(listing) == [*names.values(), "docs", "docs/c.md"]
    for name, key in (*names.items(), ("y/docs/c.md", "docs/c.md")):
        assert listing.files[key].path == tmp_path / name
        found = locate_document(listing.source, key)
        assert found is not None
        assert found.path == tmp_path / name
    assert locate_document(listing.source, "d.md") is None  # nobody named this file
    with pytest.raises(SourceError, match="Did you mean"):
        list_files([tmp_path / "x/a.md", tmp_path / "x/aa.md"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.md", "# longer than before\n"), ("b/three.md", "x"), ("b/one.md", ""), ("c/d/e.md", "x")],
    ids=["written", "new", "removed", "in a new folder"],
)
def test_a_change_shows_in_the_stamp_of_its_file_only(tmp_path: Path, name: str, text: str) -> None:
    folder = tmp_path / "docs"
    write(folder, "a.md", "b/one.md", "b/two.md")
    for directory in (folder, folder / "b"):
        os.utime(directory, ns=(1, 1))  # so that a change in the same tick shows
    stamps = FileStamps([str(folder)])
    before = stamps.read() or {}
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if text:
        path.write_text(text, "utf-8")
    else:
        path.unlink()
    after = stamps.read() or {}
    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == {name}


def test_a_file_that_is_written_while_its_folder_is_listed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a/one.md", "b/two.md")
    for name in ("", "a", "b"):
        os.utime(tmp_path / name, ns=(1, 1))  # so that a change in the same tick shows

    def list_and_write(paths: Sequence[Path]) -> Listing:
        listing = list_files(paths)
        write(tmp_path, "a/new.md")
        return listing

    monkeypatch.setattr("roamtui.sources.stamps.list_files", list_and_write)
    stamps = FileStamps([str(tmp_path)])
    stamps.read()
    assert "a/new.md" in (stamps.read() or {})


def test_a_link_to_another_version_of_a_folder_is_noticed(tmp_path: Path) -> None:
    for version in ("v1", "v2"):
        write(tmp_path / version, "a.md")
        os.utime(tmp_path / version, ns=(1, 1))
    current = tmp_path / "current"
    current.symlink_to("v1")
    stamps = FileStamps([str(current)])
    before = stamps.read()
    current.unlink()
    current.symlink_to("v2")
    assert before != stamps.read() is not None


_PATHS = st.lists(st.sampled_from((", ", "~", "/", "a"))).map(lambda parts: "/nowhere/" + "".join(parts))


@given(st.lists(_PATHS, min_size=1))
def test_several_sources_are_split_as_they_were_joined(paths: list[str]) -> None:
    assert [Path(path) for path in split_sources(join_sources(paths))] == [*map(Path, paths)]


def test_a_changed_list_of_ignored_files_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    ignored = tmp_path / ".gitignore"
    ignored.write_text("\n")
    stamps = FileStamps([str(tmp_path)])
    assert len(stamps.read() or {}) == 2
    ignored.write_text("b.md\n")
    assert len(stamps.read() or {}) == 1
