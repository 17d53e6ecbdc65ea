"""Themes: bundled ones can be read by everybody, broken ones are told and left out."""

import os
import sys
from pathlib import Path

import pytest
from textual.color import Color

from roamtui.paths import get_resource_dir
from roamtui.tui.themes import CONTRAST_MIN, ThemeError, contrast, read_theme
from tests.case_files import read_case, read_rows

BUNDLED = sorted(get_resource_dir("themes").glob("*.toml"))
GROUNDS = ("background", "surface", "panel")
GOOD = read_case("plum_theme.toml")


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.stem)
def test_all_text_of_a_bundled_theme_stands_out_from_every_ground(file: Path) -> None:
    theme = read_theme(file)
    variables = theme.to_color_system().generate() | theme.variables
    for ground in GROUNDS:
        for text in ("foreground", "primary", "secondary", "accent", "success", "warning", "error", "muted"):
            ratio = contrast(Color.parse(variables[text]), Color.parse(variables[ground]))
            assert ratio >= CONTRAST_MIN, f"{text} on {ground}: {ratio:.2f}"
    for part in ("block-cursor", "input-cursor", "screen-selection"):
        cursor, letter = (Color.parse(variables[f"{part}-{side}"]) for side in ("background", "foreground"))
        assert contrast(letter, cursor) >= CONTRAST_MIN, part


@pytest.mark.parametrize(("before", "after", "told"), read_rows("tui/themes", "broken"))
def test_a_broken_theme_is_told_with_file_and_key(tmp_path: Path, before: str, after: str, told: str) -> None:
    file = tmp_path / "plum.toml"
    assert before in GOOD
    file.write_text(GOOD.replace(before, after), "utf-8")
    with pytest.raises(ThemeError) as raised:
        read_theme(file)
    assert str(file) in str(raised.value)
    assert told in str(raised.value)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_in_place_of_a_theme_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "plum.toml"
    os.mkfifo(file)
    with pytest.raises(ThemeError, match="it is not a file"):
        read_theme(file)
