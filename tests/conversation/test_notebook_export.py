"""Exporting notebooks: what is copied, where it is found again, and that a failure leaves nothing behind."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from roamtui.conversation.notebook_export import export_notebook
from roamtui.conversation.notebooks import EXPORT_NAME, Notebook, read_notebook_file
from roamtui.document.library_source import LibrarySource
from roamtui.document.source_loader import open_sources
from roamtui.errors import RoamtuiError, SourceError, StoreError, UsageError
from roamtui.sources.file_sources import join_sources
from roamtui.sources.pictures import find_picture


def export(folder: Path, *sources: Path | str | tuple[str, str]) -> Path:
    pairs = [source if isinstance(source, tuple) else (str(source), Path(source).name) for source in sources]
    named = tuple(LibrarySource(name=name, key=key) for name, key in pairs)
    export_notebook(Notebook(name="law", sources=named), folder)
    return folder


def list_files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    folder = tmp_path / "acts"
    for name in (".git/config", ".env", "__pycache__/a.md", "build/out.md", "a.pyc", "pictures/spare.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# Secret\n")
    (folder / ".gitignore").write_text("build/\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "one.md").write_text("# One\n\n![A plan](../pictures/plan.png) ![Not one](../.env)\n")
    (folder / "pictures" / "plan.png").write_bytes(b"png")
    return folder


def test_an_export_has_copies_and_relative_paths(tmp_path: Path, acts: Path) -> None:
    out = export(tmp_path / "out", acts)
    assert 'source = "sources/acts"' in (out / EXPORT_NAME).read_text()
    out.rename(tmp_path / "elsewhere")
    (moved,) = read_notebook_file(tmp_path / "elsewhere" / EXPORT_NAME)[1]
    assert (Path(moved.name) / "sub" / "one.md").read_text().startswith("# One\n")
    with pytest.raises(UsageError, match="is not empty"):
        export(tmp_path / "elsewhere", acts)
    with pytest.raises(RoamtuiError, match="There is no file"):
        export(tmp_path / "third", "/gone.md")


def test_only_documents_and_their_pictures_are_copied(tmp_path: Path, acts: Path) -> None:
    out = export(tmp_path / "out", acts)
    assert list_files(out) == [EXPORT_NAME, "sources/acts/pictures/plan.png", "sources/acts/sub/one.md"]
    assert find_picture(str(out / "sources" / "acts"), "sub/one.md", "../pictures/plan.png") is not None


def test_the_pictures_of_single_documents_are_copied_beside_each(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text("# X\n\n![It][it]\n\n[it]: it.png\n")
        (tmp_path / name / "it.png").write_text(name)
    (tmp_path / "data.csv").write_text("# is no heading\n")
    sources = [(str(tmp_path / "a" / "x.md"), "x.md"), (str(tmp_path / "b" / "x.md"), "x.md (2)")]
    out = export(tmp_path / "out", *sources, (str(tmp_path / "data.csv"), "data.csv (2)"))
    opened = read_notebook_file(out / EXPORT_NAME)[1]
    assert [source.key for source in opened] == ["x.md", "x.md (2)", "data.csv (2)"]
    for source, words in zip(opened, ("a", "b"), strict=False):
        picture = find_picture(source.name, "", "it.png")
        assert picture is not None
        assert picture.path.read_text() == words
    assert Path(opened[2].name).suffix == ".csv", "its ending says how it is read"


def test_a_source_of_several_files_keeps_their_keys(tmp_path: Path, acts: Path) -> None:
    (tmp_path / "a.md").write_text("# a\n")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("in/b.md", "# b\n")
    name = join_sources(map(str, (tmp_path / "a.md", tmp_path / "b.zip", acts)))
    before = open_sources((str(tmp_path / "a.md"), str(tmp_path / "b.zip"), str(acts)))[0]
    (source,) = read_notebook_file(export(tmp_path / "out", (name, "both")) / EXPORT_NAME)[1]
    after = open_sources((source.name,))[0]
    assert {*after.walk()} == {*before.walk()}
    (tmp_path / "a.md").unlink()
    with pytest.raises(SourceError, match="There is no file"):
        export(tmp_path / "again", (name, "both"))


@pytest.mark.parametrize("is_there", [True, False])
def test_a_failed_export_leaves_nothing_behind(tmp_path: Path, acts: Path, *, is_there: bool) -> None:
    out = tmp_path / "new" / "out"
    (out if is_there else tmp_path / "new").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no Markdown"):
        export(out, acts, tmp_path / "empty")
    notebook = Notebook(name="law", sources=(LibrarySource(name=str(acts), key="acts"),))
    with pytest.raises(StoreError, match="Could not export to"):
        export_notebook(notebook, out, {"conversations/a.md": "# A\n", "conversations": "is a folder"})
    assert list((tmp_path / "new").rglob("*")) == ([out] if is_there else [])
    export(out, acts)
    assert sorted(path.name for path in out.iterdir()) == [EXPORT_NAME, "sources"]
