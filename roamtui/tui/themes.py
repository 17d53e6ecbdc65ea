"""Themes: TOML files with eleven colours each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from textual.color import Color
from textual.theme import Theme

from roamtui.errors import format_nearest_name
from roamtui.paths import get_resource_dir

DEFAULT_THEME = "dusk"


def load_themes(name: str | None) -> tuple[dict[str, Theme], str, str]:
    """Return all themes by name, the name of the one to use, and a sentence if there is no theme `name`."""
    themes = {file.stem: read_theme(file) for file in sorted(get_resource_dir("themes").glob("*.toml"))}
    if name is None or name in themes:
        return themes, name or DEFAULT_THEME, ""
    nearest = format_nearest_name(name, themes)
    problem = f'Unknown theme "{name}".{nearest} The themes are {", ".join(themes)}.'
    return themes, DEFAULT_THEME, problem


def read_theme(file: Path) -> Theme:
    """Read a theme. Its name is the name of the file without the suffix."""
    theme = tomllib.loads(file.read_text("utf-8"))
    colours = theme["colors"]
    variables = derive_variables(colours) | theme.get("variables", {})
    return Theme(name=file.stem, dark=theme["dark"], variables=variables, **colours)


def derive_variables(colours: Mapping[str, str]) -> dict[str, str]:
    """Compute the colours that derive from a theme's own. `faint` is only for lines, never for text."""
    foreground = Color.parse(colours["foreground"])
    background = Color.parse(colours["background"])
    selection = Color.parse(colours["panel"]).blend(Color.parse(colours["accent"]), 0.35).hex
    faint = foreground.blend(background, 0.75).hex
    return {
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
