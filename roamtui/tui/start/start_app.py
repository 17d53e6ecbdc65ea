"""The app that a person sees first where they named no document: it opens one, and gives way to the app proper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from typing_extensions import override

from roamtui.tui.base_app import BaseApp
from roamtui.tui.start.start_screen import StartScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from roamtui.tui.context import TuiOptions
    from roamtui.tui.start.offers import StartOffer

Opened = TypeVar("Opened")
OpenSource = Callable[[str, bool], Opened]
"""Opens a source; whole, where a conversation about it goes on. Called in a thread; raises `RoamtuiError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartActions(Generic[Opened]):
    """What the start screen does, given by whoever knows how."""

    list_offers: Callable[[], tuple[tuple[StartOffer, ...], str]]
    """Returns what is offered, and a sentence where some of it cannot be; called in a thread."""
    open_source: OpenSource[Opened]
    suggest_address: Callable[[str], str | None]
    """Returns the address that a bare name that is no file may mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Generic[Opened]):
    """What a person chose, opened."""

    source: str
    conversation_id: str | None
    opened: Opened


class StartApp(BaseApp["Started[Opened] | None"], Generic[Opened]):
    """Shows the start screen; the result is what was opened, None where the person left."""

    def __init__(self, actions: StartActions[Opened], options: TuiOptions) -> None:
        super().__init__(options)
        self.start_screen: StartScreen[Opened] = StartScreen(actions, self._keys, self.problems)
        """The only screen."""

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.start_screen


def choose_start(actions: StartActions[Opened], options: TuiOptions) -> Started[Opened] | None:
    """Show the start screen until something is opened; return None where the person left."""
    return StartApp(actions, options).run_to_end()
