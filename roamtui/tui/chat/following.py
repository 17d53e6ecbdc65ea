"""`FollowingScroll`: a column of exchanges and notices. It keeps the newest, or a chosen place, in view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events, on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Static
from typing_extensions import override

from roamtui.sanitiser import sanitise_line
from roamtui.tui.chat.content_view import QUESTION_SIGN, ContentView

if TYPE_CHECKING:
    from roamtui.tui.chat.exchange_view import ExchangeView

_ABOVE_SHARE = 2 / 3
"""Maximum share of the view that may be above the first words of a long answer or of its first passage."""


class _Top(NamedTuple):
    """A line that is kept at the top of the log. The steps above an answer may fold, but its lines stay."""

    view: ContentView
    is_in_answer: bool
    """Whether lines are counted from the start of the answer, and not from the start of the view."""
    line: int
    line_count: int
    """How many lines there were, from the start of the answer or of the view to the end of the view."""
    width: int
    """The width of the view then. At another width, about the same share of the lines is above."""


class FollowingScroll(VerticalScroll, inherit_bindings=False):
    """A scroll view that keeps in view what the person wants to see, at any width.

    The newest exchange, or the start of a long answer, stays in view until the person scrolls. From then on,
    the place to which they scrolled stays in view.
    """

    def __init__(self, *widgets: Widget) -> None:
        self.messages = Vertical(*widgets, id="messages")
        super().__init__(self.messages)
        self.question_line = Static(id="question-line")
        """Shows the question at the top if it is out of view. This line is above the widget."""
        self.shown: list[ExchangeView] = []
        """The exchanges, oldest first."""
        self._keeps_newest_in_view = False
        """Whether the newest message is kept in view, a long answer with its start."""
        self._top: _Top | None = None
        """The place that is kept at the top, if any."""

    def on_mount(self) -> None:
        """Keep the place whenever the height changes."""
        self.watch(self, "virtual_size", self._keep_place_soon, init=False)

    @property
    def current(self) -> ExchangeView | None:
        """The running exchange, or the last one."""
        return self.shown[-1] if self.shown else None

    @property
    def is_scrolled(self) -> bool:
        """Whether the person has scrolled to a place that is kept."""
        return self._top is not None

    @property
    def in_view(self) -> ExchangeView | None:
        """The exchange at the top, if the person scrolled there, or else the last one."""
        top = round(self.scroll_y)
        shown = self.shown if self.is_scrolled else []
        below = (view for view in shown if top < self.compute_top(view) + view.size.height)
        return next(below, self.current)

    @override
    def scroll_to(self, *args: Any, **options: Any) -> None:
        """Scroll without animation: keeping the place could end it in its last step, where Textual fails."""
        super().scroll_to(*args, **{**options, "animate": False})

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the new place, unless the text has only become shorter."""
        super().watch_scroll_y(old_value, new_value)
        self._show_question_above()
        if old_value > new_value >= self.max_scroll_y:
            return
        if new_value < self.max_scroll_y:
            self.stop_following()
        else:
            self.follow_end()

    def follow_end(self) -> None:
        """Show the end, and follow new messages there."""
        self.forget_place()
        self.anchor()

    def forget_place(self) -> None:
        """Stop keeping anything in view."""
        self._keeps_newest_in_view = False
        self._top = None

    def show_newest(self) -> None:
        """Scroll to the newest message's end, or a long answer's start, and keep it in view.

        The question stays in view if there is room for it above the first words of the answer or passage.
        """
        newest = self.current
        above = int(self.size.height * _ABOVE_SHARE)  # reading the size may draw the views again
        line = self.max_scroll_y
        if newest is not None and newest.answer_start is not None:
            excess = newest.words_start - above
            hidden = max(newest.answer_start, excess) if excess > 0 else 0
            line = min(line, self.compute_top(newest) + hidden)
        self.scroll_to(y=line, immediate=True)
        self.anchor(anchor=False)  # Textual's own anchor would scroll past the start of an answer
        self._keeps_newest_in_view = True

    def stop_following(self) -> None:
        """Keep the line at the top in view, instead of the newest message."""
        self.forget_place()
        for view in self.messages.query_children(ContentView):
            line = round(self.scroll_y) - self.compute_top(view)
            if view.display and line < view.size.height:
                is_in_answer = view.answer_start is not None and line >= view.answer_start
                start = _find_start(view, is_in_answer=is_in_answer)
                line_count = view.size.height - start
                self._top = _Top(view, is_in_answer, line - start, line_count, view.size.width)
                break

    def compute_top(self, view: ContentView) -> int:
        """Return the line of the conversation where a view starts."""
        return self.messages.gutter.top + view.virtual_region.y

    def scroll_to_lines(self, view: ContentView, lines: range) -> None:
        """Scroll lines of a view into view."""
        region = Region(0, self.compute_top(view) + lines.start, 1, len(lines))
        self.scroll_to_region(region, force=True, immediate=True)

    @on(events.Resize)
    def _keep_place_soon(self) -> None:
        self.call_after_refresh(self._keep_place)

    def _keep_place(self) -> None:
        if self._keeps_newest_in_view:
            self.show_newest()
        elif self._top is not None:
            view, is_in_answer, line, line_count, width = self._top
            start = _find_start(view, is_in_answer=is_in_answer)
            if view.size.width != width:  # find about the same words
                line = line * (len(view.lines) - start) // max(1, line_count)
            self.scroll_to(y=self.compute_top(view) + start + line, immediate=True)
        elif self.shown:
            self.scroll_to(y=self.max_scroll_y, immediate=True)
        self._show_question_above()

    def _show_question_above(self) -> None:
        """Show the question at the top if it is out of view, but something after it is in view."""
        question = ""
        top = round(self.scroll_y)
        for view in self.shown:
            line = top - self.compute_top(view)
            if 0 < view.step_lines.start <= line + 1 <= view.size.height:
                question = sanitise_line(view.exchange.question)
        self.question_line.update(QUESTION_SIGN + Content.styled(question, "bold") if question else "")
        self.question_line.set_class(bool(question), "-named")

    def action_page(self, direction: int) -> None:
        if direction > 0:
            self.scroll_page_down()
        else:
            self.scroll_page_up()

    def action_first(self) -> None:
        self.scroll_home()

    def action_last(self) -> None:
        self.follow_end()


def _find_start(view: ContentView, *, is_in_answer: bool) -> int:
    return view.answer_start or 0 if is_in_answer else 0
