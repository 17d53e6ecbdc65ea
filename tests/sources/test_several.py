"""Several sources as one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from roamtui.errors import SourceError
from roamtui.sources.listing import Listing
from roamtui.sources.several import list_sources


def write(root: Path, *names: str) -> list[Path]:
    paths = [root / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n", "utf-8")
    return paths


def keys(listing: Listing) -> list[str]:
    return [entry.key for entry in listing.entries]


def test_files_stand_in_the_order_given_once_each(tmp_path: Path) -> None:
    c, a, b = write(tmp_path, "c.md", "a.py", "b.md")
    listing = list_sources([c, a, b, c])
    assert keys(listing) == ["c.md", "a.py", "b.md"]
    assert listing.source == f"{c}, {a}, {b}"
    assert (listing.name, listing.bytes_total) == ("c.md, a.py, b.md", 12)
    assert listing.read("a.py").text == "# a\n"


def test_files_of_several_folders_stand_below_the_one_that_holds_all(tmp_path: Path) -> None:
    paths = write(tmp_path, "x/a.md", "y/z/a.md", "x/b.md")
    listing = list_sources(paths)
    assert keys(listing) == ["x", "x/a.md", "x/b.md", "y", "y/z", "y/z/a.md"]
    assert [listing.read(key).text for key in ("x/a.md", "y/z/a.md")] == ["# a\n", "# a\n"]


def test_folders_and_archives_among_them_are_listed(tmp_path: Path) -> None:
    (a,) = write(tmp_path, "a.md")
    write(tmp_path, "docs/b.md", "docs/sub/c.md")
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("e.md", "# E\n")
    listing = list_sources([tmp_path / "docs", a, tmp_path / "d.zip"])
    assert keys(listing) == ["docs", "docs/b.md", "docs/sub", "docs/sub/c.md", "a.md", "d.zip", "d.zip/e.md"]
    assert listing.read("d.zip/e.md").text == "# E\n"


def test_a_missing_one_is_told_at_once(tmp_path: Path) -> None:
    (path,) = write(tmp_path, "a.md")
    with pytest.raises(SourceError, match="Did you mean"):
        list_sources([path, tmp_path / "aa.md"])
