"""Sources are read as the settings say, and only changed or new files are read again."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.bootstrap import Bootstrap, open_library
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.errors import UsageError
from roamtui.opening.loader import load_pages
from roamtui.paths import get_cache_path, get_config_path, make_private_folder
from roamtui.search.index import IndexLocation
from tests.fakes.site import FakeSite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# Title of {name}\n\nText of {name}.\n", "utf-8")
    return tmp_path


def titles(library: Library) -> list[str]:
    return [library.node(section_id).title for section_id in library.walk()]


def test_only_changed_and_new_files_are_read(folder: Path) -> None:
    before = replace(open_library([str(folder)]), summaries={hash_text("x"): "Of x."})
    (folder / "a.md").write_text("# Nobody noticed\n", "utf-8")
    (folder / "b.md").write_text("# Other title\n", "utf-8")
    (folder / "c.md").unlink()
    (folder / "d.md").write_text("# New\n", "utf-8")
    after = Bootstrap().reload(before, frozenset({"b.md", "c.md", "d.md"}))
    assert titles(after) == ["a.md", "Title of a", "b.md", "Other title", "d.md", "New"]
    assert [*before.walk()][:2] == [*after.walk()][:2]
    assert after.summaries == before.summaries


def test_a_person_hears_that_the_summaries_of_a_source_are_lost(folder: Path) -> None:
    path = IndexLocation(folder=get_cache_path("indexes")).get_path(open_library([str(folder)]))
    assert path is not None
    make_private_folder(path.parent)
    path.write_bytes(b"garbage " * 1_000)
    warnings: list[str] = []
    library, _ = Bootstrap(on_warning=warnings.append).open([str(folder)])
    assert library.summaries == {}
    assert ["summaries" in warning for warning in warnings] == [True]


def test_what_could_not_be_read_is_read_again(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"\x89PNG\r\n\0\0\0")
    before = open_library([str(folder)])
    (folder / "a.md").write_text("# Mended\n", "utf-8")
    assert titles(Bootstrap().reload(before, frozenset()))[:2] == ["a.md", "Mended"]


def test_a_site_is_read_again_with_the_pages_that_it_had() -> None:
    pages = {f"/{name}.md": f"# {name}\n\nText of {name}.\n" for name in ("a", "b", "c")}
    listing = "# Site\n\n## Docs\n\n- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n"
    with FakeSite({"/llms.txt": listing, **pages}) as site:
        before, loader = Bootstrap().open([site.url("/llms.txt")])
        assert loader is not None
        before = load_pages(before, loader, [one for one in before.walk() if before.node(one).title in ("A", "B")])
        site.forget()
        site.pages["/b.md"] = "# b\n\nOther words.\n"
        after = Bootstrap().reload(before, frozenset())
        assert sorted(site.counts.paths) == ["/a.md", "/b.md", "/llms.txt"]
        texts = {document.key: document.text for document in after.documents}
        assert texts[site.url("/a.md")] == site.pages["/a.md"]
        assert texts[site.url("/b.md")] == site.pages["/b.md"]
        assert [*after.walk()] == [*before.walk()]


def test_sources_are_read_as_the_settings_say() -> None:
    make_private_folder(get_config_path().parent)
    get_config_path().write_text(
        '[web]\nallow = ["https://docs.example.com/a"]\nproxy = "http://127.0.0.1:9"\n', "utf-8"
    )
    loading = Bootstrap().loading
    assert loading.parse_allowed() == frozenset({"https://docs.example.com"})
    assert loading.fetching.proxy == "http://127.0.0.1:9"


def test_an_invalid_allowed_address_is_refused_in_one_sentence() -> None:
    bootstrap = Bootstrap(allowed_origins=("ftp://a",))
    with pytest.raises(UsageError, match=r"^--allow-origin or web\.allow cannot be used: ftp://a cannot be fetched"):
        bootstrap.reopen_file("https://example.com/a.md", is_trusted=False)
