"""Links that a person follows: to files on this machine, to names and to nothing, and the links to a section."""

from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.convert.html import convert_html
from roamtui.document.library import Library
from roamtui.document.links import DeadLink, FileLink, SectionLink, WebLink, resolve_link
from roamtui.document.parse import parse_source_text
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from tests.case_files import read_rows
from tests.document.linked_notes import write_notes


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path)


def follow(href: str, library: Library, section_id: str) -> object:
    return resolve_link(href, library, section_id, with_files=True)


def _first(library: Library) -> str:
    return [*library.walk()][-1] if library.root.columns.is_listing else next(library.walk())


def _title(library: Library, link: object) -> str:
    assert isinstance(link, SectionLink), link
    return library.node(link.section_id).title


def test_links_from_a_file_opened_alone_lead_to_the_files_beside_it(notes: Path) -> None:
    library = open_library([str(notes / "start.md")])
    origin = _first(library)
    rules = (notes / "rules.md").resolve()
    for href, expected in (
        ("rules.md#late-fees", FileLink(rules, "late-fees", is_outside=False)),
        ("rules", FileLink(rules, "", is_outside=False)),
        ("sub", FileLink(notes.resolve() / "sub", "", is_outside=False)),
        ("../secret.md", FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)),
    ):
        assert follow(href, library, origin) == expected
        assert isinstance(resolve_link(href, library, origin), DeadLink)
    assert _title(library, follow("start.md#end", library, origin)) == "End"
    assert follow("start.md", library, [*library.walk()][-1]) == SectionLink(library.root.ids[0])
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
        assert library.node(link.section_id).title in (title, title.removesuffix(".md"))
    odd = follow("#odd", library, next(i for i in library.walk() if library.node(i).title == "Rye bread"))
    assert isinstance(odd, SectionLink)
    assert odd.span is not None


@pytest.mark.parametrize(("href", "files"), read_rows("document/links", "files"))
def test_a_link_leads_to_the_same_file_whether_its_folder_is_open_or_not(
    tmp_path: Path, href: str, files: tuple[str, ...]
) -> None:
    folder = tmp_path / "docs" / "here"
    for name in ("start.md", *files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# Part\n\n[part]({href})\n", "utf-8")
    library = open_library([str(folder.parent)])
    origin = next(i for i in library.walk() if library.node(i).doc == "here/start.md")
    link = follow(href, library, origin)
    assert isinstance(link, SectionLink)
    expected = (folder / files[0]).resolve()
    assert folder.parent.resolve() / library.node(link.section_id).doc == expected
    if not files[0].startswith(".."):
        alone = open_library([str(folder / "start.md")])
        found = follow(href, alone, _first(alone))
        assert isinstance(found, FileLink)
        assert (found.path, found.is_outside) == (expected, False)


def test_a_symbolic_link_out_of_the_folder_is_outside_and_a_loop_is_no_file(notes: Path) -> None:
    (notes / "out.md").symlink_to(notes.parent / "secret.md")
    (notes / "loop.md").symlink_to(notes / "loop.md")
    library = open_library([str(notes / "start.md")])
    out = follow("out.md", library, _first(library))
    assert out == FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)
    for href in ("loop.md", "a\0b.md", "x" * 5_000):
        assert isinstance(follow(href, library, _first(library)), DeadLink)


def test_links_of_a_web_page_to_its_own_parts_lead_to_sections() -> None:
    url = "https://example.org/a"
    page = convert_html('<h1>Top</h1><a href="#Late_fees">x</a><h2 id="Late_fees">Late fees</h2><p>12', base_url=url)
    assert f"]({url}#Late_fees)" in page.text
    root = parse_source_text(SourceText(text=page.text, source=url, name="a"), url=url)
    library = Library(source=url, root=root)
    for href, title in (
        (f"{url}#Late_fees", "Late fees"),
        (f"{url}#late-fees", "Late fees"),
        (url, "Top"),
        ("a#top", "Top"),
    ):
        assert _title(library, resolve_link(href, library, root.ids[-1])) == title
    for href in (f"{url}#none", "https://example.org/b#fees"):
        assert resolve_link(href, library, root.ids[0]) == WebLink(href)


TEXT = "# Top\n\n## Two Words, one *comma*\n\n## Twice\n\n## Twice\n\n## Über `x_y`-Maß\n"


@pytest.fixture
def library() -> Library:
    return make_document_library(SourceText(text=TEXT, source="t.md", name="t"))


def test_anchors_are_those_of_github() -> None:
    anchors = dict(read_rows("document/links", "github_anchors"))
    text = "".join(f"## {title}\n\nwords\n\n" for title in anchors)
    library = make_document_library(SourceText(text=text, source="t.md", name="t"))
    for row, names in enumerate(anchors.values()):
        for name in names:
            assert resolve_link(f"#{name}", library, next(library.walk())) == SectionLink(library.root.ids[row]), name


@pytest.mark.parametrize(("text", "row"), [("# One\n\n## Two\n", 0), ("# One\n\n## Top\n\n## !\n", 1)])
def test_a_link_to_the_top_leads_to_the_first_section_unless_a_heading_has_this_name(text: str, row: int) -> None:
    library = make_document_library(SourceText(text=text, source="t.md", name="t"))
    first, *_, last = library.walk()
    assert resolve_link("#", library, last) == SectionLink(first)
    for href in ("#top", "#TOP"):
        assert resolve_link(href, library, last) == SectionLink(library.root.ids[row])


@pytest.mark.parametrize(
    "href", ["#nowhere", "other.md", "javascript:alert(1)", "file:///etc/passwd", "//host/x", "http://[", "https:x"]
)
def test_everything_else_is_dead_and_says_why(library: Library, href: str) -> None:
    end = resolve_link(href, library, next(library.walk()))
    assert isinstance(end, DeadLink)
    assert end.reason.endswith(".")


NOTES = (
    "# Top\n\n`[^b]` A word[^1] and one[^B] more[^1].\n\n## Notes\n\nText [^1]: no note.\n\n"
    "```\n[^1]: code\n```\n\n  [^1]: The note.\n[^b]:Another.\n"
)


@pytest.mark.parametrize(
    ("href", "title", "before", "after"),
    [("[^1]", "Notes", "code\n```\n\n  ", ": The note."), ("[^b]:", "Top", " and one", " more")],
)
def test_a_footnote_leads_to_its_text_and_back(href: str, title: str, before: str, after: str) -> None:
    library = make_document_library(SourceText(text=NOTES, source="n.md", name="n"))
    end = resolve_link(href, library, next(library.walk()))
    assert isinstance(end, SectionLink)
    assert library.node(end.section_id).title == title
    assert end.span is not None
    assert NOTES[: end.span.start].endswith(before)
    assert NOTES[end.span.end :].startswith(after)


@pytest.mark.parametrize("name", ["oars", "OARS", "what-are-oars", "old", "above"])
def test_a_link_to_an_explicit_anchor_leads_to_its_heading(name: str) -> None:
    text = (
        '# Boats\n\n<a id="above"></a>\n\n## What are oars? {#oars}\n\nWood.\n\n## Sails {: #old .class }\n\n## Old\n'
    )
    library = make_document_library(SourceText(text=text, source="x.md", name="x"))
    target = resolve_link(f"#{name}", library, library.root.ids[0])
    assert target == SectionLink(library.root.ids[2 if name == "old" else 1])
