"""`ListDialog`: a field that filters the list below it, and often a preview of the item under the cursor."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ScreenResultType
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from typing_extensions import override

from roamtui.sanitiser import sanitise_line
from roamtui.tui.actions import Scope, make_bindings
from roamtui.tui.screens.dialogs import Dialog, KeyHints, TextField

Item = TypeVar("Item")
_ROWS_MAX = 200
"""Maximum number of listed items. Listing thousands at once would delay every key of a search."""
_LABEL_SHARE = 0.6
"""Maximum share of the width for the column of labels, unless the notes need less than the rest."""
_COLUMN_GAP = "  "


class Row(Struct, Generic[Item], frozen=True):
    """An item of a list, and how it is drawn, in one or more lines."""

    item: Item
    line: Content
    group: Content | str = ""
    """The heading of the item. The rows of a group must be consecutive."""


class ItemList(OptionList, Generic[Item], inherit_bindings=False):
    """A list of items under headings. It has no keys of its own: the dialog moves the cursor."""

    _is_laid_out = reactive(default=False)
    """Whether the items were made for the known width of the list. Before, they are one word wide."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        # the items have no links, and looking for links takes a tenth of the time to paint the list
        self.auto_links = False
        self._rows: list[tuple[Item | None, Content]] = []
        """The drawn rows with their items. A heading has None in place of an item."""

    @property
    def items(self) -> list[Item]:
        """The items, from top to bottom."""
        return [item for item, _ in self._rows if item is not None]

    @property
    def highlighted_item(self) -> Item | None:
        """The item under the cursor."""
        return self._rows[self.highlighted][0] if self.highlighted is not None else None

    @property
    def highlighted_position(self) -> int:
        """The number of items above the cursor."""
        return sum(item is not None for item, _ in self._rows[: self.highlighted])

    @property
    def line_width(self) -> int:
        """Width of a line in cells."""
        return max(20, self.scrollable_content_region.width)

    @override
    def render_line(self, y: int) -> Strip:
        return super().render_line(y) if self._is_laid_out else Strip.blank(self.size.width, self.rich_style)

    def set_rows(self, rows: Sequence[Row[Item]], position: int, empty: str) -> None:
        """Replace the items, with the cursor on number `position`. Without items, show the text `empty`."""
        lines: list[tuple[Item | None, Content]] = []
        group = ""
        cursor_line = None
        for number, row in enumerate(rows[:_ROWS_MAX]):
            if str(row.group) != group:
                group = str(row.group)
                lines.append((None, Content.assemble("\n" if lines else "", row.group)))
            cursor_line = len(lines) if number == position else cursor_line
            lines.append((row.item, row.line))
        if len(rows) > _ROWS_MAX or not rows:
            lines.append((None, Content("… more: type to find them" if rows else empty)))
        if lines[: len(self._rows)] != self._rows:
            self._rows = []
            self.clear_options()
        self.add_options([Option(line, disabled=item is None) for item, line in lines[len(self._rows) :]])
        self._rows = lines
        self.highlighted = cursor_line
        self._is_laid_out = bool(self.scrollable_content_region)


class ListDialog(Dialog[ScreenResultType], Generic[Item, ScreenResultType]):
    """A field that filters a list. The arrow keys move in the list while a person types.

    If `AUTO_FOCUS` is `ItemList`, the list starts with the focus, and keys act on the item under the cursor.
    """

    AUTO_FOCUS = "Input"
    BINDINGS = make_bindings(Scope.MOVE)
    CLEARS_FIRST: ClassVar[bool] = False
    """Whether esc clears the typed text before it closes the dialog."""
    NO_MATCH: ClassVar[str] = "No match. Change the text, or press esc."

    def __init__(
        self,
        title: Content | str,
        foot: Widget,
        *,
        placeholder: str = "Type to filter",
        typed: str = "",
        current: Item | None = None,
        preview: Widget | None = None,
    ) -> None:
        """Show a list between `title`, which may be empty, and the keys in `foot`.

        At first, the cursor is on `current`. The widget `preview` is next to the list.
        """
        super().__init__()
        self._heading = Content.styled(title, "bold $primary") if isinstance(title, str) else title
        self.field = TextField(typed, placeholder=placeholder, select_on_focus=False, compact=True)
        self.list = ItemList[Item]()
        # without keys of its own, the list must not take the focus from the field at a click
        self.list.can_focus = self.AUTO_FOCUS != "Input"
        self._preview = preview
        self._foot = foot
        self._field_foot = KeyHints(Content("enter to go to the list and its keys, esc to clear the search"))
        self._field_foot.display = False
        self._cursor_item = current
        self._position = 0

    def list_rows(self, typed: str) -> Iterable[Row[Item]]:
        """Return the rows that match the typed text. A subclass implements this."""
        raise NotImplementedError

    def choose(self, item: Item) -> None:
        """Act on the chosen item. A subclass implements this, or `action_choose`."""
        raise NotImplementedError

    def preview(self, item: Item) -> object:
        """Preview the item under the cursor."""

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            if self._heading:
                yield Static(self._heading, classes="head")
            yield self.field
            yield self.message
            yield self.list if self._preview is None else Container(self.list, self._preview, classes="body")
            yield self._foot
            yield self._field_foot

    @on(events.DescendantFocus)
    def _show_keys(self) -> None:
        """Show the keys of the list. In the field, where they are text, show how to go to the list."""
        is_typing = self.list.can_focus and self.field.has_focus
        self._foot.display = not is_typing
        self._field_foot.display = is_typing

    @on(events.Resize)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self.show)

    @property
    def typed(self) -> str:
        """The text in the field."""
        return self.field.value.strip()

    @on(events.Mount)
    def show(self) -> None:
        """List the items. The cursor stays on its item or, if that is gone, on its position."""
        rows = list(islice(self.list_rows(self.typed), _ROWS_MAX + 1))
        items = [row.item for row in rows]
        equal = [place for place, item in enumerate(items) if item == self._cursor_item]
        place = min(equal, key=lambda place: abs(place - self._position), default=self._position)
        self._position = max(0, min(place, len(rows) - 1, _ROWS_MAX - 1))
        self.list.set_rows(rows, self._position, self.NO_MATCH if self.typed else "")
        self._cursor_item = items[self._position] if rows else None

    def show_from_top(self) -> None:
        """List the items, with the cursor on the first one."""
        self._cursor_item = None
        self._position = 0
        self.show()

    def filter(self) -> None:
        """List what matches the typed text."""
        self.show_message("")
        self.show_from_top()

    @on(Input.Changed)
    def _follow_typing(self) -> None:
        self.filter()

    @on(OptionList.OptionHighlighted)
    def _follow_cursor(self) -> None:
        if (item := self.list.highlighted_item) is not None:
            self._cursor_item = item
            self._position = self.list.highlighted_position
            self.preview(item)

    @on(OptionList.OptionSelected)
    def _choose_selected(self) -> None:
        self.action_choose()

    @on(Input.Submitted)
    def _submit(self) -> None:
        if self.list.can_focus:
            self.list.focus()
        else:
            self.action_choose()

    def action_search(self) -> None:
        self.field.focus()

    def action_choose(self) -> None:
        if (item := self.list.highlighted_item) is not None:
            self.choose(item)

    def action_move(self, lines: int) -> None:
        (self.list.action_cursor_down if lines > 0 else self.list.action_cursor_up)()

    def action_page(self, pages: int) -> None:
        if self.list.scrollable_content_region:  # Textual fails in a list without height
            (self.list.action_page_down if pages > 0 else self.list.action_page_up)()  # type: ignore[no-untyped-call]

    def action_first(self) -> None:
        self.list.action_first()

    def action_last(self) -> None:
        self.list.action_last()

    @override
    def action_leave(self) -> None:
        is_in_field = self.list.can_focus and self.field.has_focus
        if is_in_field or (self.CLEARS_FIRST and self.field.value):
            self.field.value = ""
            if self.list.can_focus:
                self.list.focus()
        else:
            self.dismiss(None)


class PickerItem(Struct, Generic[Item], frozen=True, kw_only=True):
    """An item that is drawn as one line with columns."""

    value: Item
    label: str
    note: str = ""
    group: str = ""
    """The heading of the item. The items of a group must be consecutive."""
    synonyms: str = ""
    """Further words that find the item. They are not shown."""
    sign: str = ""
    """What comes before the label, such as a check mark."""


def lay_out_columns(items: Sequence[PickerItem[Item]], typed: str, width: int) -> list[Row[Item]]:
    """Return the rows, `width` cells wide, of the items that contain all typed words.

    All notes begin in one column. A label that is longer than its column is cut.
    """
    sign_width = 2 if any(item.sign for item in items) else 0
    labels = {item.value: Content(item.sign.ljust(sign_width) + sanitise_line(item.label)) for item in items}
    notes = {item.value: Content.styled(sanitise_line(item.note), "$muted") for item in items}
    notes_width = max((note.cell_length for note in notes.values()), default=0) + len(_COLUMN_GAP)
    room = max(int(width * _LABEL_SHARE), width - notes_width)
    column = min(room, max((labels[value].cell_length for value, note in notes.items() if note), default=0))
    rows = []
    for item in filter_items(items, typed):
        label = labels[item.value]
        if note := notes[item.value]:
            label = label.truncate(column, ellipsis=True)
            label = label.pad_right(column - label.cell_length) + _COLUMN_GAP + note
        rows.append(Row(item.value, label, "" if typed else item.group))
    return rows


def filter_items(items: Iterable[PickerItem[Item]], typed: str) -> tuple[PickerItem[Item], ...]:
    """Return the items that contain all typed words, best first.

    First come keys and labels that are the typed text, then labels that begin with it, labels with a word
    that begins with it, labels that contain all typed words, and notes with a word that begins with it.
    """
    typed = typed.casefold().strip()

    def rank(item: PickerItem[Item]) -> int:
        label = item.label.casefold()
        matches = (
            typed in (label or None, *item.sign.casefold().split()),
            label.startswith(typed),
            f" {typed}" in label,
            contains_words(label, typed),
            f" {typed}" in f" {item.note.casefold()}",
            True,
        )
        return matches.index(True)

    matching = [
        item
        for item in items
        if contains_words(f"{item.label} {item.sign} {item.note} {item.group} {item.synonyms}", typed)
    ]
    return tuple(sorted(matching, key=rank))


def contains_words(text: str, typed: str) -> bool:
    """Return whether a text contains each typed word, in any case."""
    text = text.casefold()
    return all(word in text for word in typed.casefold().split())
