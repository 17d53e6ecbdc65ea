"""Themes: TOML files with ten colours each, validated when they are read."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from textual.color import Color
from textual.theme import Theme

from roamtui.errors import RoamtuiError, format_nearest_name
from roamtui.paths import get_resource_dir, read_own_text

DEFAULT_THEME = "dusk"
CONTRAST_MIN = 4.5
"""Minimum contrast between text and its background (WCAG 2.2, level AA)."""

_Colour = Annotated[str, msgspec.Meta(pattern="^#[0-9a-fA-F]{6}$")]


class _Colours(msgspec.Struct, forbid_unknown_fields=True):
    primary: _Colour
    secondary: _Colour
    accent: _Colour
    foreground: _Colour
    background: _Colour
    surface: _Colour
    panel: _Colour
    success: _Colour
    warning: _Colour
    error: _Colour


class _ThemeFile(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(pattern="^[a-z0-9][a-z0-9_-]*$")]
    dark: bool
    colors: _Colours
    variables: dict[str, _Colour] = {}


class ThemeError(RoamtuiError):
    """A theme file is invalid."""


def load_themes(folders: Iterable[Path], name: str | None) -> tuple[dict[str, Theme], str, tuple[str, ...]]:
    """Return all themes by name, the name of the one to use, and a sentence for each problem.

    A theme in `folders` replaces roamtui's own theme, or one of an earlier folder, with the same name.
    """
    themes: dict[str, Theme] = {}
    problems = []
    for folder in (get_resource_dir("themes"), *folders):
        for file in sorted(folder.glob("*.toml")):
            try:
                theme = read_theme(file)
            except ThemeError as error:
                problems.append(str(error))
            else:
                themes[theme.name] = theme
    if name is not None and name not in themes:
        nearest = format_nearest_name(name, themes)
        problems.append(f'Unknown theme "{name}".{nearest} The themes are {", ".join(themes)}.')
    usable = (each for each in (name, DEFAULT_THEME, *themes) if each in themes)
    return themes, next(usable), tuple(problems)


def read_theme(file: Path) -> Theme:
    """Read a theme from a file. A `ThemeError` names the file and the key that is wrong."""
    try:
        theme = msgspec.convert(tomllib.loads(read_own_text(file)), _ThemeFile)
    except (OSError, ValueError, RecursionError) as error:
        raise ThemeError(f"The theme {file} cannot be used: {error}. Fix or delete it.") from error
    colours = msgspec.structs.asdict(theme.colors)
    return Theme(
        name=theme.name, dark=theme.dark, variables=derive_variables(colours) | theme.variables, **colours
    )


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
