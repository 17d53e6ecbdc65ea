"""`ContentView`: a widget whose content is laid out anew for each width, and names targets that can be selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.widget import Widget
from typing_extensions import override

from roamtui.tui.chat.targets import META_KEY, Target, TargetChosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.content import Content
    from textual.geometry import Size


class ContentView(Widget):
    """Shows what `lay_out` returns."""

    DEFAULT_CSS = """
    ContentView { height: auto; width: 1fr; }
    """

    is_walked = True
    """Whether keys walk over the targets; a click reaches them always."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._laid_out: tuple[int, Content] | None = None
        self._selected: int | None = None

    @property
    def targets(self) -> tuple[Target, ...]:
        """What can be selected here, in order."""
        return ()

    @property
    def walked(self) -> Sequence[int]:
        """Indexes of the targets that keys walk over."""
        return range(len(self.targets)) if self.is_walked else ()

    @property
    def selected(self) -> int | None:
        """Index of the selected target."""
        return self._selected

    def select_target(self, index: int | None) -> None:
        """Show a target as selected, or none."""
        if index != self._selected:
            self._selected = index
            self.change()

    def lay_out(self, width: int) -> Content:
        """Return the content in lines of at most `width` cells."""
        raise NotImplementedError

    def change(self) -> None:
        """Lay the content out again: what it is made from has changed."""
        self._laid_out = None
        self.refresh(layout=True)

    @property
    def line_of_selected(self) -> int:
        """Line on which the selected target begins."""
        content = self._content(self.size.width)
        for start, _, style in sorted(content.spans, key=lambda span: span.start):
            if not isinstance(style, str) and style.meta.get(META_KEY) == self._selected:
                return content.plain.count("\n", 0, start)
        return 0

    @override
    def render(self) -> Content:
        return self._content(self.size.width)

    @override
    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        content = self._content(width)
        return content.plain.count("\n") + 1 if content else 0

    def _content(self, width: int) -> Content:
        if self._laid_out is None or self._laid_out[0] != width:
            self._laid_out = (width, self.lay_out(max(1, width)))
        return self._laid_out[1]

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        index = event.style.meta.get(META_KEY)
        if isinstance(index, int) and index < len(self.targets):
            event.stop()
            self.post_message(TargetChosen(self.targets[index]))
