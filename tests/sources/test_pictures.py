"""Pictures of a document: found next to it or inside it, never outside the folder that was opened, and measured."""

import io
import zipfile
from pathlib import Path

import pytest

from roamtui.sources.convert.drawing import PictureFile
from roamtui.sources.listing import join_sources
from roamtui.sources.pictures import find_picture, measure_picture, parse_size, read_picture
from tests.sources.convert.samples import make_epub_parts, pack
from tests.sources.sample_pictures import make_bomb, make_gif, make_png

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
    assert measure_picture(expected) == (40, 30)


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
    book.write_bytes(pack({**make_epub_parts({"one.xhtml": "<p>a</p>"}), "OEBPS/images/a.png": _PNG}))
    with zipfile.ZipFile(book, "a") as package:
        package.writestr("whole.png", _PNG, zipfile.ZIP_LZMA)
        package.writestr("huge.png", _PNG + bytes(21_000_000), zipfile.ZIP_DEFLATED)
    found = find_picture(str(book), "", "OEBPS/images/a.png")
    assert found == PictureFile(book.resolve(), "OEBPS/images/a.png")
    assert measure_picture(found) == (40, 30)
    assert read_picture(found) == _PNG
    for href in ("../../secret.png", "gone.png", "whole.png", "huge.png"):
        assert find_picture(str(book), "", href) is None, href
    (tmp_path / "bad.epub").write_bytes(b"PK\3\4 no archive")
    assert find_picture(str(tmp_path / "bad.epub"), "", "a.png") is None


def test_bombs_and_other_files_have_no_size(tmp_path: Path) -> None:
    large = _PNG + bytes(20_000_001)
    for number, data in enumerate((make_bomb(13_000), b"", b"<svg/>", _PNG[:20], b"\xff\xd8\xff", b"GIF89a", large)):
        (tmp_path / f"{number}.png").write_bytes(data)
        assert measure_picture(PictureFile(tmp_path / f"{number}.png")) is None, data[:20]


def test_sizes_are_read_from_the_heads_of_four_formats() -> None:
    image = pytest.importorskip("PIL.Image")
    assert parse_size(make_gif(30, 20, 3)) == (30, 20)
    for file_format, options in (
        ("PNG", {}),
        ("GIF", {}),
        ("JPEG", {"exif": b"Exif\0\0" + bytes(60_000)}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}),
    ):
        stream = io.BytesIO()
        image.new("RGB", (123, 457)).save(stream, file_format, **options)
        assert parse_size(stream.getvalue()) == (123, 457), (file_format, options)
