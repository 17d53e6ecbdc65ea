"""`CommandPalette`: the actions that make sense on the current screen."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.tui.actions import SCOPE_TITLES, SHARED_IDS, Action, Keymap, Scope, format_keys
from roamtui.tui.screens.lists import PickerDialog, PickerItem

_INITIAL_IDS = (
    "global.new_conversation",
    "global.conversations",
    "global.choose_model",
    "global.find",
    "global.open_document",
)
"""The actions that are suggested until a person has chosen others."""
_SUGGESTED = "Suggested"


class CommandPalette(PickerDialog):
    """Lists the actions by scope, after the ones chosen last. The result is the id of the chosen action."""

    def __init__(self, keys: Keymap, recent_ids: Sequence[str], *, is_main: bool) -> None:
        """List the actions of the main screen, or only those that work everywhere if `is_main` is false.

        `recent_ids` are the actions that were chosen before, the latest last.
        """
        listed = [action for action in keys.actions if action.in_palette and (is_main or action.id in SHARED_IDS)]
        earlier = [action_id for action_id in _INITIAL_IDS if action_id not in recent_ids]
        suggested = [*earlier, *recent_ids][: -len(_INITIAL_IDS) - 1 : -1]
        by_id = {action.id: action for action in listed}
        choices = [_to_item(by_id[action_id], _SUGGESTED) for action_id in suggested if action_id in by_id]
        for scope, title in SCOPE_TITLES.items():
            rest = [action for action in listed if action.scope is scope and action.id not in suggested]
            choices += [_to_item(action, title) for action in rest]
        super().__init__("Commands", choices, foot="enter to run, esc to close")


def _to_item(action: Action, group: str) -> PickerItem[str]:
    label = action.label[:1].upper() + action.label[1:]
    if group == _SUGGESTED and action.scope is not Scope.GLOBAL:
        label = f"{SCOPE_TITLES[action.scope]}: {action.label}"
    return PickerItem(
        value=action.id,
        label=label,
        keys=" ".join(format_keys(action.keys)),
        note=action.help,
        synonyms=action.synonyms,
        group=group,
    )
