"""Links that a person follows: to files on this machine, to names and to nothing, and the links to a section."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, SectionLink
from roamtui.document.reader_links import FileLink, GuessedLink, LostLink, resolve_reader_link
from roamtui.library_loader import open_library
from tests.document.linked_notes import write_notes


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path)


def _first(library: Library) -> str:
    return [*library.walk()][-1] if library.root.columns.has_files else next(library.walk())


def _title(library: Library, link: object) -> str:
    assert isinstance(link, SectionLink), link
    return library.title_of(link.section_id)


def test_links_from_a_file_opened_alone_lead_to_the_files_beside_it(notes: Path) -> None:
    library = open_library([str(notes / "start.md")])
    origin = _first(library)
    rules, recipes = (notes / "rules.md").resolve(), (notes / "sub" / "Recipes.md").resolve()
    for href, expected in (
        ("rules.md#late-fees", FileLink(rules, "late-fees", is_outside=False)),
        ("rules", FileLink(rules, "", is_outside=False)),
        ("rules.html", FileLink(rules, "", is_outside=False)),
        ("/rules.md", FileLink(rules, "", is_outside=False)),
        ("sub", FileLink(notes.resolve() / "sub", "", is_outside=False)),
        ("[[Recipes#Rye bread]]", FileLink(recipes, "Rye bread", is_outside=False)),
        ("[[recipes]]", FileLink(recipes, "", is_outside=False)),
        ("../secret.md", FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)),
    ):
        assert resolve_reader_link(href, library, origin) == expected
        assert isinstance(resolve_reader_link(href, library, origin, with_files=False), DeadLink | LostLink)
    assert _title(library, resolve_reader_link("start.md#end", library, origin)) == "End"
    assert _title(library, resolve_reader_link("[[#End]]", library, origin)) == "End"
    assert _title(library, resolve_reader_link("[[End]]", library, origin)) == "End"


def test_in_a_folder_wikilinks_lead_to_files_by_their_names(notes: Path) -> None:
    library = open_library([str(notes)])
    rules = next(i for i in library.walk() if library.node(i).doc == "rules.md")
    for href, title in (
        ("[[Recipes]]", "Recipes.md"),
        ("[[sub/recipes.md]]", "Recipes.md"),
        ("[[recipes#rye bread]]", "Rye bread"),
        ("[[Rules#Loans]]", "Loans"),
    ):
        link = resolve_reader_link(href, library, rules)
        assert isinstance(link, SectionLink)
        assert library.title_of(link.section_id) in (title, title.removesuffix(".md"))
    odd = resolve_reader_link("#odd", library, next(i for i in library.walk() if library.title_of(i) == "Rye bread"))
    assert isinstance(odd, SectionLink)
    assert odd.span is not None


def test_a_link_to_the_top_folder_leads_to_its_index_page(notes: Path) -> None:
    (notes / "README.md").write_text("# Notes\n", "utf-8")
    (notes / "sub" / "up.md").write_text("# Up\n\n[notes](../)\n", "utf-8")
    library = open_library([str(notes)])
    origin = next(i for i in library.walk() if library.node(i).doc == "sub/up.md")
    for href in ("..", "../", "/", "../README.md"):
        assert _title(library, resolve_reader_link(href, library, origin)) == "README.md"


@pytest.mark.parametrize(
    ("href", "files"),
    [
        ("part/", ("part/README.md", "part/index.md", "part/index.mdx", "part.md")),
        ("part/", ("part/index.md", "part/index.mdx")),
        ("part", ("part/index.mdx", "part/other.md")),
        ("part", ("part/index.mdx", "part.md")),
        ("part", ("part.markdown", "part.txt")),
        ("part.html", ("part.txt", "part.rst")),
    ],
)
def test_a_link_leads_to_the_same_file_whether_its_folder_is_open_or_not(
    tmp_path: Path, href: str, files: tuple[str, ...]
) -> None:
    (tmp_path / "part").mkdir()
    for name in files:
        (tmp_path / name).write_text("# Part\n\nWords.\n", "utf-8")
    start = tmp_path / "start.md"
    start.write_text(f"# Start\n\n[part]({href})\n", "utf-8")
    alone, folder = open_library([str(start)]), open_library([str(tmp_path)])
    expected = FileLink((tmp_path / files[0]).resolve(), "", is_outside=False)
    assert resolve_reader_link(href, alone, _first(alone)) == expected
    origin = next(i for i in folder.walk() if folder.node(i).doc == "start.md")
    link = resolve_reader_link(href, folder, origin)
    assert isinstance(link, SectionLink)
    assert folder.node(link.section_id).doc == files[0]


def test_a_symbolic_link_out_of_the_folder_is_outside_and_a_loop_is_no_file(notes: Path) -> None:
    (notes / "out.md").symlink_to(notes.parent / "secret.md")
    (notes / "loop.md").symlink_to(notes / "loop.md")
    library = open_library([str(notes / "start.md")])
    out = resolve_reader_link("out.md", library, _first(library))
    assert out == FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)
    for href in ("loop.md", "a\0b.md", "x" * 5_000, "nothing/here.md", "rules.md/x"):
        assert isinstance(resolve_reader_link(href, library, _first(library)), LostLink)


def test_a_link_to_a_binary_file_says_where_the_file_is(notes: Path) -> None:
    (notes / "picture.png").write_bytes(b"\x89PNG\0\0")
    library = open_library([str(notes / "start.md")])
    link = resolve_reader_link("picture.png", library, _first(library))
    assert isinstance(link, DeadLink)
    assert str(notes / "picture.png") in link.reason


def test_a_dead_link_names_what_is_nearest(notes: Path) -> None:
    alone, folder = open_library([str(notes / "start.md")]), open_library([str(notes)])
    sub = next(i for i in folder.walk() if folder.node(i).doc == "sub/Recipes.md")
    for library, origin, href, nearest in (
        (alone, _first(alone), "rule.md#x", ("rules.md#x",)),
        (alone, _first(alone), "[[Recipe]]", ("[[sub/Recipes]]",)),
        (alone, _first(alone), "#ende", ("#end",)),
        (folder, sub, "../rulez.md", ("../rules.md",)),
    ):
        link = resolve_reader_link(href, library, origin)
        assert isinstance(link, LostLink)
        assert set(nearest) <= set(link.nearest)
        assert not isinstance(resolve_reader_link(link.nearest[0], library, origin), LostLink | DeadLink)


def test_a_link_between_joined_files_is_guessed_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "all.md").write_text("# A\n\n[b](b/setup.md) [c](x.md#late)\n\n## Setup\n\n## Late\n", "utf-8")
    library = open_library([str(tmp_path / "all.md")])
    for href, title in (("b/setup.md", "Setup"), ("x.md#late", "Late")):
        link = resolve_reader_link(href, library, _first(library))
        assert isinstance(link, GuessedLink)
        assert library.title_of(link.section_id) == title
        assert "No file" in link.note
