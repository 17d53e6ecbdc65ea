"""Themes: TOML files with ten colours each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from roamtui.errors import format_nearest_name
from roamtui.paths import get_resource_dir

DEFAULT_THEME = "dusk"
CONTRAST_MIN = 4.5
"""Minimum contrast between text and its background (WCAG 2.2, level AA)."""
TEXTUAL_THEMES = {name: BUILTIN_THEMES[name] for name in ("ansi-dark", "ansi-light", "gruvbox", "nord")}
"""Themes of Textual that look different from roamtui's. The first two have the colours of the terminal."""
_MUTED_PERCENT_MIN = 10
"""Minimum percentage of background in the colour of muted text, even if text is hardly readable."""


def load_themes(name: str | None) -> tuple[dict[str, Theme], str, tuple[str, ...]]:
    """Return all themes by name, the name of the one to use, and a sentence if there is none called `name`.

    Without a name, the default theme is used.
    """
    own = map(read_theme, sorted(get_resource_dir("themes").glob("*.toml")))
    themes = {**TEXTUAL_THEMES, **{theme.name: theme for theme in own}}
    if name is None or name in themes:
        return themes, name or DEFAULT_THEME, ()
    nearest = format_nearest_name(name, themes)
    problem = f'Unknown theme "{name}".{nearest} The themes are {", ".join(themes)}.'
    return themes, DEFAULT_THEME, (problem,)


def read_theme(file: Path) -> Theme:
    """Read a theme from a file."""
    theme = tomllib.loads(file.read_text("utf-8"))
    colors = theme["colors"]
    variables = derive_variables(colors) | theme.get("variables", {})
    return Theme(name=theme["name"], dark=theme["dark"], variables=variables, **colors)


def derive_variables(colours: Mapping[str, str]) -> dict[str, str]:
    """Compute the colours that derive from a theme's own colours.

    `muted` is the softest text colour that is readable on every background, and always softer than the text.
    `faint` is only for lines, never for text.
    """
    foreground, background, panel, accent = (
        Color.parse(colours[key]) for key in ("foreground", "background", "panel", "accent")
    )
    backgrounds = [Color.parse(colours[key]) for key in ("background", "surface", "panel")]
    muted = foreground
    for percent in range(5, 60, 5):
        softer = foreground.blend(background, percent / 100)
        if (
            percent > _MUTED_PERCENT_MIN
            and min(contrast(softer, ground) for ground in backgrounds) < CONTRAST_MIN
        ):
            break
        muted = softer
    return {
        "muted": muted.hex,
        "faint": foreground.blend(background, 0.75).hex,
        "input-cursor-background": colours["accent"],
        "input-selection-background": panel.blend(accent, 0.35).hex,
        "screen-selection-background": panel.blend(accent, 0.35).hex,
        "screen-selection-foreground": colours["foreground"],
        "block-cursor-foreground": colours["background"],
        "scrollbar": foreground.blend(background, 0.75).hex,
        "scrollbar-hover": foreground.blend(background, 0.6).hex,
        "scrollbar-background": colours["background"],
        "button-focus-text-style": "bold",
    }


def derive_defaults(theme: Theme) -> dict[str, str]:
    """Compute roamtui's own variables for a theme of Textual. Themes of roamtui have them already."""
    if "muted" in theme.variables:
        return {}
    colours = theme.to_color_system().generate()
    if theme.ansi:  # the terminal's own colours cannot be blended
        return {"muted": colours["text-muted"], "faint": colours["border-blurred"]}
    derived = derive_variables(colours)
    return {name: derived[name] for name in ("muted", "faint")}


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
