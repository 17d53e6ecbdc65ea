"""Editors are told the line in the way of each."""

from pathlib import Path

import pytest

from roamtui.editor import _split_on_windows as split_on_windows
from roamtui.editor import build_editor_command
from tests.case_files import read_rows

FILE = Path("/d/a b.md")


@pytest.mark.parametrize(("editor", "command"), read_rows("editor", "lines"))
def test_the_line_is_told_in_each_editors_way(editor: str, command: list[str]) -> None:
    assert build_editor_command(editor, FILE, 7) == command


@pytest.mark.parametrize(("editor", "words"), read_rows("editor", "windows"))
def test_on_windows_backslashes_and_blanks_are_parts_of_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, words: list[str]
) -> None:
    program = tmp_path / "ed it" / "vim.exe"
    program.parent.mkdir()
    program.touch(0o700)
    monkeypatch.setenv("PATH", str(program.parent))
    split = split_on_windows(editor.format(folder=tmp_path))
    assert split == [word.format(folder=tmp_path) for word in words]
