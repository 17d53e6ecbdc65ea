"""`Dialog`, and the dialogs that ask for one answer: yes or no, a line of text, or a path."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen, ScreenResultType
from textual.style import Style
from textual.widgets import Button, Input, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.library_sync import format_missing, is_source_missing, list_missing, replace_missing
from roamtui.errors import RoamtuiError
from roamtui.output import check_output_path, write_export
from roamtui.paths import expand_user, is_standard_input
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_line, sanitise_text
from roamtui.sources.listing import list_paths
from roamtui.sources.source_names import expand_sources, join_sources
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.key_queue import TYPING_SECONDS
from roamtui.tui.screen_words import format_error
from roamtui.tui.status_line import format_key_hint


class KeyHints(Static):
    """Shows the keys of a screen, as a list or in a sentence. A click on a key does what the key does."""

    def __init__(self, *hints: Content) -> None:
        super().__init__(Content("  ").join(hints))
        self.auto_links = False


def make_key_hints(keys: Keymap, scope: Scope) -> KeyHints:
    """Make the line that lists the keys of a screen that has a scope of its own."""
    hints = [
        format_key_hint(action.key_names[0], action.label, f"screen.{action.call}")
        for action in keys.iter_actions(scope)
        if action.keys and action.label
    ]
    return KeyHints(*hints, format_key_hint("esc", "close", "screen.leave"))


def make_foot(enter: str, esc: str, *, before: str = "", between: str = ", ", after: str = "") -> KeyHints:
    """Make the line that says what enter and esc do, such as "enter to open". A click on them does it."""
    choosing = Content.styled(enter, Style.from_meta({"@click": "screen.choose"}))
    leaving = Content.styled(esc, Style.from_meta({"@click": "screen.leave"}))
    return KeyHints(Content.assemble(before, choosing, between, leaving, after))


class TextField(Input):
    """A field whose cursor does not blink: for a blink, Textual draws much of the screen again, in 4 ms."""

    cursor_blink = reactive(default=False, init=False)


class Dialog(ModalScreen[ScreenResultType]):
    """A box over the middle of the screen. If its background work fails, it says why and stays open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        *make_bindings(Scope.GLOBAL, works_in=Scope),
    ]

    _pending_dismissal: Callable[[], object] | None = None
    """Closes the dialog with the result of background work. None without a result."""

    def __init__(self) -> None:
        super().__init__()
        self.message = Static(classes="message -empty")
        """The message: an error in the input, the current work, or its result."""

    def show_message(self, words: str | None, *, is_problem: bool = False) -> None:
        """Replace the message."""
        self.message.set_class(is_problem, "-problem")
        self.message.set_class(not words, "-empty")
        self.message.update(Content(sanitise_line(qualify_commands(words or ""))))

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.show_message(format_error(event.worker.error), is_problem=True)

    def finish(self, result: ScreenResultType) -> None:
        """Close with the result of background work, as soon as no other dialog covers this one."""
        self._pending_dismissal = partial(self.dismiss, result)
        self._finish()

    @on(events.ScreenResume)
    def _finish(self) -> None:
        if self._pending_dismissal is not None and self.is_active:
            self._pending_dismissal()

    def action_leave(self) -> None:
        self.dismiss(None)


class ConfirmDialog(Dialog[bool]):
    """Asks before an action that cannot be undone or sends data to others. The safe answer has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,Y", "dismiss(True)", "Yes"),
        Binding("n,N,escape", "dismiss(False)", "No"),
        Binding("space", "app.simulate_key('enter')", "Press the button", show=False),
        Binding("left,right", "app.focus_next", "Other button", show=False),
    ]

    def __init__(
        self,
        question: str,
        detail: str,
        *,
        yes: str,
        no: str = "No",
        is_expected: bool = True,
    ) -> None:
        """Ask `question`. Its `detail`, such as a URL, may come from a document.

        If not `is_expected`, no key opened the dialog, so the person may be typing.
        """
        super().__init__()
        self._is_expected = is_expected
        self._typing_until = 0.0
        """Until this time, on the clock of events, a key may belong to a text that the person is typing."""
        self._question = question
        self._detail = detail
        self._yes = yes
        self._no = no

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._question, "bold"))
            if self._detail:
                yield Static(Content(sanitise_text(self._detail)), classes="detail")
            with Horizontal():
                yield Button(Content(f"{self._no} (n)"), action="screen.dismiss(False)", compact=True)
                yield Button(Content(f"{self._yes} (y)"), action="screen.dismiss(True)", compact=True)

    def on_mount(self, event: events.Mount) -> None:
        """If the person did not expect the question, accept no answer at first."""
        if not self._is_expected:
            self._typing_until = event.time + TYPING_SECONDS

    def on_key(self, event: events.Key) -> None:
        """Ignore keys until a person who is typing pauses: the y of a word must not answer the question."""
        is_letter = event.is_printable and event.key not in self.active_bindings
        if event.key != "escape" and (is_letter or event.time < self._typing_until):
            event.stop()
            if is_letter:  # y does not extend the wait, so pressing it again works
                self._typing_until = event.time + TYPING_SECONDS


_NOTHING_TYPED = "Type something, or press esc to cancel."


class PromptDialog(Dialog[str | None]):
    """Asks for a line of text, until it can be accepted. The result is None if the person leaves."""

    def __init__(  # noqa: PLR0913 - most prompts need only some
        self,
        heading: str,
        value: str,
        *,
        detail: str = "",
        foot: KeyHints | None = None,
        is_selected: bool = False,
        check: Callable[[str], str] = lambda typed: "" if typed else _NOTHING_TYPED,
        on_typed: Callable[[str], object] | None = None,
    ) -> None:
        """Ask for a line, with `value` in the field. `value` and `detail` may come from a document.

        `check` returns "" to accept a typed line, or a sentence that says what to type instead. `on_typed`
        gets the text after each change. If `is_selected`, typing replaces the value. `foot` names the keys if
        they are other than enter to accept and esc to cancel.
        """
        super().__init__()
        self._heading = heading
        # Paths may have several spaces in a row, which `sanitise_line` would join.
        self._value = sanitise_text(value).replace("\n", " ")
        self._detail = sanitise_text(detail)
        self._is_selected = is_selected
        self._check = check
        self._on_typed = on_typed
        self._foot = foot or make_foot("enter to accept", "esc to cancel")

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._heading, "bold $primary"))
            if self._detail:
                yield Static(Content(self._detail), classes="detail")
            yield TextField(self._value, select_on_focus=self._is_selected, compact=True)
            yield self.message
            yield self._foot

    def on_mount(self) -> None:
        """Show the end of a long line, where the cursor is."""
        self.call_after_refresh(self.query_one(Input).mutate_reactive, Input.selection)

    @on(Input.Submitted)
    def action_choose(self) -> None:
        value = sanitise_text(self.query_one(Input).value).strip()
        if problem := self._check(value):
            self.show_message(problem, is_problem=True)
        else:
            self._accept(value)

    @on(Input.Changed)
    def _follow_typing(self, event: Input.Changed) -> None:
        self.show_message("")
        if self._on_typed is not None:
            self._on_typed(event.value)

    def _accept(self, value: str) -> None:
        self.dismiss(value)


class LocateDialog(PromptDialog):
    """Asks where missing documents of a conversation are. The result is the source with their new places."""

    def __init__(self, source: str) -> None:
        problem = "There is no file or folder with this path. Type another, or press esc."
        super().__init__(
            "Where is the document now?",
            "" if is_standard_input(source) else join_sources(list_missing(source)),
            detail=format_missing(source),
            is_selected=True,
            foot=make_foot("enter to open it there", "esc to cancel"),
            check=lambda typed: problem if is_source_missing(expand_sources(typed)) else "",
        )
        self._source = source

    @override
    def _accept(self, value: str) -> None:
        self.dismiss(replace_missing(self._source, value))


class ExportDialog(PromptDialog):
    """Asks for a path, and writes a file in the format of its suffix. The result is a message, or None.

    None means that the person cancelled. An existing file is replaced only after they confirm it. If the file
    cannot be written, they can change its name.
    """

    def __init__(
        self,
        heading: str,
        stem: str,
        renderers: Mapping[str, Callable[[Path], str]],
        sources: Iterable[str],
    ) -> None:
        """Propose a file with the name `stem` in the current folder, or in the home folder if that is gone.

        `sources` are never overwritten. `renderers` has, by suffix, a function that returns the text for a
        path. The first one is the default. Each is called in a thread, and raises `RoamtuiError` if the file
        must not be written.
        """
        default = next(iter(renderers))
        choice = f"The ending chooses the format: {', '.join(renderers)} · " if len(renderers) > 1 else ""
        foot = make_foot("enter to export", "esc to cancel", before=choice)
        try:
            folder = Path.cwd()
        except OSError:  # it was deleted
            folder = Path.home()
        super().__init__(heading, str(folder / f"{stem}{default}"), foot=foot, is_selected=True)
        self._renderers = renderers
        self._sources = tuple(sources)

    @override
    def _accept(self, value: str) -> None:
        self.run_worker(self._export(value), exclusive=True, exit_on_error=False)

    async def _export(self, name: str) -> None:
        path = Path(expand_user(name))
        await asyncio.to_thread(lambda: check_output_path(path, self._renderers, list_paths(self._sources)))
        text = await asyncio.to_thread(self._renderers[path.suffix.lower()], path)
        if await asyncio.to_thread(os.path.lexists, path):
            question = ConfirmDialog("This file exists already. Overwrite it?", str(path), yes="Overwrite")
            if not await self.app.push_screen_wait(question):
                raise RoamtuiError("Choose another name, or press esc to cancel.")
        await asyncio.to_thread(write_export, path, text)
        self.finish(f"Saved {path}.")
