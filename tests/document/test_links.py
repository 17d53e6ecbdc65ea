"""Links that a person follows: to files on this machine, to names and to nothing, and the links to a section."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.document.library import Library
from roamtui.document.links import DeadLink, FileLink, SectionLink, resolve_link
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from tests.document.linked_notes import write_notes


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path)


def follow(href: str, library: Library, section_id: str) -> object:
    return resolve_link(href, library, section_id, with_files=True)


def _first(library: Library) -> str:
    return [*library.walk()][-1] if library.root.columns.has_files else next(library.walk())


def _title(library: Library, link: object) -> str:
    assert isinstance(link, SectionLink), link
    return library.title_of(link.section_id)


def test_links_from_a_file_opened_alone_lead_to_the_files_beside_it(notes: Path) -> None:
    library = open_library([str(notes / "start.md")])
    origin = _first(library)
    rules = (notes / "rules.md").resolve()
    for href, expected in (
        ("rules.md#late-fees", FileLink(rules, "late-fees", is_outside=False)),
        ("rules", FileLink(rules, "", is_outside=False)),
        ("rules.html", FileLink(rules, "", is_outside=False)),
        ("/rules.md", FileLink(rules, "", is_outside=False)),
        ("sub", FileLink(notes.resolve() / "sub", "", is_outside=False)),
        ("../secret.md", FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)),
    ):
        assert follow(href, library, origin) == expected
        assert isinstance(resolve_link(href, library, origin), DeadLink)
    assert _title(library, follow("start.md#end", library, origin)) == "End"
    assert _title(library, follow("[[#End]]", library, origin)) == "End"
    assert _title(library, follow("[[End]]", library, origin)) == "End"


def test_in_a_folder_wikilinks_lead_to_files_by_their_names(notes: Path) -> None:
    library = open_library([str(notes)])
    rules = next(i for i in library.walk() if library.node(i).doc == "rules.md")
    for href, title in (
        ("[[Recipes]]", "Recipes.md"),
        ("[[sub/recipes.md]]", "Recipes.md"),
        ("[[recipes#rye bread]]", "Rye bread"),
        ("[[Rules#Loans]]", "Loans"),
    ):
        link = follow(href, library, rules)
        assert isinstance(link, SectionLink)
        assert library.title_of(link.section_id) in (title, title.removesuffix(".md"))
    odd = follow("#odd", library, next(i for i in library.walk() if library.title_of(i) == "Rye bread"))
    assert isinstance(odd, SectionLink)
    assert odd.span is not None


def test_a_link_to_the_top_folder_leads_to_its_index_page(notes: Path) -> None:
    (notes / "README.md").write_text("# Notes\n", "utf-8")
    (notes / "sub" / "up.md").write_text("# Up\n\n[notes](../)\n", "utf-8")
    library = open_library([str(notes)])
    origin = next(i for i in library.walk() if library.node(i).doc == "sub/up.md")
    for href in ("..", "../", "/", "../README.md"):
        assert _title(library, follow(href, library, origin)) == "README.md"


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
    assert follow(href, alone, _first(alone)) == expected
    origin = next(i for i in folder.walk() if folder.node(i).doc == "start.md")
    link = follow(href, folder, origin)
    assert isinstance(link, SectionLink)
    assert folder.node(link.section_id).doc == files[0]


def test_a_symbolic_link_out_of_the_folder_is_outside_and_a_loop_is_no_file(notes: Path) -> None:
    (notes / "out.md").symlink_to(notes.parent / "secret.md")
    (notes / "loop.md").symlink_to(notes / "loop.md")
    library = open_library([str(notes / "start.md")])
    out = follow("out.md", library, _first(library))
    assert out == FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)
    for href in ("loop.md", "a\0b.md", "x" * 5_000, "nothing/here.md", "rules.md/x"):
        assert isinstance(follow(href, library, _first(library)), DeadLink)


TEXT = "# Top\n\n## Two Words, one *comma*\n\n## Twice\n\n## Twice\n\n## Über `x_y`-Maß\n"


@pytest.fixture
def library() -> Library:
    return build_library(RawText(text=TEXT, source="t.md", name="t"))


@pytest.mark.parametrize(
    ("href", "title", "nth"),
    [
        ("#two-words-one-comma", "Two Words, one comma", 0),
        ("#TWICE", "Twice", 0),
        ("#twice-1", "Twice", 1),
        ("#%C3%BCber-x_y-ma%C3%9F", "Über x_y-Maß", 0),
    ],
)
def test_an_anchor_leads_to_its_heading(library: Library, href: str, title: str, nth: int) -> None:
    ids = [section_id for section_id in library.walk() if library.title_of(section_id) == title]
    assert resolve_link(href, library, next(library.walk())) == SectionLink(ids[nth])


@pytest.mark.parametrize(
    "href", ["#nowhere", "other.md", "javascript:alert(1)", "file:///etc/passwd", "//host/x", "http://[", "https:x"]
)
def test_everything_else_is_dead_and_says_why(library: Library, href: str) -> None:
    end = resolve_link(href, library, next(library.walk()))
    assert isinstance(end, DeadLink)
    assert end.reason.endswith(".")


@pytest.mark.parametrize(
    ("href", "title"),
    [
        ("b.md", "b.md"),
        ("./b.md#more-of-b", "More of B"),
        ("b", "b.md"),
        ("b.html#nowhere", "b.md"),
        ("../top.md", "top.md"),
        ("/top.md", "top.md"),
        ("../../../top.md", "top.md"),
        ("sub", "README.md"),
    ],
)
def test_a_relative_path_in_a_folder_leads_to_its_file(href: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "a/sub").mkdir(parents=True)
    for name in ("a/a.md", "a/b.md", "a/sub/README.md", "top.md"):
        stem = Path(name).stem.upper()
        (tmp_path / name).write_text(f"# {stem}\n\n## More of {stem}\n", "utf-8")
    library = open_library([str(tmp_path)])
    origin = next(node_id for node_id in library.walk() if library.title_of(node_id) == "More of A")
    end = resolve_link(href, library, origin)
    assert isinstance(end, SectionLink)
    assert library.title_of(end.section_id) == title
    assert isinstance(resolve_link("gone.md", library, origin), DeadLink)


NOTES = (
    "# Top\n\nA word[^1] and one[^b] more[^1].\n\n## Notes\n\nText [^1]: no note.\n\n  [^1]: The note.\n[^b]:Another.\n"
)


@pytest.mark.parametrize(
    ("href", "title", "before", "after"),
    [
        ("[^1]", "Notes", "no note.\n\n  ", ": The note."),
        ("[^b]", "Notes", "The note.\n", ":Another."),
        ("[^1]:", "Top", "A word", " and one"),
        ("[^b]:", "Top", " and one", " more"),
    ],
)
def test_a_footnote_leads_to_its_text_and_back(href: str, title: str, before: str, after: str) -> None:
    library = build_library(RawText(text=NOTES, source="n.md", name="n"))
    end = resolve_link(href, library, next(library.walk()))
    assert isinstance(end, SectionLink)
    assert library.title_of(end.section_id) == title
    assert end.span is not None
    assert NOTES[: end.span.start].endswith(before)
    assert NOTES[end.span.end :].startswith(after)
