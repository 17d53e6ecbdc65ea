"""Themes can be read by everybody."""

from pathlib import Path

import pytest
from textual.color import Color

from roamtui.paths import get_resource_dir
from roamtui.tui.themes import read_theme

BUNDLED = sorted(get_resource_dir("themes").glob("*.toml"))
GROUNDS = ("background", "surface", "panel")
CONTRAST_MIN = 4.5
"""Minimum contrast between text and its background (WCAG 2.2, level AA)."""


def contrast(first: Color, second: Color) -> float:
    high, low = sorted((compute_luminance(first), compute_luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def compute_luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


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
