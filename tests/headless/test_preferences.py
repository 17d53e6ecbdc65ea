"""`roamtui preferences`: a file that only the person writes, and its text for the model."""

from __future__ import annotations

import io
import stat
import sys
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError
from roamtui.headless.preferences import LENGTH_MAX, load_preferences
from roamtui.paths import preferences_path
from tests.cli.conftest import RunCommand, garden, run

__all__ = ["garden", "run"]

QUESTION = "How much does a late spade cost?"


def write_preferences(text: str | bytes) -> Path:
    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_comments_and_control_sequences_stay_out(tmp_path: Path) -> None:
    path = tmp_path / "preferences.md"
    path.write_bytes("\ufeff<!-- for\nme -->\r\nAnswer \x1b[31min German.\r\n<!-- open".encode())
    assert load_preferences(path).text == "Answer ␛[31min German."


def test_what_is_too_long_is_cut_at_a_line_and_said(tmp_path: Path) -> None:
    path = tmp_path / "preferences.md"
    path.write_text("Short sentences.\n" * 1_000, "utf-8")
    preferences = load_preferences(path)
    start, _, end = preferences.text.rpartition("\n")
    assert end == "(The rest was left out, because it is too long.)"
    assert set(start.split("\n")) == {"Short sentences."}
    assert LENGTH_MAX - 20 < len(start) <= LENGTH_MAX
    assert preferences.note.startswith("Your preferences have more than 4,000 characters: the last 13,0")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_what_cannot_be_read_is_told_and_the_question_is_answered(
    run: RunCommand, garden: Path, content: bytes | None
) -> None:
    path = write_preferences(content or b"")
    if content is None:
        path.unlink()
        path.mkdir()
    result = run("ask", garden, QUESTION)
    assert result.code == 0
    assert "50 cents" in result.out
    assert result.err.startswith(f"roamtui: Your preferences are not used: {path}")
    with pytest.raises(RoamtuiError):
        load_preferences(path)


def test_path_and_content_are_printed(run: RunCommand) -> None:
    result = run("preferences")
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[0] == str(preferences_path())
    assert "roamtui preferences --edit" in result.err
    write_preferences("Answer in German.\n")
    result = run("preferences")
    assert (result.code, result.out, result.err) == (0, "Answer in German.\n", f"{preferences_path()}\n")


def test_the_editor_gets_a_file_for_its_owner_alone(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; open(sys.argv[1], 'a').write('Be brief.')"
    monkeypatch.setenv("EDITOR", f'"{sys.executable}" -c "{program}"')
    result = run("preferences", "--edit")
    assert (result.code, result.err) == (0, "Saved. Applies to new conversations.\n")
    path = preferences_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8").startswith("<!--")
    assert load_preferences(path).text == "Be brief."


def test_an_editor_that_is_missing_or_fails_is_told(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("preferences", "--edit")
    assert result.code == 2
    assert result.err.startswith("roamtui: no editor set. Set the environment variable EDITOR")
    for editor, words in (
        ("no-such-editor-here", "No such file"),
        ("false", "false ended with status 1"),
        ('vim "', "No closing quotation"),
    ):
        monkeypatch.setenv("EDITOR", editor)
        result = run("preferences", "--edit")
        assert result.code in (1, 2)
        assert words in result.err
        assert result.err.count("\n") == 1


def test_what_is_remembered_is_written_below_the_rest(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_preferences("Be brief.")
    monkeypatch.setattr("sys.stdin", io.StringIO("/remember Answer\x1b[31m in German.\n/remember\n"))
    result = run(garden, "--plain")
    assert result.code == 0
    assert f"Saved to {preferences_path()}. Applies to new conversations." in result.out
    assert "Write what to remember" in result.out
    assert preferences_path().read_text("utf-8") == "Be brief.\nAnswer␛[31m in German.\n"
