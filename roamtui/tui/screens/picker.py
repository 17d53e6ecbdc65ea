"""A list to choose one of: themes, models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from typing_extensions import override

from roamtui.document.plain import plain_line
from roamtui.tui.screens.overlay import ListOverlay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a picker."""

    name: str
    note: str = ""


class PickerScreen(ListOverlay[str | None]):
    """Lets a person choose a name; the result is None where they did not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "leave", "Leave")]
    DEFAULT_CSS = """
    PickerScreen {
        background: $background 30%;
        & OptionList { height: auto; max-height: 16; margin-top: 1; }
        & .foot { margin-top: 1; }
    }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        current: str,
        *,
        foot: str = "enter chooses, esc leaves",
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
