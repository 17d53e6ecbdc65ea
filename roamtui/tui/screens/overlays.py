"""The small boxes above the main screen: how all look and are closed, and those that ask for one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option
from typing_extensions import override

from roamtui.document.plain import plain_line, plain_text


class Overlay(ModalScreen[ScreenResultType]):
    """A box in the middle; what stands behind it shows through."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close")]
    DEFAULT_CSS = """
    Overlay {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 64;
            max-width: 94%;
            height: auto;
            max-height: 80%;
            padding: 1 2;
            background: $panel;
            border: round $primary;
        }
        & Input {
            height: 1;
            margin: 1 0;
            border: none;
            padding: 0 1;
            background: $background;
            &:focus { border: none; background-tint: $panel 0%; }
        }
        & OptionList {
            border: none;
            padding: 0;
            background: $panel;
            scrollbar-size-vertical: 1;
            &:focus { border: none; background-tint: $panel 0%; }
        }
        & .foot { color: $muted; }
    }
    """

    _end: Callable[[], object] | None = None
    """Closes it with what came of work in the background, None while that goes on."""

    def finish(self, result: ScreenResultType) -> None:
        """Close with what came of work in the background, once nothing else that was opened lies above this."""
        self._end = partial(self.dismiss, result)
        self._finish()

    @on(events.ScreenResume)
    def _finish(self) -> None:
        if self._end is not None and self.is_active:
            self._end()

    def action_leave(self) -> None:
        """Leave without a result."""
        self.dismiss(None)


class ListOverlay(Overlay[ScreenResultType]):
    """A box with one list, whose cursor goes by `j` and `k` too."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "move(1)", "Down"), Binding("k", "move(-1)", "Up")]

    def action_move(self, lines: int) -> None:
        """Go up or down."""
        options = self.query_one(OptionList)
        if lines > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()


class ConfirmScreen(Overlay[bool]):
    """Asks before something that cannot be taken back, or that leaves this machine; the safe answer has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
        Binding("left,right", "app.focus_next", "Other button", show=False),
    ]
    DEFAULT_CSS = """
    ConfirmScreen {
        & > Vertical { border: round $accent; }
        & .detail { color: $accent; margin: 1 0; }
        & Horizontal { height: auto; width: auto; }
        & Button {
            margin-right: 2;
            background: $surface;
            color: $foreground;
            text-style: none;
            &:hover { background: $surface; text-style: underline; }
            &:focus { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        }
    }
    """

    def __init__(self, question: str, detail: str = "", *, yes: str = "Yes", no: str = "No") -> None:
        """Ask `question`.

        Args:
            question: Our own words.
            detail: What it is about, such as an address; may come from a document.
            yes: What the button that agrees says.
            no: What the other button says.
        """
        super().__init__()
        self._question = question
        self._detail = detail
        self._yes = yes
        self._no = no

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._question, "bold"))
            if self._detail:
                yield Static(Content(plain_text(self._detail)), classes="detail")
            with Horizontal():
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)
                yield Button(Content(f"{self._yes} (y)"), id="yes", compact=True)

    @on(Button.Pressed)
    def _take_answer(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - the argument of a binding
        """Close with an answer."""
        self.dismiss(answer)


class PromptScreen(Overlay[str | None]):
    """Lets a person type a line; the result is None where they leave, and empty only where that is allowed."""

    DEFAULT_CSS = """
    PromptScreen > Vertical { width: 70; max-width: 92%; }
    PromptScreen .detail { max-height: 6; }
    """

    def __init__(
        self,
        heading: str,
        value: str,
        *,
        detail: str = "",
        foot: str = "enter takes it, esc closes",
        may_be_empty: bool = False,
    ) -> None:
        """Ask for a line.

        Args:
            heading: Our own words.
            value: What stands in the field at first; may come from a document.
            detail: What it is about; may come from a document.
            foot: Our own words below the field.
            may_be_empty: Whether nothing is an answer too.
        """
        super().__init__()
        self._heading = heading
        self._value = plain_line(value)
        self._detail = plain_text(detail)
        self._may_be_empty = may_be_empty
        self._foot = foot

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._heading, "bold $primary"))
            if self._detail:
                yield Static(Content(self._detail), classes="detail")
            yield Input(self._value, select_on_focus=False)
            yield Static(Content(self._foot), classes="foot")

    def on_mount(self) -> None:
        """Put the cursor behind what is proposed."""
        field = self.query_one(Input)
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        value = plain_line(event.value).strip()
        if value or self._may_be_empty:
            self.dismiss(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a picker."""

    name: str
    note: str = ""


class PickerScreen(ListOverlay[str | None]):
    """Lets a person choose a name; the result is None where they did not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "leave", "Close")]
    DEFAULT_CSS = """
    PickerScreen {
        background: $background 30%;
        & OptionList { height: auto; max-height: 16; margin-top: 1; }
        & .foot { margin-top: 1; }
        &.-short OptionList { max-height: 30vh; }
    }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        current: str,
        *,
        foot: str = "enter chooses, esc closes",
        preview: Callable[[str], None] | None = None,
    ) -> None:
        """Offer `choices`.

        Args:
            title: Our own words.
            choices: Names are unique.
            current: Name of the choice that is in force.
            foot: Our own words below the list.
            preview: Called with each name that the person looks at.
        """
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (33, "-tall")]
        self._heading = title
        self._choices = choices
        self._current = current
        self._foot = foot
        self._preview = preview

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._heading, "bold $primary"))
            yield OptionList(*(Option(self._draw(choice), id=None) for choice in self._choices))
            yield Static(Content(self._foot), classes="foot")

    def add_choices(self, choices: Sequence[Choice]) -> None:
        """Offer some more, below what is there; a name that is there already is not offered twice."""
        names = {choice.name for choice in self._choices}
        new = [choice for choice in choices if choice.name not in names]
        self._choices = [*self._choices, *new]
        self.query_one(OptionList).add_options([Option(self._draw(choice)) for choice in new])

    def show_foot(self, foot: str) -> None:
        """Say something else below the list; it must be safe for the screen."""
        self.query_one(".foot", Static).update(Content(foot))

    def on_mount(self) -> None:
        """Begin at what is in force."""
        names = [choice.name for choice in self._choices]
        options = self.query_one(OptionList)
        options.highlighted = names.index(self._current) if self._current in names else 0
        options.focus()

    def _draw(self, choice: Choice) -> Content:
        sign = "● " if choice.name == self._current else "  "
        note = f" · {choice.note}" if choice.note else ""
        return Content(sign + plain_line(choice.name + note))

    @on(OptionList.OptionHighlighted)
    def _preview_choice(self, event: OptionList.OptionHighlighted) -> None:
        if self._preview is not None:
            self._preview(self._choices[event.option_index].name)

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].name)
