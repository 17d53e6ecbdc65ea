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
        """The view with the selected target, or where the next one is looked for first."""
        self._is_scroll_due = False
        """Whether the selected target is about to be scrolled into view."""

    @property
    def target(self) -> Target | None:
        """The selected target."""
        view = self.view
        return view.targets[view.selected] if view is not None and view.selected is not None else None

    def get_exchange(self, *, is_cited: bool = False) -> ExchangeView | None:
        """Return the exchange with the selection, else the last one: of all, or of those with citations."""
        views = [view for view in self._log.shown if view.cited or not is_cited]
        return next((view for view in views if view is self.view), views[-1] if views else None)

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
        self._is_scroll_due = True
        self._log.call_after_refresh(self._scroll_to, view, index)
        self._log.post_message(TargetSelected(view.targets[index]))

    def _scroll_to(self, view: ContentView, index: int) -> None:
        self._is_scroll_due = False
        self._log.scroll_to_lines(view, view.list_target_lines()[index])

    def select_citation(self, *numbers: int) -> bool:
        """Select the first citation with one of `numbers` in an answer. Return whether there is one."""
        view = self.get_exchange(is_cited=True)
        for number in numbers:
            if view is not None and 0 < number <= len(view.cited):
                self.select(view, view.cited[number - 1])
                return True
        return False

    def step_citation(self, step: int) -> bool:
        """Select the next citation (1) or the previous one (-1) of an answer. Return whether there is one."""
        view = self.get_exchange(is_cited=True)
        if view is None:
            return False
        index = min(0, step)
        if view.selected is not None and view.selected in view.cited:
            index = view.cited.index(view.selected) + step
        self.select(view, view.cited[index % len(view.cited)])
        return True

    def step(self, step: int) -> None:
        """Select the next target (1) or the previous one (-1) of all.

        If the selected one is out of view, select the first or last one in view, else the nearest that way.
        """
        places = self._list_places()
        if not places:
            return
        targets = [*places]
        selected = (self.view, self.view.selected if self.view is not None else None)
        current = self._log.current
        start = None  # the first source of the last exchange
        if current is not None and current.cited:
            start = (current, current.cited[0])
        top = round(self._log.scroll_y)
        bottom = top + self._log.size.height
        in_view = [target for target, lines in places.items() if lines.start < bottom and lines.stop > top]
        if selected in in_view or (selected in places and self._is_scroll_due):
            position = targets.index(selected) + step
        elif step > 0 and selected not in targets and start in in_view:
            position = targets.index(start)
        elif step > 0:
            position = sum(lines.start < top for lines in places.values())
        else:
            position = sum(lines.start < bottom for lines in places.values()) - 1
        self.select(*targets[max(0, min(position, len(targets) - 1))])

    def _list_places(self) -> dict[tuple[ContentView, int], range]:
        """List all targets that can be selected, each by its view and its index there, with its lines."""
        places = {}
        for view in self._log.query(ContentView):
            top = self._log.find_top(view)
            for index, lines in enumerate(view.list_target_lines() if view.display else ()):
                places[view, index] = range(top + lines.start, top + lines.stop)
        return places
