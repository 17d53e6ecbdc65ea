"""`ThemePicker`: the choice of a theme, with a preview of the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme
from typing_extensions import override

from roamtui.errors import RoamtuiError
from roamtui.tui.screens.lists import PickerDialog, PickerItem
from roamtui.tui.themes import contrast

_CONTRAST_HIGH = 10.0
"""Minimum contrast of muted text in a theme that is called high contrast. Level AAA of WCAG requires 7."""


class ThemePicker(PickerDialog):
    """Lets a person choose a theme, and shows the app in the one under the cursor."""

    def __init__(self, app: App[None], save: Callable[[Mapping[str, str]], None] | None) -> None:
        """List the themes of `app`. `save` saves the chosen one for the next start."""
        self._original = app.theme
        self._save = save
        themes = [theme for theme in app.available_themes.values() if not theme.primary.startswith("ansi")]
        themes.sort(key=lambda theme: (theme.name in BUILTIN_THEMES, theme.name))
        choices = [
            PickerItem(
                value=theme.name,
                label=theme.name,
                note=_describe_theme(theme),
                group="From Textual" if theme.name in BUILTIN_THEMES else "roamtui",
                sign="●" if theme.name == self._original else "",
            )
            for theme in themes
        ]
        super().__init__("Theme", choices, self._original)

    @override
    def preview(self, item: str) -> None:
        self.app.theme = item

    @override
    def choose(self, item: str) -> None:
        self.dismiss(item)
        self.app.theme = item
        try:
            if item != self._original and self._save is not None:
                self._save({"theme": item})
        except RoamtuiError as error:
            self.app.notify(str(error), severity="error", markup=False)

    @override
    def action_leave(self) -> None:
        self.dismiss(None)
        self.app.theme = self._original


def _describe_theme(theme: Theme) -> str:
    """Say whether a theme is dark or light, and whether even its muted text has a high contrast."""
    kind = "dark" if theme.dark else "light"
    muted, background = theme.variables.get("muted"), theme.background
    is_high = muted and background and contrast(Color.parse(muted), Color.parse(background)) >= _CONTRAST_HIGH
    return f"{kind}, high contrast" if is_high else kind
