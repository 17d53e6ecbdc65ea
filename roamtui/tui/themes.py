"""Themes: TOML files with ten colours each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from textual.color import Color
from textual.theme import Theme

from roamtui.errors import format_nearest_name
from roamtui.paths import get_resource_dir

DEFAULT_THEME = "dusk"
CONTRAST_MIN = 4.5
"""Minimum contrast between text and its background (WCAG 2.2, level AA)."""


def load_themes(name: str | None) -> tuple[dict[str, Theme], str, str]:
    """Return all themes by name, the name of the one to use, and a sentence if there is no theme `name`."""
    themes = {file.stem: read_theme(file) for file in sorted(get_resource_dir("themes").glob("*.toml"))}
    if name is None or name in themes:
        return themes, name or DEFAULT_THEME, ""
    nearest = format_nearest_name(name, themes)
    problem = f'Unknown theme "{name}".{nearest} The themes are {", ".join(themes)}.'
    return themes, DEFAULT_THEME, problem


def read_theme(file: Path) -> Theme:
    """Read a theme, whose name is that of its file."""
    theme = tomllib.loads(file.read_text("utf-8"))
    colours = theme["colors"]
    variables = derive_variables(colours) | theme.get("variables", {})
    return Theme(name=file.stem, dark=theme["dark"], variables=variables, **colours)


def derive_variables(colours: Mapping[str, str]) -> dict[str, str]:
    """Compute the colours that derive from a theme's own colours.

    `muted` is the softest text colour that is readable on every background.
    `faint` is only for lines, never for text.
    """
    names = ("foreground", "background", "surface", "panel", "accent")
    parsed = {name: Color.parse(colours[name]) for name in names}
    foreground = parsed["foreground"]
    background = parsed["background"]
    muted = foreground
    for percent in range(5, 60, 5):
        softer = foreground.blend(background, percent / 100)
        if min(contrast(softer, parsed[name]) for name in ("background", "surface", "panel")) < CONTRAST_MIN:
            break
        muted = softer
    selection = parsed["panel"].blend(parsed["accent"], 0.35).hex
    faint = foreground.blend(background, 0.75).hex
    return {
        "muted": muted.hex,
        "faint": faint,
        "input-cursor-background": colours["accent"],
        "input-selection-background": selection,
        "screen-selection-background": selection,
        "screen-selection-foreground": colours["foreground"],
        "block-cursor-foreground": colours["background"],
        "scrollbar": faint,
        "scrollbar-hover": foreground.blend(background, 0.6).hex,
        "scrollbar-background": colours["background"],
        "button-focus-text-style": "bold",
    }


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
