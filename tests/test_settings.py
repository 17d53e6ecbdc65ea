"""A choice is written into a person's file, and nothing else in it changes."""

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import RoamtuiError, UsageError
from roamtui.settings import load_settings, save_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.toml"


def write(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("utf-8"))


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


@given(
    st.lists(
        st.sampled_from(
            [
                *('theme = "a"', "model = 'b'", "# c", "", "[keys]", '"x" = "theme"', 'y = """', '"""', "z = [", "]"),
                *("a.b = 1", "[a.c]", "[[t]]", " theme = 'x' # d", '[models."o/x"]'),
            ]
        ),
        max_size=8,
    )
)
def test_whatever_stands_there_nothing_else_changes(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    text = "\n".join(lines)
    path = tmp_path_factory.mktemp("config") / "config.toml"
    path.write_text(text, "utf-8")
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(RoamtuiError, match="was not changed"):
            save_settings(path, {"theme": "dawn"})
        assert read(path) == text
        return
    save_settings(path, {"theme": "dawn"})
    assert tomllib.loads(read(path)) == {**before, "theme": "dawn"}
    assert re.findall("# [cd]", read(path)) == re.findall("# [cd]", text)


def test_a_file_that_cannot_be_changed_is_left_and_told(path: Path, tmp_path: Path) -> None:
    write(path, "theme = broken\n")
    with pytest.raises(RoamtuiError, match='add theme = "dawn" yourself'):
        save_settings(path, {"theme": "dawn"})
    assert read(path) == "theme = broken\n"
    path.write_bytes(b"\xff")
    with pytest.raises(RoamtuiError, match="Could not save the setting in "):
        save_settings(path, {"theme": "dawn"})
    (tmp_path / "file").touch()
    with pytest.raises(RoamtuiError, match="Could not save the setting in "):
        save_settings(tmp_path / "file" / "config.toml", {"theme": "dawn"})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_in_place_of_the_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"could not read .*: it is not a file\. Fix or delete it\."):
        load_settings(path=path)
