"""A choice is written into a person's file, and nothing else in it changes."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import RoamtuiError
from roamtui.setting_file import _change, save_setting
from roamtui.settings import load_settings

MINE = """# My settings
theme = "dusk"  # dark at night
model = 'offline'

# how long
[keep_open]
mode = "keep"

[keys]
"tree.read" = "ctrl+r"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.toml"


def write(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("utf-8"))


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def test_only_the_value_is_replaced(path: Path) -> None:
    write(path, MINE)
    save_setting(path, "theme", "dawn")
    save_setting(path, "model", "openai/gpt-4.1-mini")
    assert read(path) == MINE.replace('"dusk"', '"dawn"').replace("'offline'", '"openai/gpt-4.1-mini"')
    assert load_settings(path).theme == "dawn"


def test_a_new_key_stands_after_the_last_one_outside_tables(path: Path) -> None:
    text = MINE.replace('theme = "dusk"  # dark at night\n', "")
    write(path, text)
    save_setting(path, "theme", "dawn")
    assert read(path) == text.replace("'offline'\n", "'offline'\ntheme = \"dawn\"\n")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", 'theme = "dawn"\n'),
        ("# nothing yet", 'theme = "dawn"\n# nothing yet'),
        ('[keys]\ntheme = "not this"\n', 'theme = "dawn"\n[keys]\ntheme = "not this"\n'),
        ("model = 'a'", "model = 'a'\ntheme = \"dawn\"\n"),
        ('model = "a"\r\n[keys]\r\n', 'model = "a"\r\ntheme = "dawn"\r\n[keys]\r\n'),
        ('"theme" = "a\\"b"\n', 'theme = "dawn"\n'),
        ('x = """\ntheme = "a"\n"""\n', None),
        ("theme = 3\n", None),
        ('model = [\n"a",\n]\n', 'theme = "dawn"\nmodel = [\n"a",\n]\n'),
        ('theme = """a\nb"""\n', None),
        ("theme = broken\n", None),
    ],
)
def test_odd_files_are_changed_safely_or_not_at_all(text: str, after: str | None) -> None:
    assert _change(text, "theme", "dawn", 'theme = "dawn"') == after


@given(
    st.lists(
        st.sampled_from(
            ['theme = "a"', "model = 'b'", "# c", "", "[keys]", '"x" = "theme"', 'y = """', '"""', "z = [", "]"]
        ),
        max_size=8,
    )
)
def test_whatever_stands_there_nothing_else_changes(lines: list[str]) -> None:
    text = "\n".join(lines)
    changed = _change(text, "theme", "dawn", 'theme = "dawn"')
    if changed is not None:
        assert tomllib.loads(changed) == {**tomllib.loads(text), "theme": "dawn"}


def test_the_file_is_made_and_is_its_owners_alone(path: Path) -> None:
    save_setting(path, "theme", "dawn")
    assert read(path) == 'theme = "dawn"\n'
    path.chmod(0o644)
    save_setting(path, "theme", "dusk")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["config.toml"]


def test_a_link_to_the_file_stays_a_link(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text('theme = "dusk"\n', "utf-8")
    path.parent.mkdir()
    path.symlink_to(real)
    save_setting(path, "theme", "dawn")
    assert path.is_symlink()
    assert read(real) == 'theme = "dawn"\n'


def test_a_file_that_cannot_be_changed_is_left_and_told(path: Path, tmp_path: Path) -> None:
    write(path, "theme = broken\n")
    with pytest.raises(RoamtuiError, match='put theme = "dawn" there yourself'):
        save_setting(path, "theme", "dawn")
    assert read(path) == "theme = broken\n"
    path.write_bytes(b"\xff")
    with pytest.raises(RoamtuiError, match="The choice is not kept: "):
        save_setting(path, "theme", "dawn")
    (tmp_path / "file").touch()
    with pytest.raises(RoamtuiError, match="The choice is not kept: "):
        save_setting(tmp_path / "file" / "config.toml", "theme", "dawn")
