"""A library of several files that is read again: only what changed or is new is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.loader import load_pages
from roamtui.library_loader import open_lazily, open_library, reload_library
from tests.fakes.site import FakeSite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# Title of {name}\n\nText of {name}.\n", "utf-8")
    return tmp_path


def titles(library: Library) -> list[str]:
    return [library.title_of(section_id) for section_id in library.walk()]


def test_only_changed_and_new_files_are_read(folder: Path) -> None:
    before = replace(open_library([str(folder)]), summaries={hash_text("x"): "Of x."})
    (folder / "a.md").write_text("# Nobody noticed\n", "utf-8")
    (folder / "b.md").write_text("# Other title\n", "utf-8")
    (folder / "c.md").unlink()
    (folder / "d.md").write_text("# New\n", "utf-8")
    after = reload_library(before, frozenset({"b.md", "c.md", "d.md"}), sources=[str(folder)])
    assert titles(after) == ["a.md", "Title of a", "b.md", "Other title", "d.md", "New"]
    assert [*before.walk()][:2] == [*after.walk()][:2]
    assert after.summaries == before.summaries


def test_what_was_not_read_before_stays_unread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.library_loader._LOADED_AT_START_BYTES", 0)
    before, loader = open_lazily([str(folder)])
    assert loader is not None
    first = before.list_unloaded_files()[:1]
    before = before.graft_all(loader.load_batch(before, first, frozenset()).documents)
    after = reload_library(before, frozenset({"b.md"}), sources=[str(folder)])
    assert len(after.list_unloaded_files()) == 2


def test_a_site_is_read_again_with_the_pages_that_it_had() -> None:
    pages = {f"/{name}.md": f"# {name}\n\nText of {name}.\n" for name in ("a", "b", "c")}
    listing = "# Site\n\n## Docs\n\n- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n"
    with FakeSite({"/llms.txt": listing, **pages}) as site:
        sources = [site.url("/llms.txt")]
        before, loader = open_lazily(sources)
        assert loader is not None
        before = load_pages(before, loader, [one for one in before.walk() if before.title_of(one) in ("A", "B")])
        site.forget()
        site.pages["/b.md"] = changed = "# b\n\nOther words.\n"
        after = reload_library(before, frozenset(), sources=sources)
        assert sorted(site.counts.paths) == ["/a.md", "/b.md", "/llms.txt"]
        assert site.counts.bytes_sent == len(changed)
        texts = {document.key: document.text for document in after.documents}
        assert texts[site.url("/a.md")] == site.pages["/a.md"]
        assert texts[site.url("/b.md")] == site.pages["/b.md"]
        assert [*after.walk()] == [*before.walk()]
