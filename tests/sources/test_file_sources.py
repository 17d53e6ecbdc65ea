"""Several sources are one listing in the given order, and changes of their files are detected cheaply."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import SourceError
from roamtui.sources.listing import FileStamps, SourceStamp, join_sources, list_sources, split_sources
from roamtui.sources.pictures import locate_document
from tests.sources.listings import keys, write


def test_files_of_several_folders_are_at_the_top_by_their_names(tmp_path: Path) -> None:
    names = {"x/a.md": "a.md (x)", "y/z/a.md": "a.md (z)", "x/b.md": "b.md", "v/z/a.md": "a.md (z) (2)"}
    write(tmp_path, *names, "y/docs/c.md")
    listing = list_sources([*(tmp_path / name for name in names), tmp_path / "y/docs", tmp_path / "y/docs/c.md"])
    assert keys(listing) == [*names.values(), "docs", "docs/c.md"]
    for name, key in (*names.items(), ("y/docs/c.md", "docs/c.md")):
        assert listing.files[key].path == tmp_path / name
        found = locate_document(listing.source, key)
        assert found is not None
        assert found.path == tmp_path / name
    with pytest.raises(SourceError, match="Did you mean"):
        list_sources([tmp_path / "x/a.md", tmp_path / "x/aa.md"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "docs", "a.md", "b/one.md", "b/two.md")
    return tmp_path / "docs"


def look(stamps: FileStamps) -> dict[str, SourceStamp]:
    return dict(stamps.read() or {})


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.md", "# longer than before\n"), ("b/three.md", "x"), ("b/one.md", ""), ("c/d/e.md", "x")],
    ids=["written", "new", "removed", "in a new folder"],
)
def test_a_change_shows_in_the_stamp_of_its_file_only(folder: Path, name: str, text: str) -> None:
    for directory in (folder, folder / "b"):
        os.utime(directory, ns=(1, 1))  # so that a change in the same tick shows
    stamps = FileStamps([str(folder)])
    before = look(stamps)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if text:
        path.write_text(text, "utf-8")
    else:
        path.unlink()
    after = look(stamps)
    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == {name}


_ABSOLUTE_PATHS = st.text(st.sampled_from("ab ,/C:\\.")).map(lambda name: str(Path("/", name)))


@given(st.lists(_ABSOLUTE_PATHS, min_size=2))
def test_several_sources_are_split_as_they_were_joined(paths: list[str]) -> None:
    split = split_sources(join_sources(paths))
    assert list(map(Path, split)) == [Path(re.sub("^//", "/", path)) for path in paths]
