"""`TargetSelection`: which target of the conversation is selected, and which one is next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.following import FollowingScroll
from roamtui.tui.messages import Target, TargetSelected

if TYPE_CHECKING:
    from roamtui.tui.chat.exchange_view import ExchangeView


class TargetSelection:
    """The selected target of a log of views: a citation, a section, a link or an example."""

    def __init__(self, log: FollowingScroll) -> None:
        self._log = log
        self.view: ContentView | None = None
        """The view that has, or last had, the selected target."""
        self._is_scrolling = False
        """Whether the selected target will be scrolled into view."""

    @property
    def target(self) -> Target | None:
        """The selected target."""
        view = self.view
        if view is None or view.selected_index is None:
            return None
        return view.targets[view.selected_index]

    def get_exchange(self) -> ExchangeView | None:
        """Return the exchange with the selection, else the last one."""
        return next((view for view in self._log.shown if view is self.view), self._log.current)

    def _find_cited(self, number: int) -> ExchangeView | None:
        """Find the exchange whose quote with this number is meant.

        It is the selected one, else the last one that shows such a quote, else the last one with quotes up to
        the one in view.
        """
        shown = self._log.shown
        in_view = self._log.in_view
        above = shown[: shown.index(in_view) + 1] if in_view is not None else []
        selected = (view for view in shown if view is self.view and view.source_range)
        numbered = (view for view in reversed(shown) if 0 < number <= len(view.source_range))
        showing = (view for view in numbered if self._is_in_view(view, view.source_range[number - 1]))
        cited_above = (view for view in reversed(above) if view.source_range)
        return next(chain(selected, showing, cited_above), None)

    def clear(self) -> None:
        """Select nothing."""
        if self.view is not None:
            self.view.select_target(None)
        self.view = None

    def select(self, view: ContentView, index: int) -> None:
        """Select a target of a view, and scroll it into view."""
        self._mark(view, index)
        self._is_scrolling = True
        self._log.stop_following()
        self._log.call_after_refresh(self._scroll_to, view, index)

    def select_in_view(self, step: int) -> None:
        """Select the first target in view (1) or the last one (-1). If none is in view, select nothing."""
        self.clear()
        targets = self._list_targets()
        if targets and self._is_in_view(*(target := targets[self._find_in_view(targets, step)])):
            self._mark(*target)

    def _mark(self, view: ContentView, index: int) -> None:
        self.clear()
        self.view = view
        view.select_target(index)
        self._log.post_message(TargetSelected(view.targets[index]))

    def _scroll_to(self, view: ContentView, index: int) -> None:
        self._is_scrolling = False
        self._log.scroll_to_lines(view, view.find_target_lines(index))

    def _list_targets(self) -> list[tuple[ContentView, int]]:
        views = [view for view in self._log.query(ContentView) if view.display]
        return [(view, index) for view in views for index in range(len(view.targets))]

    def _find_in_view(self, targets: Sequence[tuple[ContentView, int]], step: int) -> int:
        """Return the index of the first target below the view's top (1), or the last above its end (-1)."""
        numbers = range(len(targets))
        if step > 0:
            top = round(self._log.scroll_y)
            return next(
                (number for number in numbers if self._find_lines(*targets[number])[-1] >= top), numbers[-1]
            )
        end = round(self._log.scroll_y) + self._log.size.height
        return next(
            (number for number in reversed(numbers) if self._find_lines(*targets[number])[0] < end), 0
        )

    def _find_lines(self, view: ContentView, index: int) -> range:
        top = self._log.compute_top(view)
        lines = view.find_target_lines(index)
        return range(top + lines.start, top + lines.stop)

    def _is_in_view(self, view: ContentView, index: int) -> bool:
        lines = self._find_lines(view, index)
        top = round(self._log.scroll_y)
        return lines[-1] >= top and lines[0] < top + self._log.size.height

    def select_quote(self, number: int) -> bool:
        """Select a quote of an answer by its number. Return whether there is one."""
        view = self._find_cited(number)
        if view is None or not 0 < number <= len(view.source_range):
            return False
        self.select(view, view.source_range[number - 1])
        return True

    def step(self, step: int) -> None:
        """Select the next target (1) or the previous one (-1).

        If the selected one is out of view, begin with the targets in view. If none is selected and the person
        has not scrolled, begin with the first source of the last exchange, or with the last target.
        """
        targets = self._list_targets()
        if not targets:
            return
        current = self._log.current
        selected = (
            (self.view, self.view.selected_index or 0) if self.target is not None and self.view else None
        )
        if selected in targets and (self._is_scrolling or self._is_in_view(*selected)):
            position = targets.index(selected) + step
        elif selected is not None or self._log.is_scrolled:
            position = self._find_in_view(targets, step)
        elif step > 0 and current is not None and current.source_range:
            position = targets.index((current, current.source_range[0]))
        else:
            position = 0 if step > 0 else len(targets) - 1
        self.select(*targets[max(0, min(position, len(targets) - 1))])
