"""The status line: model, what goes on, tokens and cost, what is open; and below it the keys of where the focus is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.transcript import Usage
from roamtui.document.plain import plain_line
from roamtui.document.tokens import format_tokens
from roamtui.tui.actions import Scope, show_key
from roamtui.tui.hints import draw_hint
from roamtui.tui.usage_words import describe_usage

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState
    from roamtui.tui.keys import Keys

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.12
_PART_GAP = "  "
_HINT_GAP = "   "


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the status line tells."""

    model: str
    model_note: str = ""
    """Said beside the name, such as that it is offline."""
    is_asking: bool = False
    step: int = 0
    """Step of the question under way, 0 before its first."""
    usage: Usage = field(default_factory=Usage)
    """Of the whole conversation."""
    open_count: int = 0
    open_tokens: int = 0
    alert: str = ""
    """What a person should know until it is no longer so."""
    message: str = ""
    """What just happened, in a few words."""


class StatusLine(Widget):
    """Shows a `Status`; what does not fit is left out from the end."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self, status: Status, keys: Keys) -> None:
        super().__init__(id="status-line")
        self._keys = keys
        self._status = status
        self._frame = 0

    @property
    def status(self) -> Status:
        """What is shown."""
        return self._status

    def on_mount(self) -> None:
        """Let the sign of work turn."""
        self.set_interval(_FRAME_SECONDS, self._turn)

    def change(self, **changes: object) -> None:
        """Show other values for some fields of the status."""
        self._status = replace(self._status, **changes)  # type: ignore[arg-type]  # fields by name
        self.refresh()

    def show_state(self, state: ConversationState) -> None:
        """Show what is open, and what the conversation took."""
        usage = sum((exchange.usage for exchange in state.transcript.exchanges), Usage())
        self.change(open_count=len(state.open), open_tokens=state.open_tokens, usage=usage)

    def _turn(self) -> None:
        if self._status.is_asking and self.app.animation_level != "none":
            self._frame = (self._frame + 1) % len(_FRAMES)
            self.refresh()

    @override
    def render(self) -> Content:
        line = Content()
        for part in self._parts():
            longer = line + _PART_GAP + part if line else part
            if longer.cell_length > self.size.width and line:
                break
            line = longer
        return line

    def _parts(self) -> list[Content]:
        status = self._status
        parts = [Content.styled(plain_line(status.model), "bold $primary")]
        if status.model_note:
            parts[0] += Content.styled(f" ({status.model_note})", "$muted")
        if status.is_asking:
            step = f"step {status.step}" if status.step else "asking"
            stop = f"{self._keys.show_first('global.copy_or_cancel')} stops"
            parts.append(Content.assemble((f"{_FRAMES[self._frame]} {step}", "bold $accent"), (f" · {stop}", "$muted")))
        if status.alert:
            parts.append(Content.styled(plain_line(status.alert), "bold $warning"))
        if status.message:
            parts.append(Content(plain_line(status.message)))
        word = "open" if status.open_count else "nothing open"
        opened = f"◆ {status.open_count} {word} · ~{format_tokens(status.open_tokens)} tok"
        parts.append(Content(opened if status.open_count else f"◇ {word}"))
        if status.usage.input_tokens or status.usage.output_tokens:
            parts.append(Content.styled(describe_usage(status.usage), "$muted"))
        return parts


class HintLine(Widget):
    """Shows the keys that matter where the focus is."""

    DEFAULT_CSS = """
    HintLine { height: 1; background: $background; color: $muted; padding: 0 1; }
    """

    def __init__(self, keys: Keys) -> None:
        super().__init__(id="hint-line")
        self._keys = keys
        self._scope = Scope.INPUT
        self._enter = ""

    def show_scope(self, scope: Scope, *, enter: str = "") -> None:
        """Show the keys of another scope.

        Args:
            scope: Where the focus is.
            enter: What `enter` does in a field there, in our own words: letters are typed into it, and are no keys.
        """
        if (scope, enter) != (self._scope, self._enter):
            self._scope, self._enter = scope, enter
            self.refresh()

    @override
    def render(self) -> Content:
        right = self._join(Scope.GLOBAL, self.size.width)
        room = self.size.width - right.cell_length - len(_HINT_GAP)
        left = self._draw_field() if self._enter else self._join(self._scope, room)
        gap = self.size.width - left.cell_length - right.cell_length
        return left + " " * max(0, gap) + right

    def _draw_field(self) -> Content:
        step_out = self._keys.show_first("global.step_out")
        return Content(_HINT_GAP).join((draw_hint("enter", self._enter), draw_hint(step_out, "leave")))

    def _join(self, scope: Scope, width: int) -> Content:
        """Return the hints of a scope that fit."""
        line = Content()
        for action in self._keys.within(scope):
            if action.is_hinted and action.keys:
                hint = draw_hint(show_key(action.keys[0]), action.label.lower())
                longer = line + _HINT_GAP + hint if line else hint
                if longer.cell_length > width:
                    break
                line = longer
        return line
