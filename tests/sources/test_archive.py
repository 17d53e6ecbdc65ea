"""Zip archives are read in memory, within limits, and no name leads outside them."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from roamtui.errors import SourceError
from roamtui.sources import archive as archive_module
from roamtui.sources.archive import list_archive
from tests.sources.listings import keys


def make_zip(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_documents_in_an_archive_are_listed_and_read(tmp_path: Path) -> None:
    members = {"b/x.md": "# X\n", "README.md": "# R\n", "b/y.csv": "# 1\n", "b/z.png": "", ".git/a.md": ""}
    path = make_zip(tmp_path / "docs.zip", members)
    listing = list_archive(path)
    assert keys(listing) == ["README.md", "b", "b/x.md", "b/y.csv"]
    assert (listing.source, listing.name, listing.load_cost_total) == (str(path), "docs.zip", 12)
    path.unlink()
    assert listing.readers["b/x.md"]().text == "# X\n"
    assert [listing.readers[key]().is_markdown for key in ("b/x.md", "b/y.csv")] == [True, False]


def test_names_outside_the_archive_are_skipped_with_a_note(tmp_path: Path) -> None:
    names = ["../up.md", "a/../../up.md", "/etc/x.md", "C:/x.md", "a\\b.md", "\\\\host\\x.md", "a/./b.md", "ok.md"]
    listing = list_archive(make_zip(tmp_path / "evil.zip", dict.fromkeys(names, "# T\n")))
    assert keys(listing) == ["a", "a/b.md", "ok.md"]
    assert len(listing.notes) == 1
    assert "and 3 more (names that lead outside the archive)" in listing.notes[0]
    assert "'../up.md'" in listing.notes[0]


def test_files_in_folders_that_are_too_deep_are_skipped_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "DEPTH_MAX", 2)
    members = dict.fromkeys(["a/b/c.md", "a/b/c/d.md", "a/b/c/e.png"], "# T\n")
    listing = list_archive(make_zip(tmp_path / "deep.zip", members))
    assert keys(listing) == ["a", "a/b", "a/b/c.md"]
    assert listing.notes == ("Skipped: 'a/b/c/d.md' (more than 2 folders deep).",)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_of_two_members_is_noted(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"a.md": "# Old\n", "b.md": "# File\n", "b.md/c.md": "# C\n"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.md", "# New\n")
    listing = list_archive(path)
    assert keys(listing) == ["a.md", "b.md", "b.md/c.md"]
    assert listing.readers["a.md"]().text == "# New\n"
    assert listing.notes == ("Skipped: 'a.md', 'b.md' (names that another file or folder in it also has).",)


def test_links_in_an_archive_are_left_out(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"a.md": "# A\n"})
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert keys(list_archive(path)) == ["a.md"]


@pytest.mark.parametrize(("method", "module"), [(zipfile.ZIP_BZIP2, "bz2"), (zipfile.ZIP_LZMA, "lzma")])
def test_a_member_that_can_only_be_unpacked_whole_is_refused(tmp_path: Path, method: int, module: str) -> None:
    pytest.importorskip(module)
    path = make_zip(tmp_path / "a.zip", {"a.md": "# A\n"})
    with zipfile.ZipFile(path, "a", method) as archive:
        archive.writestr("b.md", "\n" * 10_000_000)
    listing = list_archive(path)
    with pytest.raises(SourceError, match=r"b\.md uses an unsupported compression"):
        listing.readers["b.md"]()
    assert listing.readers["a.md"]().text == "# A\n"


def test_an_archive_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_zip(tmp_path / "bomb.zip", {f"{number}.md": "a" * 100_000 for number in range(4)})
    assert path.stat().st_size < 5_000
    monkeypatch.setattr(archive_module, "ARCHIVE_BYTES_MAX", 300_000)
    with pytest.raises(SourceError, match="Unpack it and open one of its folders"):
        list_archive(path)
    monkeypatch.setattr(archive_module, "ARCHIVE_BYTES_MAX", 500_000)
    assert len(list_archive(path).readers) == 4
    monkeypatch.setattr(archive_module, "FILES_MAX", 3)
    with pytest.raises(SourceError, match="more than 3 documents"):
        list_archive(path)
    monkeypatch.setattr(archive_module, "_MEMBERS_MAX", 3)
    with pytest.raises(SourceError, match="more than 3 files"):
        list_archive(path)
    monkeypatch.setattr(archive_module, "ARCHIVE_BYTES_MAX", 50)
    with pytest.raises(SourceError, match="is larger than"):
        list_archive(path)


def test_a_giant_member_is_refused_when_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_zip(tmp_path / "a.zip", {"a.md": "# A\n" * 100, "b.md": "# B\n"})
    listing = list_archive(path)
    monkeypatch.setattr(archive_module, "FILE_BYTES_MAX", 50)
    with pytest.raises(SourceError, match=r"a\.md is larger than"):
        listing.readers["a.md"]()
    assert listing.readers["b.md"]().text == "# B\n"


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"a.md": "# A\n"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"a\.md is encrypted"):
        list_archive(path).readers["a.md"]()


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.md", "# Alpha\n")
    path.write_bytes(path.read_bytes().replace(b"# Alpha", b"# Alphb"))
    with pytest.raises(SourceError, match=r"a\.md cannot be unpacked"):
        list_archive(path).readers["a.md"]()


@pytest.mark.parametrize("content", [b"", b"# no archive\n", b"PK\x03\x04" + bytes(64)])
def test_a_file_that_is_not_an_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a zip archive"):
        list_archive(path)
