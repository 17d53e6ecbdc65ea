"""`roamtui index` keeps the index of a source on disk; what searches uses it, and goes on without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.locations import cache_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand


def _list_indexes() -> list[Path]:
    return sorted((cache_path() / "indexes").glob("*.sqlite3"))


def test_an_index_is_kept_used_and_deleted(run: RunCommand, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "a.md").write_text("# Apples\n\nRed and round.\n", "utf-8")
    (folder / "b.md").write_text("# Dates\n\nBrown and sweet.\n", "utf-8")
    made = run("index", folder)
    assert made.code == 0
    [path] = _list_indexes()
    assert made.out.startswith("4 sections, 2 of them new or changed; ")
    assert made.out.endswith(f" MB in {path}\n")

    (folder / "b.md").write_text("# Dates\n\nBrown and dry.\n", "utf-8")
    assert ", 1 of them new or changed; " in run("index", folder).out
    hits = run("search", folder, "dry", "--json").json["hits"]
    assert [hit["path"][-1] for hit in hits] == ["Dates"]

    assert run("index", folder, "--delete").out == f"Deleted {path}\n"
    assert _list_indexes() == []
    assert run("index", folder, "--delete").out == "There is no index of this source.\n"


def test_a_damaged_index_is_said_once_and_the_answer_is_the_same(run: RunCommand, garden: Path) -> None:
    run("index", garden)
    before = run("search", garden, "late spade").out
    [path] = _list_indexes()
    path.write_bytes(b"no database at all")
    result = run("search", garden, "late spade")
    assert (result.code, result.out) == (0, before)
    assert result.err.startswith("roamtui: The search index of this source was damaged")
    assert result.err.count("\n") == 1
    assert run("search", garden, "late spade").err == ""


def test_a_small_source_leaves_no_index_behind(run: RunCommand, garden: Path) -> None:
    assert run("search", garden, "late spade").code == 0
    assert _list_indexes() == []


def test_where_none_can_be_kept_it_is_said(run: RunCommand, garden: Path) -> None:
    cache_path().mkdir(parents=True, exist_ok=True)
    (cache_path() / "indexes").write_text("no folder", "utf-8")
    result = run("index", garden)
    assert result.code == 1
    assert "The index cannot be kept in " in result.err
