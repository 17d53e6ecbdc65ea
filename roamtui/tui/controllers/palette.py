"""`PaletteController`: lists the actions that make sense on the current screen, and runs the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from textual.app import App

from roamtui.tui.actions import SCOPE_TITLES, SHARED_IDS, Action, Keymap, Scope, format_keys
from roamtui.tui.panes.pane_switcher import PaneSwitcher
from roamtui.tui.screens.dialogs import PickerDialog, PickerItem
from roamtui.tui.screens.open_document import OpenDialog

_INITIAL_USE_ORDER = (
    "global.new_conversation",
    "global.conversations",
    "global.choose_model",
    "global.find",
    "global.open_document",
)
"""The actions that come first in the palette until a person has chosen others. The last of them is shown first."""
_SUGGESTED_COUNT = 5
"""Number of actions in the first group of the palette."""


class PaletteController:
    """Shows the command palette, and remembers the order in which actions were chosen."""

    def __init__(self, app: App[None], keys: Keymap, get_panes: Callable[[], PaneSwitcher | None]) -> None:
        """Run actions in `app`. `get_panes` returns the panes of the main screen, or None if it is covered."""
        self._app = app
        self._keys = keys
        self._get_panes = get_panes
        self._use_order = {action_id: number for number, action_id in enumerate(_INITIAL_USE_ORDER, 1)}
        """Number of each action that was used, by id. The latest one has the highest number."""

    def list_actions(self) -> tuple[Action, ...]:
        """List the actions that the palette offers on the current screen, the last used first."""
        is_main = self._get_panes() is not None
        if not is_main and not isinstance(self._app.screen, OpenDialog):  # else dialogs could pile up without end
            return ()
        listed = [action for action in self._keys.actions if action.in_palette and (is_main or action.id in SHARED_IDS)]
        return tuple(sorted(listed, key=lambda action: -self._use_order.get(action.id, 0)))

    def show(self) -> None:
        """Show the palette, and run the action that the person chooses."""
        if actions := {action.id: action for action in self.list_actions()}:
            suggested = sorted(self._use_order, key=self._use_order.__getitem__)[-_SUGGESTED_COUNT:]

            async def run(action_id: str | None) -> None:
                if action_id is not None:
                    await self.run(actions[action_id])

            self._app.push_screen(_make_palette(tuple(actions.values()), suggested), run)

    async def run(self, action: Action) -> None:
        """Run an action as if its key had been pressed while its scope had the focus."""
        self._use_order[action.id] = max(self._use_order.values()) + 1
        panes = self._get_panes()
        if panes is not None:
            panes.focus_scope(action.scope)
        namespace = self._app.screen if panes is None else panes.get_scope_widget(action.scope)
        await self._app.run_action(action.call, namespace)


def _make_palette(commands: Sequence[Action], suggested: Collection[str]) -> PickerDialog:
    """Make the list of commands. The ones whose ids are in `suggested` come first."""
    first = [action for action in commands if action.id in suggested]
    choices = [_to_item(action, is_suggested=True) for action in first]
    for scope in SCOPE_TITLES:
        rest = [action for action in commands if action.scope is scope and action not in first]
        choices += [_to_item(action) for action in rest]
    return PickerDialog("Commands", choices, foot="enter to run, esc to close")


def _to_item(action: Action, *, is_suggested: bool = False) -> PickerItem:
    where = SCOPE_TITLES[action.scope]
    label = action.label[:1].upper() + action.label[1:]
    return PickerItem(
        value=action.id,
        label=f"{where}: {action.label}" if is_suggested and action.scope is not Scope.GLOBAL else label,
        keys=" ".join(format_keys(action.keys)),
        note=action.help,
        synonyms=action.synonyms,
        group="Suggested" if is_suggested else where,
    )
