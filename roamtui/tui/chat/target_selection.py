"""`TargetSelection`: which target of the conversation is selected, and which one is next."""

from __future__ import annotations

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
        """The view with the selected target, or the view in which the next target is looked for first."""

    @property
    def target(self) -> Target | None:
        """The selected target."""
        view = self.view
        return view.targets[view.selected] if view is not None and view.selected is not None else None

    def get_exchange(self) -> ExchangeView | None:
        """Return the exchange with the selection, else the last one."""
        return next((view for view in self._log.shown if view is self.view), self._log.current)

    def _get_cited(self) -> ExchangeView | None:
        """Return the exchange with the selection, else the one in view, or the last before with citations."""
        shown = self._log.shown
        last = next((view for view in shown if view is self.view), self._log.in_view)
        views = shown[: shown.index(last) + 1] if last is not None else []
        return next((view for view in reversed(views) if view.cited), None)

    def clear(self) -> None:
        """Select nothing."""
        if self.view is not None:
            self.view.select_target(None)
        self.view = None

    def select(self, view: ContentView, index: int) -> None:
        """Select a target of a view, and scroll it into view."""
        self.clear()
        self.view = view
        view.select_target(index)
        self._log.stop_following()
        self._log.call_after_refresh(lambda: self._log.scroll_to_lines(view, view.find_target_lines(index)))
        self._log.post_message(TargetSelected(view.targets[index]))

    def select_citation(self, number: int) -> bool:
        """Select a citation of an answer by its number. Return whether there is one."""
        view = self._get_cited()
        if view is None or not 0 < number <= len(view.cited):
            return False
        self.select(view, view.cited[number - 1])
        return True

    def step(self, step: int) -> None:
        """Select the next target (1) or the previous one (-1) of all.

        If none is selected, begin with the first source of the last exchange, or with the last target.
        """
        views = [view for view in self._log.query(ContentView) if view.display]
        targets = [(view, index) for view in views for index in range(len(view.targets))]
        if not targets:
            return
        current = self._log.current
        position = len(targets) - 1
        if self.view is not None and (self.view, self.view.selected) in targets:
            position = targets.index((self.view, self.view.selected or 0)) + step
        elif step > 0:
            position = 0
            if current is not None and current.cited:
                position = targets.index((current, current.cited[0]))
        self.select(*targets[max(0, min(position, len(targets) - 1))])
