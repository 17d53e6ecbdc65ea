"""`ThemePicker`: the choice of a theme, with a preview of the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.app import App
from textual.theme import BUILTIN_THEMES
from typing_extensions import override

from roamtui.errors import RoamtuiError
from roamtui.tui.screens.lists import PickerDialog, PickerItem


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
                note="dark" if theme.dark else "light",
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
