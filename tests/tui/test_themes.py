"""Themes can be read by everybody."""

from pathlib import Path

import pytest
from textual.color import Color

from roamtui.paths import get_resource_dir
from roamtui.tui.themes import CONTRAST_MIN, contrast, read_theme

BUNDLED = sorted(get_resource_dir("themes").glob("*.toml"))
GROUNDS = ("background", "surface", "panel")


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
