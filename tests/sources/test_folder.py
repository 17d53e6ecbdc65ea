"""What a folder's listing holds, in which order, and what stays out of it. Nothing is read before it is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roamtui.errors import SourceError
from roamtui.sources import folder as folder_module
from roamtui.sources.folder import list_folder
from roamtui.sources.listing import Listing


def write(root: Path, *names: str, text: str = "# Title\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def keys(listing: Listing) -> list[str]:
    return [entry.key for entry in listing.entries]


def test_folders_and_files_stand_in_the_order_of_reading(tmp_path: Path) -> None:
    write(
        tmp_path, "zebra.md", "Apple.md", "part10.md", "part2.md", "readme.txt", "b/index.md", "b/a.md", "b/README.md"
    )
    assert keys(list_folder(tmp_path)) == [
        *("readme.txt", "Apple.md", "b", "b/README.md", "b/index.md", "b/a.md", "part2.md", "part10.md", "zebra.md"),
    ]


def test_only_documents_are_listed(tmp_path: Path) -> None:
    shown = ["a.md", "b.MARKDOWN", "c.mdx", "d.txt", "e.rst", "f.csv", "g.log", "k.html", "l.PDF", "m.epub", "n.docx"]
    write(tmp_path, *shown, "h.py", "i.png", "j", ".hidden.md", "empty/x.py")
    assert keys(list_folder(tmp_path)) == shown


def test_what_gitignore_names_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "draft.md", "build/x.md", "docs/build.md", "docs/old/x.md", "docs/new/x.md")
    (tmp_path / ".gitignore").write_text("build/\n/draft.md\n")
    (tmp_path / "docs/.gitignore").write_text("/old\n")
    assert keys(list_folder(tmp_path)) == ["a.md", "docs", "docs/build.md", "docs/new", "docs/new/x.md"]


def test_rules_of_the_checkout_above_hold_unless_they_name_the_folder_itself(tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD", "docs/a.md", "docs/draft.md", "build/draft.md")
    (tmp_path / ".gitignore").write_text("draft.md\nbuild/\n")
    assert keys(list_folder(tmp_path / "docs")) == ["a.md"]
    assert keys(list_folder(tmp_path / "build")) == ["draft.md"]


def test_links_that_lead_out_are_left_out_with_a_note(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, "secret.md", "secrets/x.md", "root/a.md")
    (root / "file.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path / "secrets")
    (root / "dots.md").symlink_to("../secret.md")
    listing = list_folder(root)
    assert keys(listing) == ["a.md"]
    assert listing.notes == ("Left out: dots.md, file.md, folder (links that lead out of the folder).",)


def test_links_inside_are_followed_to_files_and_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    (tmp_path / "c.md").symlink_to("a/b.md")
    (tmp_path / "a/up").symlink_to("..")
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    listing = list_folder(tmp_path)
    assert keys(listing) == ["a", "a/b.md", "c.md"]
    assert listing.notes == ()


def test_pipes_and_devices_are_no_documents(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert keys(list_folder(tmp_path)) == ["a.md"]


def test_names_that_are_no_utf8_are_shown_and_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as file:  # noqa: PTH123 - a name of bytes
        file.write("# Café\n")
    listing = list_folder(tmp_path)
    assert keys(listing) == ["caf\\xe9.md"]
    assert listing.read("caf\\xe9.md").text == "# Café\n"


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b/c.png")
    with pytest.raises(SourceError, match="holds no Markdown or text file"):
        list_folder(tmp_path)
    with pytest.raises(SourceError, match="cannot be listed: No such file"):
        list_folder(tmp_path / "gone")


def test_a_folder_that_may_not_be_read_is_told_and_the_rest_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "shut/b.md")
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    listing = list_folder(tmp_path)
    assert keys(listing) == ["a.md"]
    assert listing.notes == ("Left out: shut (folders that cannot be read).",)


def test_too_many_files_are_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "FILES_MAX", 3)
    write(tmp_path, *(f"{number}.md" for number in range(5)))
    listing = list_folder(tmp_path)
    assert keys(listing) == ["0.md", "1.md", "2.md"]
    assert "More than 3 files" in listing.notes[0]


def test_folders_deeper_than_the_limit_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "DEPTH_MAX", 2)
    write(tmp_path, "a/b/c/d.md", "a/b/c.md")
    listing = list_folder(tmp_path)
    assert keys(listing) == ["a", "a/b", "a/b/c.md"]
    assert listing.notes == ("Left out: a/b/c (more than 2 folders deep).",)


def test_a_giant_file_is_refused_when_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "FILE_BYTES_MAX", 5)
    write(tmp_path, "a.md")
    with pytest.raises(SourceError, match=r"a\.md is larger than"):
        list_folder(tmp_path).read("a.md")


def test_listing_reads_no_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "b.md")
    monkeypatch.setattr(folder_module, "read_file", lambda _path: pytest.fail("a document was read"))
    assert len(list_folder(tmp_path).entries) == 2


def test_files_that_take_long_to_convert_are_not_read_at_the_start(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.html")
    small = list_folder(tmp_path).bytes_total
    write(tmp_path, "c.pdf")
    assert small == 16
    assert list_folder(tmp_path).bytes_total > 1_000_000
