"""`QuestionBox`: a text field of several lines with a history and slash commands, which refuses huge pastes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea
from typing_extensions import override

from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.tui.actions import Action, Scope, format_keys, make_bindings

_PASTE_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""

_COMMANDS_SHOWN = 8


class QuestionBox(TextArea):
    """A text field for questions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.INPUT),
        Binding("up", "history_previous", "Earlier question", priority=True),
        Binding("down", "history_next", "Later question", priority=True),
        Binding("pageup", "page(-1)", "Scroll the pane above up", priority=True),
        Binding("pagedown", "page(1)", "Scroll the pane above down", priority=True),
    ]

    @dataclass
    class Submitted(Message):
        """A person sent a question."""

        question: str

    @dataclass
    class ScrollRequested(Message):
        """A person wants to scroll the pane above the box."""

        direction: int
        """1 for down, -1 for up."""

    @dataclass
    class CommandSubmitted(Message):
        """A person sent the name of a command."""

        action: Action

    @dataclass
    class CommandsListed(Message):
        """The commands that match the typed text have changed."""

        commands: Mapping[str, Action]
        """The matching commands by name. If there are none, the list is hidden."""
        chosen: str | None
        """Name of the command that the arrows chose."""

    def __init__(self, history: Iterable[str] = (), commands: Mapping[str, Action] | None = None) -> None:
        """Make an empty box. `history` has earlier questions, oldest first. Names of `commands` begin with a slash."""
        super().__init__(
            id="question-box", compact=True, highlight_cursor_line=False, placeholder=Content("Ask this document…")
        )
        self.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._history = list(history)
        self._history_index = len(self._history)
        self._draft = ""
        self._commands = commands or {}
        self._text_before_choice = ""
        """The text before an arrow chose a command."""
        self._listed_names: tuple[str, ...] = ()
        """Names of the listed commands."""
        self._chosen: str | None = None
        """The command that an arrow put into the box."""

    def set_border_label(self, label: str) -> None:
        """Show a label on the border that says how the next question will be asked. An empty string removes it."""
        if isinstance(self.parent, Widget):
            self.parent.border_title = Content(label)

    def prepend_history(self, questions: Iterable[str]) -> None:
        """Add proposed questions to the start of the history."""
        proposed = list(questions)
        self._history[:0] = proposed
        self._history_index += len(proposed)

    def remember(self, question: str) -> None:
        """Add a question to the history."""
        if not self._history or self._history[-1] != question:
            self._history.append(question)
        self._history_index = len(self._history)

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(sanitise_text(text))
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        """Send the question, if there is one, once the box has handled all earlier keys.

        A priority key overtakes keys that still wait for the box, for example in a burst of typing.
        """
        self.call_later(self._send)

    def _send(self) -> None:
        question = self.text.strip()
        if (action := self._commands.get(question)) is not None:
            self.clear()
            self.post_message(self.CommandSubmitted(action))
        elif question:
            self.post_message(self.Submitted(question))

    @on(TextArea.Changed)
    def _list_commands(self) -> None:
        """List the commands that begin with the typed text, then the commands with a later word that does."""
        typed = self.text
        if typed == self._chosen:
            return
        names: list[str] = []
        if typed.startswith("/"):
            names = [name for name in self._commands if f"-{typed[1:].casefold()}" in f"-{name[1:]}"]
            names.sort(key=lambda name: not name.startswith(typed.casefold()))
        self._set_commands(tuple(names))

    def _set_commands(self, names: tuple[str, ...], chosen: str | None = None) -> None:
        if (names, chosen) != (self._listed_names, self._chosen):
            self._listed_names, self._chosen = names, chosen
            self.post_message(self.CommandsListed({name: self._commands[name] for name in names}, chosen))

    def _choose_command(self, direction: int) -> None:
        """Put the next (1) or previous (-1) listed command into the box."""
        if self._chosen is None:
            self._text_before_choice = self.text
            index = 0 if direction > 0 else -1
        else:
            index = (self._listed_names.index(self._chosen) + direction) % len(self._listed_names)
        name = self._listed_names[index]
        self._set_commands(self._listed_names, name)
        self.fill(name)

    def close_commands(self) -> bool:
        """Hide the list of commands until the text changes. Return whether it was shown."""
        if not self._listed_names:
            return False
        typed = self.text if self._chosen is None else self._text_before_choice
        with self.prevent(TextArea.Changed):  # which would list the commands again
            self.fill(typed)
        self._set_commands(())
        return True

    def action_insert_line(self) -> None:
        self.call_later(self.insert, "\n")

    def action_history_previous(self) -> None:
        if self._listed_names:
            self._choose_command(-1)
            return
        if not self.cursor_at_first_line or self._history_index == 0:
            raise SkipAction
        if self._history_index == len(self._history):
            self._draft = self.text
        self._history_index -= 1
        self.fill(self._history[self._history_index])

    def action_history_next(self) -> None:
        if self._listed_names:
            self._choose_command(1)
            return
        if not self.cursor_at_last_line or self._history_index >= len(self._history):
            raise SkipAction
        self._history_index += 1
        self.fill(self._draft if self._history_index == len(self._history) else self._history[self._history_index])

    def action_page(self, pages: int) -> None:
        if self.max_scroll_y > 0:
            raise SkipAction  # the box scrolls a question that is longer than itself
        self.post_message(self.ScrollRequested(pages))

    def on_key(self, event: events.Key) -> None:
        """Move the cursor for an arrow or page key that no action has handled."""
        if move := _MOVES.get(event.key):
            event.stop()
            move(self)

    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if len(event.text) > _PASTE_LENGTH_MAX:
            problem = (
                f"That paste has {len(event.text):,} characters; a question may have {_PASTE_LENGTH_MAX:,}. Nothing was"
                " pasted. Save it as a file and open that instead."
            )
            self.notify(problem, severity="warning", markup=False)
            return
        self.replace(event.text, *self.selection)
        self.scroll_cursor_visible()


_MOVES: Mapping[str, Callable[[QuestionBox], None]] = {
    "up": QuestionBox.action_cursor_up,
    "down": QuestionBox.action_cursor_down,
    "pageup": QuestionBox.action_cursor_page_up,
    "pagedown": QuestionBox.action_cursor_page_down,
}


class CommandList(Widget):
    """The commands that match the typed text, with the chosen one in view."""

    def __init__(self) -> None:
        super().__init__(id="command-list")
        self._commands: Mapping[str, Action] = {}
        self._chosen: str | None = None

    def show(self, commands: Mapping[str, Action], chosen: str | None) -> None:
        """Show other commands."""
        self._commands, self._chosen = commands, chosen
        self.styles.height = min(len(commands), _COMMANDS_SHOWN, max(1, self.app.size.height // 3))
        self.refresh()

    @override
    def render(self) -> Content:
        names = list(self._commands)
        height = max(1, self.size.height)
        index = names.index(self._chosen) if self._chosen in names else 0
        first = max(0, min(index - height // 2, len(names) - height))
        column = max(map(len, names), default=0) + 2
        lines = []
        for name in names[first : first + height]:
            action = self._commands[name]
            key = format_keys(action.keys)[0] if action.keys else ""
            line = Content.assemble((name.ljust(column), "bold $accent"), action.help, (f"  {key}", "$muted"))
            line = line.truncate(self.size.width, ellipsis=True)
            if name == self._chosen:
                line = line.pad_right(self.size.width - line.cell_length).stylize("reverse")
            lines.append(line)
        return Content("\n").join(lines)


class QueuedLine(Widget):
    """The question that waits until the current answer has ended."""

    def __init__(self, question: str, back_key: str) -> None:
        super().__init__()  # without an id, because the previous line may not be removed yet
        self._question = sanitise_line(question)
        self._back_key = back_key

    @override
    def render(self) -> Content:
        hint = Content(f" · {self._back_key} takes it back")
        room = max(4, self.size.width - hint.cell_length)
        return Content(f"Next: {self._question}").truncate(room, ellipsis=True) + hint
