"""Stamps of many files: what was written, came or went is seen, and folders are walked again only when they changed."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from roamtui.sources import listing
from roamtui.sources.listing import FileStamps, SourceStamp, stamp_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "b").mkdir(parents=True)
    for name in ("a.md", "b/one.md", "b/two.md"):
        (folder / name).write_text(f"# {name}\n", "utf-8")
    return folder


def look(stamps: FileStamps) -> dict[str, SourceStamp]:
    found = stamps.look()
    assert found is not None
    return dict(found)


def _write(folder: Path) -> None:
    (folder / "a.md").write_text("# longer than before\n", "utf-8")


def _add(folder: Path) -> None:
    (folder / "b/three.md").write_text("x", "utf-8")


def _remove(folder: Path) -> None:
    (folder / "b/one.md").unlink()


def _replace(folder: Path) -> None:
    (folder / "b/new").write_text("# b/two.md\n", "utf-8")
    (folder / "b/new").replace(folder / "b/two.md")


def _add_folder(folder: Path) -> None:
    (folder / "c/d").mkdir(parents=True)
    (folder / "c/d/e.md").write_text("x", "utf-8")


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        (_write, {"a.md"}),
        (_add, {"b/three.md"}),
        (_remove, {"b/one.md"}),
        (_replace, {"b/two.md"}),
        (_add_folder, {"c/d/e.md"}),
    ],
)
def test_what_changed_is_seen_and_nothing_else(folder: Path, change: Callable[[Path], None], keys: set[str]) -> None:
    for directory in (folder, folder / "b"):
        os.utime(directory, ns=(1, 1))  # so that a change in the same tick shows
    stamps = FileStamps([str(folder)])
    before = look(stamps)
    assert set(before) == {"a.md", "b/one.md", "b/two.md"}
    change(folder)
    after = look(stamps)
    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == keys


def test_folders_are_not_walked_again_while_nothing_comes_or_goes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = FileStamps([str(folder)])
    look(stamps)
    monkeypatch.setattr(listing, "list_sources", None)
    _write(folder)
    assert set(look(stamps)) == {"a.md", "b/one.md", "b/two.md"}


def test_a_source_that_is_away_has_no_stamps_until_it_is_back(folder: Path) -> None:
    stamps = FileStamps([str(folder)])
    before = look(stamps)
    folder.rename(folder.with_name("away"))
    assert stamps.look() is None
    folder.with_name("away").rename(folder)
    assert look(stamps) == before


def test_archives_and_several_sources_have_keys_as_in_their_listing(folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "z.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("x/y.md", "x")
    stamps = FileStamps([str(folder / "a.md"), str(folder / "b"), str(archive)])
    before = look(stamps)
    assert set(before) == {"docs/a.md", "docs/b/one.md", "docs/b/two.md", "z.zip/x/y.md"}
    os.utime(archive, ns=(1, 1))
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr("x/z.md", "x")
    after = look(stamps)
    assert {key for key in after if before.get(key) != after[key]} == {"z.zip/x/y.md", "z.zip/x/z.md"}


@pytest.mark.parametrize("source", ["-", "https://example.org/a.md", "no/such/file.md", "nul\0.md", ""])
def test_what_is_no_file_has_none(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert stamp_source(source) is None
