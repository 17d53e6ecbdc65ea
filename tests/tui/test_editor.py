"""How editors are told where to go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roamtui.libraries import open_library
from roamtui.tui.screens.reading import build_editor_command, choose_editor, find_source_file

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


def test_visual_goes_before_editor() -> None:
    assert choose_editor({"VISUAL": "a", "EDITOR": "b"}) == "a"
    assert choose_editor({"VISUAL": "", "EDITOR": "b"}) == "b"
    assert choose_editor({}) is None


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
