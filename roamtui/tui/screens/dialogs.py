"""Base classes of the dialogs, and the dialogs that ask for a single answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Generic, TypeVar, assert_never

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option
from typing_extensions import override

from roamtui.conversation.commands import ApprovalRequest, CostApprovalRequest, OriginApprovalRequest
from roamtui.document.plain import sanitise_line, sanitise_text, shorten

_URL_LENGTH_MAX = 70
_LABEL_WIDTH_MAX = 36
"""Maximum width in cells of the column of labels in a `PickerDialog`."""


class Dialog(ModalScreen[ScreenResultType]):
    """A box over the middle of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close")]

    _pending_dismissal: Callable[[], object] | None = None
    """Closes the dialog with the result of background work. None until there is a result."""

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


Item = TypeVar("Item")
_SIGN = Content.styled("› ", "bold $secondary")
_NO_SIGN = Content("  ")
_SIGN_WIDTH = 2
"""In cells."""


class ItemList(OptionList, Generic[Item]):
    """A list of items under headings. A sign marks the chosen item, which is then visible without colour or focus."""

    def __init__(self) -> None:
        super().__init__()
        self.auto_links = (
            False  # the items have none, and looking for links takes a tenth of the time to paint the list
        )
        self.items: list[Item | None] = []
        """The item of each entry, or None for a heading."""
        self._contents: list[Content] = []
        self._marked_index: int | None = None

    @property
    def chosen(self) -> Item | None:
        """The chosen item."""
        return self.items[self.highlighted] if self.highlighted is not None else None

    @property
    def line_width(self) -> int:
        """Width of a line in cells."""
        return max(20, self.scrollable_content_region.width - _SIGN_WIDTH)

    def set_items(self, lines: Sequence[tuple[Item | None, Content]], chosen: int | None) -> None:
        """Replace the entries: items with their contents, which may have several lines. `chosen` is an index."""
        self.items = [item for item, _ in lines]
        self._contents = [content for _, content in lines]
        self._marked_index = chosen  # now, because changing it later would measure every line again
        self.clear_options()
        self.add_options([Option(self._draw(index), disabled=item is None) for index, item in enumerate(self.items)])
        self.highlighted = chosen

    def update_item(self, index: int, line: Content) -> None:
        """Replace the content of an item by its index."""
        self._contents[index] = line
        self.replace_option_prompt_at_index(index, self._draw(index))

    @on(OptionList.OptionHighlighted)
    def _follow(self, event: OptionList.OptionHighlighted) -> None:
        if self.highlighted == event.option_index:
            previous_index, self._marked_index = self._marked_index, event.option_index
            for index in {previous_index, event.option_index}:
                if index is not None and index < len(self._contents):
                    self.update_item(index, self._contents[index])

    def _draw(self, index: int) -> Content:
        line = self._contents[index]
        if self.items[index] is None:
            return line
        first, *rest = line.split("\n", allow_blank=True) or [line]
        sign = _SIGN if index == self._marked_index else _NO_SIGN
        return Content("\n").join([sign + first, *(_NO_SIGN + other for other in rest)])


class ConfirmDialog(Dialog[bool]):
    """Asks before an action that cannot be undone or sends data to others. The safe answer has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
        Binding("left,right", "app.focus_next", "Other button", show=False),
    ]

    def __init__(self, question: str, detail: str = "", *, yes: str = "Yes", no: str = "No") -> None:
        """Ask `question`. Its `detail`, such as a URL, may come from a document."""
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
                yield Static(Content(sanitise_text(self._detail)), classes="detail")
            with Horizontal():
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)
                yield Button(Content(f"{self._yes} (y)"), id="yes", compact=True)

    @on(Button.Pressed)
    def _take_answer(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - the argument of a binding
        self.dismiss(answer)

    def ask(self, app: App[None], action: Callable[[], object]) -> None:
        """Show the dialog in `app`, and call `action` if the person agrees."""

        def act(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                action()

        app.push_screen(self, act)


class ApprovalDialog(ConfirmDialog):
    """Asks before a question may exceed the spending limit, and before a page of another site is fetched."""

    def __init__(self, approval: ApprovalRequest) -> None:
        match approval:
            case CostApprovalRequest(spent_usd=spent, cap_usd=cap):
                question = "The next request may exceed your spending limit. Continue?"
                super().__init__(question, f"${spent:.2f} spent of ${cap:.2f}", yes="Continue", no="Stop")
            case OriginApprovalRequest(host=host, urls=urls):
                more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
                detail = f"{shorten(sanitise_line(urls[0]), _URL_LENGTH_MAX)}{more}" if urls else ""
                question = f"Allow this conversation to fetch pages from {sanitise_line(host)}?"
                super().__init__(question, detail, yes="Fetch", no="No")
            case _:
                assert_never(approval)


class PromptDialog(Dialog[str | None]):
    """Asks for a line of text, which may be empty only with `may_be_empty`. The result is None if the person leaves."""

    def __init__(
        self,
        heading: str,
        value: str,
        *,
        detail: str = "",
        foot: str = "enter to accept, esc to cancel",
        may_be_empty: bool = False,
    ) -> None:
        """Ask for a line, with `value` in the field. `value` and `detail` may come from a document."""
        super().__init__()
        self._heading = heading
        self._value = sanitise_line(value)
        self._detail = sanitise_text(detail)
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
        field = self.query_one(Input)
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        value = sanitise_line(event.value).strip()
        if value or self._may_be_empty:
            self._accept(value)

    def _accept(self, value: str) -> None:
        self.dismiss(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PickerItem:
    """An entry of a `PickerDialog`."""

    value: str
    """The result of the dialog if the entry is chosen."""
    label: str
    keys: str = ""
    note: str = ""
    group: str = ""
    """The heading of the entry. Entries of a group must be consecutive."""
    synonyms: str = ""
    """More words that find the entry."""
    sign: str = ""
    """One character before the label, such as a check mark."""


class PickerDialog(Dialog[str | None]):
    """Lets a person choose an entry. Typing filters the list. The result is None if they leave."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('cursor_up')", "Up"),
        Binding("down", "move('cursor_down')", "Down"),
        Binding("pageup", "move('page_up')", "Page up"),
        Binding("pagedown", "move('page_down')", "Page down"),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[PickerItem],
        current: str = "",
        *,
        foot: str = "enter to choose, esc to cancel",
        preview: Callable[[str], None] | None = None,
        on_chosen: Callable[[str], None] | None = None,
    ) -> None:
        """Offer `choices`, with the cursor on `current`.

        Args:
            title: The heading.
            choices: The entries.
            current: The value of the current entry, or empty.
            foot: Words below the list. They must be sanitised.
            preview: Called with each value under the cursor.
            on_chosen: Called with the chosen value instead of closing the dialog.
        """
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (33, "-tall")]
        self._heading = title
        self._choices = tuple(choices)
        self._current = current
        self._foot = foot
        self._preview = preview
        self._on_chosen = on_chosen
        self._list = ItemList[str]()
        self._list.can_focus = False  # a click must not take the focus: typing filters the list
        self.set_class(any(choice.note for choice in choices), "-table")

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._heading, "bold $primary"))
            yield Input(placeholder="Type to filter")
            yield self._list
            yield Static(Content(self._foot), classes="foot")

    def on_mount(self) -> None:
        self._show(self._current)

    def set_choices(self, choices: Sequence[PickerItem]) -> None:
        """Replace the entries. The cursor and the typed text stay."""
        self._choices = tuple(choices)
        self._show(self._list.chosen or "")

    def show_foot(self, foot: str) -> None:
        """Replace the words below the list. They must be sanitised."""
        self.query_one(".foot", Static).update(Content(foot))

    def _show(self, chosen: str = "") -> None:
        typed = self.query_one(Input).value
        lines: list[tuple[str | None, Content]] = []
        group = ""
        label_width = min(
            _LABEL_WIDTH_MAX,
            max((Content(self._format_label(choice)).cell_length for choice in self._choices), default=0),
        )
        keys_width = max((Content(choice.keys).cell_length for choice in self._choices), default=0)
        for choice in filter_items(self._choices, typed):
            if choice.group != group:
                group = choice.group
                lines.append((None, Content(("\n" if lines else "") + group)))
            line = Content(self._format_label(choice))
            if choice.keys or choice.note:
                line = line.pad_right(max(0, label_width - line.cell_length)) + "  "
                if keys_width:
                    line += Content.styled(choice.keys, "$secondary").pad_right(keys_width - len(choice.keys)) + "  "
                line += Content.styled(sanitise_line(choice.note), "$muted")
            lines.append((choice.value, line))
        values = [value for value, _ in lines]
        first = next((index for index, value in enumerate(values) if value is not None), None)
        index = values.index(chosen) if chosen in values and chosen else first
        self._list.set_items(lines or [(None, Content("No match"))], index)
        if not typed:  # the box keeps its height while the list is filtered
            count = sum(line.plain.count("\n") + 1 for _, line in lines)
            self._list.styles.min_height = min(count, self.app.size.height // 2)

    def _format_label(self, item: PickerItem) -> str:
        sign = f"{item.sign or ' '} " if any(choice.sign for choice in self._choices) else ""
        return sign + sanitise_line(item.label)

    @on(Input.Changed)
    def _filter(self) -> None:
        self._show()

    @on(OptionList.OptionHighlighted)
    def _preview_choice(self) -> None:
        if self._preview is not None and self._list.chosen is not None:
            self._preview(self._list.chosen)

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _choose_current(self) -> None:
        if self._list.chosen is not None:
            (self._on_chosen or self.dismiss)(self._list.chosen)

    def action_move(self, list_action: str) -> None:
        """Move the cursor of the list by one of its own actions."""
        if self._list.size.height:  # in a list without height, moving by a page would crash the app
            getattr(self._list, f"action_{list_action}")()


def filter_items(choices: Iterable[PickerItem], typed: str) -> tuple[PickerItem, ...]:
    """Return the choices that contain all typed words. The best group comes first, and in each group the best choice.

    A label that begins with the typed text is best, then a label with a word that does, then a label that contains all
    typed words. Choices that have a word only in their keys, note, group or synonyms come last.
    """
    typed = typed.casefold().strip()
    words = typed.split()
    ranks: dict[str, list[tuple[int, PickerItem]]] = {}
    for choice in choices:
        label = choice.label.casefold()
        everything = f"{label} {choice.keys} {choice.note} {choice.group} {choice.synonyms}".casefold()
        if all(word in everything for word in words):
            matches = (label.startswith(typed), f" {typed}" in label, all(word in label for word in words), True)
            ranks.setdefault(choice.group, []).append((matches.index(True), choice))
    groups = sorted(ranks.values(), key=lambda group: min(rank for rank, _ in group))
    return tuple(choice for group in groups for _, choice in sorted(group, key=lambda ranked: ranked[0]))
