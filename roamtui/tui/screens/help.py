"""`HelpDialog`: lists all actions with their keys, to run one, and the signs of outline and answers."""

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content
from typing_extensions import override

from roamtui.conversation.citations import APART_LABEL, CHANGED_LABEL, QuoteState
from roamtui.tui.actions import DOCUMENT_PARTS, SCOPE_TITLES, Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import wrap
from roamtui.tui.screens.dialogs import make_foot
from roamtui.tui.screens.lists import ListDialog, PickerItem, Row, filter_items
from roamtui.tui.tree.visible_lines import OPEN_SIGN, SIGNS

_SIGNS = {
    "Outline symbols": tuple(
        (sign, "$accent" if sign == OPEN_SIGN else "$warning", meaning) for sign, meaning in SIGNS.items()
    ),
    "Answer symbols": (
        *((state.sign, f"${state.rating}", state.label) for state in QuoteState if state.sign),
        (QuoteState.NOT_FOUND.sign, "$error", APART_LABEL),
        (QuoteState.NOT_FOUND.sign, "$error", CHANGED_LABEL),
    ),
}
_KEYS_WIDTH = 21
"""Width of the column of keys, in cells."""


class HelpDialog(ListDialog[str, str | None]):
    """Lists all actions and signs. The result is the id of the action to run, or None."""

    CLEARS_FIRST = True
    BINDINGS = make_bindings(Scope.GLOBAL, works_in=(Scope.HELP,))

    def __init__(
        self,
        keys: Keymap,
        current_scope: Scope,
        signs: Sequence[tuple[str, str]] = (),
        *,
        typed: str = "",
    ) -> None:
        """List the `signs` of the selected line, then `keys`, those of `current_scope` first."""
        how_to_change = ". To change keys, see the docs."
        foot = make_foot("enter to run", "esc to clear or close", after=how_to_change)
        super().__init__("Commands and keys", foot, typed=typed)
        self._keys = keys
        runnable = [action for action in keys.actions.values() if action.runs_from_help]
        self._runnable_ids = {action.id for action in runnable}
        place = {current_scope} if current_scope in (Scope.START, Scope.TABLE) else {*DOCUMENT_PARTS}
        self._usable_ids = {action.id for action in runnable if place & action.works_in}
        self._sign_styles = {meaning: style for group in _SIGNS.values() for _, style, meaning in group}
        self._choices = [_make_sign(sign, meaning, "Selected line") for sign, meaning in signs]
        for scope in sorted(SCOPE_TITLES, key=lambda scope: scope is not current_scope):
            here = " · you are here" if scope is current_scope else ""
            title = SCOPE_TITLES[scope]
            for action in sorted(keys.iter_actions(scope), key=lambda action: action.place != title):
                item = PickerItem(
                    value=action.id,
                    label=action.label,
                    sign=" ".join(action.key_names) or "–",
                    note=action.help,
                    group=action.place + here,
                    synonyms=action.id,
                )
                self._choices.append(item)
        for heading, group in _SIGNS.items():
            self._choices += [_make_sign(sign, meaning, heading) for sign, _, meaning in group]

    @override
    def list_rows(self, typed: str) -> Iterator[Row[str]]:
        keys_width = min(_KEYS_WIDTH, self.list.line_width // 3)
        for choice in filter_items(self._choices, typed):
            keys = Content.styled(choice.sign, self._sign_styles.get(choice.value, "bold $accent"))
            lead = keys.pad_right(max(1, keys_width - keys.cell_length))
            words = Content.assemble(choice.note, (f" · {choice.group}" if typed else "", "$muted"))
            lines = wrap(words, self.list.line_width, lead=lead, follow=" " * keys_width)
            heading = Content.styled(choice.group, "bold $primary")
            yield Row(choice.value, Content("\n").join(lines), "" if typed else heading)

    @override
    def choose(self, item: str) -> None:
        if item in self._usable_ids:
            self.dismiss(item)
        elif item in self._runnable_ids:
            self.show_message("This does not work here. Close this list, and open a document first.")
        elif item in self._keys.actions:
            place = next(choice.group for choice in self._choices if choice.value == item)
            self.show_message(f"This key works only here: {place}. Close this list, and press it there.")


class SlashCommandsDialog(HelpDialog):
    """Lists the actions that can be run. It closes when none matches the text after the slash."""

    def __init__(self, keys: Keymap, typed: str, keep: Callable[[str], object]) -> None:
        """Begin with `typed`, the slash. `keep` gets the longer text if the person chooses no command."""
        super().__init__(keys, Scope.INPUT, typed=typed)
        self._keep = keep
        self._lead = typed
        self._choices = [choice for choice in self._choices if choice.value in self._runnable_ids]

    @override
    def filter(self) -> None:
        super().filter()
        if not (self.list.items and self.typed.startswith(self._lead)):
            self.action_leave()

    @override
    def action_leave(self) -> None:
        if self.field.value != self._lead:
            self._keep(self.field.value)
        self.dismiss(None)

    @override
    def list_rows(self, typed: str) -> Iterator[Row[str]]:
        return super().list_rows(typed.removeprefix(self._lead))


def _make_sign(sign: str, meaning: str, group: str) -> PickerItem[str]:
    return PickerItem(value=meaning, label="", sign=sign, note=meaning, group=group)
