"""Files of other formats on the command line: their outline, and the pages that citations name."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.sources.convert.sample_books import make_docx_parts, make_epub_parts, pack, write_word_paragraph
from tests.sources.convert.sample_pdf import lay_out, make_pdf

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    """Return a PDF of two pages."""
    first = lay_out("Tools", "Every tool hangs in the shed behind the plots.", "Take one and put it back.")
    second = lay_out("Fines", "A late spade costs 50 cents a day.", "Nobody pays more than five euros.")
    path = tmp_path / "manual.pdf"
    path.write_bytes(make_pdf([first, second], bookmarks=[(1, "Tools", 0), (1, "Fines", 1)], title="Garden"))
    return path


def test_a_pdf_is_quoted_with_its_page(run: RunCommand, manual: Path) -> None:
    outline = run("outline", manual, "--json").json
    assert (outline["title"], [section["title"] for section in outline["sections"]]) == ("Garden", ["Tools", "Fines"])
    (citation, *_) = run("ask", manual, "How much does a late spade cost?", "--json").json["citations"]
    assert (citation["path"], citation["page"], citation["verified"]) == (["Fines"], 2, True)
    assert "Fines, p. 2, line 8: quote found in the text" in run("ask", manual, "How much does a late spade cost?").out
    shown = run("show", manual, outline["sections"][1]["id"])
    assert shown.out.startswith("# Fines\n")
    assert "begins on p. 2." in shown.err
    assert "(p. 2, lines " in run("search", manual, "late spade").out
    assert "manual.pdf: converted from PDF; lines are those of the text.\n" in shown.err


def test_what_is_converted_is_kept_until_the_cache_is_cleared(run: RunCommand, manual: Path) -> None:
    first = run("outline", manual).out
    assert run("outline", manual).out == first
    assert run("cache", "clear").code == 0
    assert run("outline", manual).out == first


def test_a_folder_and_a_zip_hold_any_of_them(run: RunCommand, manual: Path) -> None:
    folder = manual.parent
    (folder / "book.epub").write_bytes(pack(make_epub_parts({"one.xhtml": "<h1>Hulls</h1><p>a</p>"})))
    (folder / "bread.docx").write_bytes(pack(make_docx_parts([write_word_paragraph("Bread", "H1")])))
    (folder / "page.html").write_text("<h1>Page</h1><p>text", "utf-8")
    (folder / "notes.rst").write_text("Notes\n=====\n\ntext\n", "utf-8")
    titles = {"Hulls", "Bread", "Page", "Notes", "Tools", "Fines"}
    assert titles < {section["title"] for section in run("outline", folder, "--json").json["sections"]}
    archive = folder / "all.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in folder.iterdir():
            if path != archive:
                packed.write(path, f"x/{path.name}")
    assert titles < {section["title"] for section in run("outline", archive, "--json").json["sections"]}


def test_a_damaged_file_is_one_sentence(run: RunCommand, manual: Path) -> None:
    manual.write_bytes(manual.read_bytes()[:200])
    result = run("outline", manual)
    assert (result.code, result.out) == (1, "")
    assert result.err == "roamtui: manual.pdf is a damaged PDF. Open it in its own program and save it anew.\n"
