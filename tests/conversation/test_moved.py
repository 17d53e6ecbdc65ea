"""The document of a saved conversation is found where it is now."""

from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.conversation.library_sync import hash_library
from roamtui.conversation.moved import describe_missing, find_moved

TEXT = "# Lamps\n\nThe lamp is lit at nine.\n"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a document, with a current folder beside that of the document."""
    path = tmp_path / "docs" / "lamps.md"
    current = tmp_path / "current"
    for folder in (path.parent, current):
        folder.mkdir()
    path.write_text(TEXT, "utf-8")
    monkeypatch.chdir(current)
    return path


@pytest.mark.parametrize(
    ("place", "text", "has_same_text"),
    [
        ("docs/lights.md", TEXT, True),
        ("docs/old/lamps.md", TEXT, True),
        ("current/lamps.md", TEXT, True),
        ("current/lights.md", TEXT, True),
        ("current/in/lamps.md", TEXT, True),
        ("current/lamps.md", "# Other\n", False),
        ("current/lights.md", "# Other\n", None),
        ("elsewhere/far/away/lamps.md", TEXT, None),
    ],
)
def test_a_document_is_found_by_its_text_or_its_name(
    old: Path, tmp_path: Path, place: str, text: str, has_same_text: object
) -> None:
    digest = hash_library(open_library([str(old)]))
    old.unlink()
    new = tmp_path / place
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_text(text, "utf-8")
    found = find_moved(str(old), digest)
    assert (None if found is None else (found.path, found.has_same_text)) == (
        None if has_same_text is None else (str(new), has_same_text)
    )
    command = f"`roamtui {new if found else 'FILE'} --conversation c0ffee`"
    assert describe_missing(str(old), digest, "c0ffee").endswith(f": run {command}.")


def test_the_same_text_comes_before_the_same_name(old: Path) -> None:
    digest = hash_library(open_library([str(old)]))
    Path("lamps.md").write_text("# Other\n", "utf-8")
    renamed = old.rename(old.with_name("lights.md"))
    found = find_moved(str(old), digest)
    assert found is not None
    assert found.path == str(renamed)


def test_a_folder_is_found_by_its_name(old: Path, tmp_path: Path) -> None:
    digest = hash_library(open_library([str(old.parent)]))
    (tmp_path / "moved").mkdir()
    moved = old.parent.rename(tmp_path / "moved" / "docs")
    found = find_moved(str(old.parent), digest)
    assert found is not None
    assert found.path == str(moved)


@pytest.mark.parametrize("source", ["/a.md, /b.md", "/nowhere/at/all", "/\udcff/x.md"])
@pytest.mark.usefixtures("old")
def test_what_is_nowhere_is_not_found(source: str) -> None:
    assert find_moved(source, "") is None
    assert "run `roamtui FILE" in describe_missing(source, "", "c0ffee")
