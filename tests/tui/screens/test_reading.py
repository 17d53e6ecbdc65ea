"""Where links lead, and how editors are told where to go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roamtui.document.build import build_library
from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, SectionLink, WebLink
from roamtui.libraries import open_library
from roamtui.sources.read import RawText
from roamtui.tui.screens.reading import build_editor_command, find_source_file, resolve_link

FILE = Path("/d/a b.md")


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "/d/a b.md"]),
        ("/usr/bin/nvim -R", ["/usr/bin/nvim", "-R", "+7", "/d/a b.md"]),
        ("hx", ["hx", "/d/a b.md:7"]),
        ("code --wait", ["code", "--wait", "--goto", "/d/a b.md:7"]),
        ("'/my apps/ed it'", ["/my apps/ed it", "/d/a b.md"]),
    ],
)
def test_the_line_is_told_in_each_editors_way(editor: str, command: list[str]) -> None:
    assert build_editor_command(editor, FILE, 7) == command


def test_the_file_of_a_section_is_found_alone_and_in_a_folder_but_not_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "sub" / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text("# A\n", "utf-8")
    archive = shutil.make_archive(str(tmp_path / "docs"), "zip", tmp_path / "docs")
    for source, expected in ((path, path), (tmp_path / "docs", path), (archive, None)):
        library = open_library([str(source)])
        assert find_source_file(library, [*library.walk()][-1]) == expected
    library = open_library([str(tmp_path / "docs")])
    assert find_source_file(library, next(iter(library.walk()))) is None


TEXT = "# Top\n\n## Two Words, one *comma*\n\n## Twice\n\n## Twice\n\n## Über `x_y`-Maß\n"


@pytest.fixture
def library() -> Library:
    return build_library(RawText(text=TEXT, source="t.md", name="t"))


def first_id(library: Library) -> str:
    return next(library.walk())


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
    assert resolve_link(href, library, first_id(library)) == SectionLink(ids[nth])


@pytest.mark.parametrize("href", ["https://example.org/a", " http://example.org "])
def test_a_web_address_is_a_web_link(library: Library, href: str) -> None:
    assert resolve_link(href, library, first_id(library)) == WebLink(href.strip())


@pytest.mark.parametrize(
    "href", ["#nowhere", "other.md", "javascript:alert(1)", "file:///etc/passwd", "//host/x", "http://[", "https:x"]
)
def test_everything_else_is_dead_and_says_why(library: Library, href: str) -> None:
    end = resolve_link(href, library, first_id(library))
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
    end = resolve_link(href, library, first_id(library))
    assert isinstance(end, SectionLink)
    assert library.title_of(end.section_id) == title
    assert end.span is not None
    assert NOTES[: end.span.start].endswith(before)
    assert NOTES[end.span.end :].startswith(after)
