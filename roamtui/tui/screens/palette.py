"""`CommandPalette`: the actions that make sense on the current screen."""

from __future__ import annotations

from roamtui.tui.actions import SCOPE_TITLES, Keymap, format_keys
from roamtui.tui.screens.lists import PickerDialog, PickerItem


class CommandPalette(PickerDialog):
    """Lists the actions by scope. The result is the id of the chosen action."""

    def __init__(self, keys: Keymap) -> None:
        choices = [
            PickerItem(
                value=action.id,
                label=action.label[:1].upper() + action.label[1:],
                keys=" ".join(format_keys(action.keys)),
                note=action.help,
                synonyms=action.synonyms,
                group=title,
            )
            for scope, title in SCOPE_TITLES.items()
            for action in keys.for_scope(scope)
            if action.in_palette
        ]
        super().__init__("Commands", choices, foot="enter to run, esc to close")
