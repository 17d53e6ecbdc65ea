"""The choice of a theme, with a preview of the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from roamtui.errors import RoamtuiError
from roamtui.tui.screens.dialogs import PickerDialog, PickerItem
from roamtui.tui.themes import contrast

_CONTRAST_HIGH = 10.0
"""Minimum contrast of muted text in a theme that is called high contrast. Level AAA of WCAG requires 7."""


def pick_theme(app: App[None], save: Callable[[Mapping[str, str]], None] | None) -> None:
    """Let a person choose a theme, with a preview of the one under the cursor, and `save` the choice."""
    original_theme = app.theme
    themes = [theme for theme in app.available_themes.values() if not theme.primary.startswith("ansi")]
    themes.sort(key=lambda theme: (theme.name in BUILTIN_THEMES, theme.name))
    choices = [
        PickerItem(
            value=theme.name,
            label=theme.name,
            note=_describe_theme(theme),
            group="From Textual" if theme.name in BUILTIN_THEMES else "roamtui",
            sign="●" if theme.name == original_theme else "",
        )
        for theme in themes
    ]

    def preview(name: str) -> None:
        app.theme = name

    def finish(name: str | None) -> None:
        app.theme = name or original_theme
        try:
            if name is not None and name != original_theme and save is not None:
                save({"theme": name})
        except RoamtuiError as error:
            app.notify(str(error), severity="error", markup=False)

    app.push_screen(PickerDialog("Theme", choices, original_theme, preview=preview), finish)


def _describe_theme(theme: Theme) -> str:
    """Say whether a theme is dark or light, and whether even its muted text has a high contrast."""
    kind = "dark" if theme.dark else "light"
    muted, background = theme.variables.get("muted"), theme.background
    is_high = muted and background and contrast(Color.parse(muted), Color.parse(background)) >= _CONTRAST_HIGH
    return f"{kind}, high contrast" if is_high else kind
