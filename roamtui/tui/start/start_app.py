"""The app that a person sees first where they named no document: it opens one, and gives way to the app proper."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Log, OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.plain import plain_line
from roamtui.errors import OpeningStoppedError, RoamtuiError
from roamtui.sources.convert.converted import PageReport
from roamtui.tui.actions import Scope, show_key
from roamtui.tui.base_app import BaseApp, describe_failure
from roamtui.tui.context import TuiOptions
from roamtui.tui.keys import Keys, bind
from roamtui.tui.marked_list import SIGN_WIDTH, MarkedList
from roamtui.tui.screens.overlays import ConfirmScreen
from roamtui.tui.start.offers import OfferGroup, StartOffer, filter_offers

if TYPE_CHECKING:
    from roamtui.tui.start.offers import StartOffer


Opened = TypeVar("Opened")
_TICK_SECONDS = 0.12
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_NAME_WIDTH = 34
_WHAT = "Name a document; then ask it. A model opens the sections it needs, and proves its answer with quotes."
_HINT = "a file, a folder, a zip, or https://…   type to filter what is below"
OpenSource = Callable[[str, bool, PageReport], Opened]
"""Opens a source; whole, where a conversation about it goes on. Called in a thread; raises `RoamtuiError`.

It tells how far it is, and ends with what that raises.
"""


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


@dataclass(slots=True)
class _Opening:
    """A source that is being opened: by a worker, which waits for a thread."""

    name: str
    worker: Worker[None] | None = None
    done: int = 0
    count: int = 0
    texts: deque[str] = field(default_factory=deque)
    """Of pages that are not shown yet."""
    is_stopped: bool = False

    def report(self, done: int, count: int, text: str) -> None:
        """Take note of how far it is; called in the thread.

        Raises:
            OpeningStoppedError: The person wants it no more.
        """
        if self.is_stopped:
            raise OpeningStoppedError
        self.done, self.count = done, count
        self.texts.append(text)

    def stop(self) -> None:
        """Have the thread end, and wait for it no more."""
        self.is_stopped = True
        if self.worker is not None:
            self.worker.cancel()

    def describe(self) -> str:
        """Return what is opened, how far that is, and how to stop it."""
        far = f" {self.done:,} of {self.count:,}" if self.count else ""
        return f"{self.name} …{far}, esc stops"


class StartScreen(Screen[None], Generic[Opened]):
    """A box for a path or an address, and what can be opened, filtered as typed; ends the app with what was opened."""

    AUTO_FOCUS = "Input"
    BINDINGS = bind(Scope.START)
    DEFAULT_CSS = """
    StartScreen {
        align: center top;
        background: $background;
        & > Vertical { width: 100; max-width: 100%; height: 1fr; padding: 1 2 0 2; }
        & #start-what { color: $muted; margin-bottom: 1; }
        & #start-box { height: auto; border: round $faint; padding: 0 1; &:focus-within { border: round $primary; } }
        & Input {
            height: 1;
            border: none;
            padding: 0;
            background: $background;
            &:focus { border: none; background-tint: $background 0%; }
        }
        & #start-said { height: auto; padding: 0 2; margin-bottom: 1; color: $muted; }
        & #start-said.-problem { color: $warning; }
        & OptionList {
            height: 1fr;
            border: none;
            padding: 0;
            background: $background;
            scrollbar-size-vertical: 1;
            &:focus { border: none; background-tint: $background 0%; }
        }
        & #start-foot { height: 1; background: $panel; padding: 0 1; }
        & Log { display: none; height: 1fr; background: $background; scrollbar-size-vertical: 1; }
        &.-reading Log { display: block; }
        &.-reading OptionList { display: none; }
        &.-named #start-what, &.-named #start-box { display: none; }
        &.-short #start-what { display: none; }
        &.-short > Vertical { padding-top: 0; }
    }
    """

    def __init__(
        self, actions: StartActions[Opened], keys: Keys, problems: tuple[str, ...], source: str | None = None
    ) -> None:
        """Offer what `actions` lists.

        Args:
            actions: What can be done.
            keys: Keys in force.
            problems: Sentences to show at first.
            source: What is opened at once; where that fails or is stopped, the screen ends.
        """
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (22, "-tall")]
        self._actions = actions
        self._source = source
        self.failure: RoamtuiError | None = None
        """Why the source cannot be opened."""
        self._keys = keys
        self._problem = " ".join(problems)
        self._offers: tuple[StartOffer, ...] = ()
        self._lines: list[StartOffer | None] = []
        self._opening: _Opening | None = None
        self._frame = 0

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.assemble(("◆ ", "$secondary"), ("roamtui", "bold $primary")))
            yield Static(Content(_WHAT), id="start-what")
            with Vertical(id="start-box"):
                yield Input(placeholder="path or address", select_on_focus=False)
            yield Static(id="start-said")
            yield MarkedList()
            yield Log(auto_scroll=False)
        yield Static(self._draw_foot(), id="start-foot")

    def on_mount(self) -> None:
        """List what can be opened."""
        self._say(self._problem, is_problem=True)
        self.set_interval(_TICK_SECONDS, self._turn)
        if self._source is not None:
            self.add_class("-named")
            self._begin(self._source, None)
            return
        self.run_worker(self._list(), group="listing", exit_on_error=False)

    async def _list(self) -> None:
        self._offers, problem = await asyncio.to_thread(self._actions.list_offers)
        if problem:
            self._say(problem, is_problem=True)
        self._show()

    @property
    def has_offers(self) -> bool:
        """Whether something to choose is listed."""
        return bool(self._lines)

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    def _show(self) -> None:
        """List what the typed words leave, under the headings of its groups, the first offer chosen."""
        self._lines = []
        drawn: list[Content] = []
        group: OfferGroup | None = None
        for offer in filter_offers(self._offers, self._typed):
            if offer.group is not group:
                group = offer.group
                self._lines.append(None)
                drawn.append(Content(("\n" if drawn else "") + group.value))
            self._lines.append(offer)
            drawn.append(self._draw(offer))
        headings = [place for place, offer in enumerate(self._lines) if offer is None]
        chosen = 1 if drawn and not self._is_named(self._typed) else None
        self.query_one(MarkedList).show_lines(drawn, headings=headings, chosen=chosen)

    def _draw(self, offer: StartOffer) -> Content:
        width = max(20, self.size.width - 8 - SIGN_WIDTH)
        name = Content(offer.name).truncate(min(_NAME_WIDTH + 12, width), ellipsis=True)
        gap = max(2, _NAME_WIDTH - name.cell_length)
        return (name + " " * gap + Content.styled(offer.note, "$muted")).truncate(width, ellipsis=True)

    def _draw_foot(self) -> Content:
        actions = [*self._keys.within(Scope.START), *(a for a in self._keys.within(Scope.GLOBAL) if a.id == _QUIT)]
        hints = [
            Content.assemble((show_key(action.keys[0]), "bold $accent"), f" {action.label.lower()}")
            for action in actions
            if action.keys
        ]
        return Content("   ").join(hints)

    def _say(self, words: str, *, is_problem: bool = False) -> None:
        said = self.query_one("#start-said", Static)
        said.set_class(is_problem and bool(words), "-problem")
        said.update(Content(words or _HINT))

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        if self._opening is None:
            self._say("")
        self._show()

    @on(events.Resize)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._show)

    @on(OptionList.OptionSelected)
    def _open_clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._open_line(event.option_index)

    @on(Input.Submitted)
    def _open_typed(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        """Open what is typed, or else what is chosen."""
        if self._opening is not None:
            return
        typed = self._typed
        line = self.query_one(MarkedList).highlighted
        if typed and (self._is_named(typed) or line is None):
            self._open_name(typed)
        elif line is not None:
            self._open_line(line)

    @staticmethod
    def _is_named(typed: str) -> bool:
        """Return whether what is typed names something itself: an address, or a file that is there."""
        return bool(typed) and ("://" in typed or os.path.lexists(_expand(typed)))

    def _open_line(self, line: int) -> None:
        offer = self._lines[line] if line < len(self._lines) else None
        if offer is not None and self._opening is None:
            self._begin(offer.source, offer.conversation_id)

    def _open_name(self, typed: str) -> None:
        address = None if self._is_named(typed) else self._actions.suggest_address(typed)
        if address is None:
            self._begin(typed if "://" in typed else _expand(typed), None)
            return

        def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                self._begin(address, None)

        question = "There is no file with this name. Fetch it from the web?"
        self.app.push_screen(ConfirmScreen(question, address, yes="Fetch"), take)

    def _begin(self, source: str, conversation_id: str | None) -> None:
        opening = self._opening = _Opening(plain_line(source))
        work = self._open(source, conversation_id, opening)
        opening.worker = self.run_worker(work, group="opening", exit_on_error=False)

    async def _open(self, source: str, conversation_id: str | None, opening: _Opening) -> None:
        is_whole = conversation_id is not None
        try:
            opened = await asyncio.to_thread(self._actions.open_source, source, is_whole, opening.report)
        except RoamtuiError as error:
            if self._source is not None:
                self.failure = error
                self.app.exit(None)
            self._end_opening(plain_line(str(error)))
            return
        self.app.exit(Started(source=source, conversation_id=conversation_id, opened=opened))

    def _turn(self) -> None:
        """Show that something goes on while it does."""
        if self._opening is not None:
            self._frame = (self._frame + 1) % len(_FRAMES)
            self._say(f"{_FRAMES[self._frame]} opening {self._opening.describe()}")
            self._show_pages(self._opening)

    def _show_pages(self, opening: _Opening) -> None:
        """Let the person read what was read of a file so far, in place of what else can be opened."""
        text = "".join(opening.texts.popleft() for _ in range(len(opening.texts)))
        if text:
            self.add_class("-reading")
            self.query_one(Log).write(text)

    def _end_opening(self, words: str = "") -> None:
        """Offer again what can be opened, and say why where the person did not end it."""
        self._opening = None
        self.remove_class("-reading")
        self.query_one(Log).clear()
        self._say(words, is_problem=True)

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._end_opening(describe_failure(event.worker.error))

    def action_next(self) -> None:
        """Select the next one; of pages that are shown already, read on."""
        if self.has_class("-reading"):
            self.query_one(Log).scroll_page_down()
        else:
            self.query_one(MarkedList).action_cursor_down()

    def action_previous(self) -> None:
        """Select the previous one; of pages that are shown already, read back."""
        if self.has_class("-reading"):
            self.query_one(Log).scroll_page_up()
        else:
            self.query_one(MarkedList).action_cursor_up()

    def action_leave(self) -> None:
        """Stop opening; else empty the box; else quit."""
        if self._opening is not None:
            self._opening.stop()
            self._end_opening()
            if self._source is not None:
                self.app.exit(None)
        elif self._typed:
            self.query_one(Input).value = ""
        else:
            self.app.exit(None)


_QUIT = "global.quit"


def _expand(typed: str) -> str:
    """Return a path with its ``~`` in full."""
    try:
        return str(Path(typed).expanduser())
    except RuntimeError:
        return typed


class StartApp(BaseApp["Started[Opened] | None"], Generic[Opened]):
    """Shows the start screen; the result is what was opened, None where the person left."""

    def __init__(self, actions: StartActions[Opened], options: TuiOptions, source: str | None = None) -> None:
        super().__init__(options)
        self.start_screen: StartScreen[Opened] = StartScreen(actions, self._keys, self.problems, source)
        """The only screen."""

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.start_screen


def choose_start(
    actions: StartActions[Opened], options: TuiOptions, source: str | None = None
) -> Started[Opened] | None:
    """Show the start screen until something is opened; return None where the person left.

    Args:
        actions: What it does.
        options: How it looks.
        source: What is opened at once, its pages shown while they are read.

    Raises:
        RoamtuiError: The source cannot be opened.
    """
    app = StartApp(actions, options, source)
    started = app.run_to_end()
    if app.start_screen.failure is not None:
        raise app.start_screen.failure
    return started
