"""Pictures of a document: found next to it or inside it, never outside the folder that was opened."""

import zipfile
from pathlib import Path

import pytest

from roamtui.convert.drawing import PictureFile
from roamtui.sources.pictures import find_picture, read_picture
from roamtui.sources.source_names import join_sources
from tests.convert.samples import make_epub_parts, pack
from tests.sources.sample_pictures import make_png

_PNG = make_png(40, 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "guide.md").write_text("# Guide\n")
    (docs / "sub" / "deep.md").write_text("# Deep\n")
    (docs / "a b.png").write_bytes(_PNG)
    (tmp_path / "secret.png").write_bytes(_PNG)
    return docs


def test_a_picture_is_found_from_the_file_that_shows_it(folder: Path) -> None:
    expected = PictureFile((folder / "a b.png").resolve())
    for source, doc, href in (
        (folder / "guide.md", "", "a%20b.png"),
        (folder / "guide.md", "", "./a b.png?raw=1#x"),
        (folder, "sub/deep.md", "../a%20b.png"),
        (folder, "sub/deep.md", "/a%20b.png"),
    ):
        assert find_picture(str(source), doc, href) == expected, href
    both = join_sources([str(folder / "guide.md"), str(folder / "sub")])
    assert find_picture(both, "guide.md", "a%20b.png") == expected
    assert read_picture(expected) == _PNG
    assert read_picture(expected, size_max=10) == b"", "too large"


def test_nothing_outside_the_opened_folder_is_found(folder: Path) -> None:
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "out").symlink_to(folder.parent)
    source = str(folder / "guide.md")
    outside = ("../secret.png", str(folder.parent / "secret.png"), "link.png", "out/secret.png", "file:///etc/passwd")
    for href in (*outside, "loop.png", "https://example.org/a.png", "data:image/png;base64,AA", "x" * 5_000, "a\0.png"):
        assert find_picture(source, "", href) is None, href
    assert find_picture(str(folder / "sub"), "deep.md", "../a%20b.png") is None
    assert find_picture("https://example.org/", "", "a.png") is None


def test_pictures_inside_books_are_found_but_no_huge_ones(tmp_path: Path) -> None:
    book = tmp_path / "book.epub"
    book.write_bytes(
        pack({**make_epub_parts({"one.xhtml": "<p>a</p>"}), "OEBPS/images/a.png": _PNG, "b%20c.png": _PNG})
    )
    with zipfile.ZipFile(book, "a") as package:
        package.writestr("whole.png", _PNG, zipfile.ZIP_LZMA)
        package.writestr("huge.png", _PNG + bytes(21_000_000), zipfile.ZIP_DEFLATED)
    found = find_picture(str(book), "", "OEBPS/images/a.png")
    assert found == PictureFile(book.resolve(), "OEBPS/images/a.png")
    assert read_picture(found) == _PNG
    assert find_picture(str(book), "", "b%20c.png") == PictureFile(book.resolve(), "b%20c.png")
    for href in ("../../secret.png", "gone.png", "whole.png", "huge.png"):
        assert find_picture(str(book), "", href) is None, href
    (tmp_path / "bad.epub").write_bytes(b"PK\3\4 no archive")
    assert find_picture(str(tmp_path / "bad.epub"), "", "a.png") is None
