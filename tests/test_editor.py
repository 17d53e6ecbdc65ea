"""Editors are told the line in the way of each, and found as the system has them."""

from pathlib import Path

import pytest

from roamtui.editor import _split_on_windows as split_on_windows
from roamtui.editor import get_editor, make_editor_command, open_in_viewer
from tests.case_files import read_rows

FILE = Path("/d/a b.md")


@pytest.mark.parametrize(("editor", "command"), read_rows("editor", "lines"))
def test_the_line_is_told_in_each_editors_way(editor: str, command: list[str]) -> None:
    assert make_editor_command(editor, FILE, 7) == command


def test_a_blank_variable_names_no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", " ")
    monkeypatch.setenv("EDITOR", "nano")
    assert get_editor() == "nano"
    monkeypatch.setenv("EDITOR", "\t")
    assert not get_editor()


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


@pytest.mark.parametrize(
    ("system", "display", "programs"),
    [("darwin", "", ["open"]), ("win32", "", ["explorer"]), ("linux", ":0", ["xdg-open"]), ("linux", "", [])],
)
def test_each_system_has_its_own_program_that_opens_files(
    monkeypatch: pytest.MonkeyPatch, system: str, display: str, programs: list[str]
) -> None:
    wanted: list[str] = []
    monkeypatch.setattr("shutil.which", wanted.append)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert not open_in_viewer(FILE), "none is installed"
    assert wanted == programs
