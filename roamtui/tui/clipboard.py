"""Copies text, and handles the key that copies or stops."""

from collections.abc import Callable

from textual.screen import Screen
from textual.widget import Widget

from roamtui.sanitiser import sanitise_text
from roamtui.tui.actions import Keymap


def copy(widget: Widget, text: str, description: str) -> None:
    """Copy text to the clipboard, and tell the person. `description` names the text, such as `the answer`."""
    widget.app.copy_to_clipboard(sanitise_text(text))
    widget.notify(f"Copied {description}.", markup=False)


def copy_or_stop(screen: Screen[None], selected_text: str, stop: Callable[[], bool], keys: Keymap) -> None:
    """Copy the selection of the focused widget or of the screen. Without a selection, call `stop`.

    `stop` returns whether it stopped anything. If not, name the key that quits: elsewhere ctrl+c does that.
    """
    selected_text = selected_text or screen.get_selected_text() or ""
    if selected_text:
        copy(screen, selected_text, "the selection")
        screen.clear_selection()
    elif not stop():
        quit_key = keys.first_keys["global.quit"]
        screen.notify(f"Nothing to copy or stop. Press {quit_key} to quit.", markup=False)
