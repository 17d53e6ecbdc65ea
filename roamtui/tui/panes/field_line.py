"""A line at the bottom of a pane to type into: a filter, a search."""

from __future__ import annotations

from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static


class FieldLine(Horizontal):
    """Shows a label and a field once it is opened; its messages are those of `Input`."""

    DEFAULT_CSS = """
    FieldLine {
        display: none;
        height: 1;
        background: $panel;
        padding: 0 1;
        & Static { width: auto; color: $muted; }
        & Input {
            width: 1fr;
            height: 1;
            border: none;
            padding: 0;
            background: $panel;
            &:focus { border: none; background-tint: $panel 0%; }
        }
    }
    """

    def __init__(self, label: str, enter: str) -> None:
        """Make a closed line.

        Args:
            label: Our own words before the field.
            enter: What `enter` does in it, in our own words.
        """
        super().__init__()
        self._label = label
        self.enter = enter
        self._input = Input()

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.display

    @property
    def is_focused(self) -> bool:
        """Whether keys are typed into it."""
        return self._input.has_focus

    @property
    def value(self) -> str:
        """What is typed."""
        return self._input.value

    def owns(self, field: Input) -> bool:
        """Return whether this is its field."""
        return field is self._input

    def open(self) -> None:
        """Show it and type into it from now on."""
        if not self._input.is_attached:  # most often it is never opened
            self.mount(Static(Content(f"{self._label} › ")), self._input)
        self.display = True
        self.screen.set_focus(self._input)

    def close(self) -> None:
        """Empty it and take it away."""
        self.display = False
        self._input.value = ""
