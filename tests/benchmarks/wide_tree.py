"""The tree at 100,000 sections: the app's own work for keys, wide nodes, the agent's batches and finding.

Keys are held against the same keys in an app of one bare widget (`BareList`), which is what Textual itself costs.
All numbers are processor time of the screen's thread, from the key's arrival until nothing is left to do. Keys come the
way they come from a terminal, and what goes back to it is made too, which Textual leaves out where an app is headless.
Its pilot has no part in them: to wait for the screen it sends every widget a message, which took as long as some keys.
"""

from __future__ import annotations

import asyncio
import math
import runpy
import selectors
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import cycle, islice
from statistics import median, quantiles
from time import thread_time
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input
from typing_extensions import override

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import SectionsExpanded
from roamtui.tui.app import RoamApp
from roamtui.tui.messages import make_unfold_all_command
from roamtui.tui.screens.find import FindDialog
from tests.benchmarks.measuring import Finding
from tests.real_documents import find_data_dir
from tests.tui.driving import make_app

_SECTIONS = 100_000
_WIDE = 10_000
_BATCH = 20
_PRESSES = 300
_TURNS = 15
_SIZE = (160, 48)
_KEY_SECONDS_MAX = 0.033
_LETTER_SECONDS_MAX = 0.016
_STEP_FACTOR_MAX = 2.0
"""`j` and `k` against the same keys of the bare list; a page against its pages."""
_PAGE_FACTOR_MAX = 2.5
_BATCH_SECONDS_MAX = 0.03
_PERCENT = 99
_STILL_SECONDS = 0.04
"""More than two frames: what waits for the next one is painted by then."""
_STILL_WORK_SECONDS = 0.0003
"""Less work than this within that time is nothing but the waiting itself."""


def make_wide_text() -> str:
    """Return a document of 100,000 sections: a tree of eight children each, then one node with 10,000."""
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    parts: Iterable[str] = generate(_SECTIONS - _WIDE - 1, "tree")
    wide: Iterable[str] = generate(_WIDE + 1, "flat")
    return "".join(parts) + "".join(wide)


class BareList(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor, and nothing else."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]

    def __init__(self, line_count: int) -> None:
        super().__init__()
        self._line_count = line_count
        self._cursor = 0

    @override
    def on_mount(self) -> None:
        self.virtual_size = Size(0, self._line_count)

    @override
    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        style = Style(reverse=line == self._cursor)
        return Strip([Segment(f"{line:>8} A section among many others".ljust(self.size.width), style)])

    def action_move(self, lines: int) -> None:
        """Move the cursor, in view."""
        before, self._cursor = self._cursor, max(0, min(self._cursor + lines, self._line_count - 1))
        self.refresh_line(before)
        self.refresh_line(self._cursor)
        top, height = round(self.scroll_target_y), self.size.height
        if not top <= self._cursor < top + height:
            self.scroll_to(y=self._cursor if lines < 0 else self._cursor - height + 1, animate=False, force=True)

    def action_page(self, pages: int) -> None:
        """Move by a screen of lines."""
        self.action_move(pages * (self.size.height - 1))


class BareApp(App[None]):
    """Shows the list alone."""

    def __init__(self, line_count: int) -> None:
        super().__init__()
        self._line_count = line_count

    @override
    def compose(self) -> ComposeResult:
        yield BareList(self._line_count)


class SilentTerminal(HeadlessDriver):
    """Takes what is made for a terminal, and shows it nobody."""

    @property
    @override
    def is_headless(self) -> bool:
        return False


class RoundSelector(selectors.DefaultSelector):
    """Notes the longest round of an event loop, in which a key that comes in must wait."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_seconds = 0.0
        self._since = thread_time()

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.longest_seconds = max(self.longest_seconds, thread_time() - self._since)
        ready = super().select(timeout)
        self._since = thread_time()
        return ready


class KeyBench:
    """Measures the keys of one running app."""

    def __init__(self, app: App[None], rounds: RoundSelector) -> None:
        self._app = app
        self._rounds = rounds

    async def measure(self, work: Callable[[], Awaitable[None]]) -> float:
        """Return the time until all that `work` set off is done and painted."""
        before = thread_time()
        await work()
        return await self.rest() - before

    async def rest(self) -> float:
        """Wait until nothing is left to do; return the time of the thread by which that was so."""
        while True:
            done = thread_time()
            await asyncio.sleep(_STILL_SECONDS)
            if thread_time() - done < _STILL_WORK_SECONDS:
                return done

    async def press_watched(self, keys: Iterable[str], is_done: Callable[[], bool]) -> list[float]:
        """Return for each keypress the longest time in which the next key would have had to wait."""
        seconds = []
        for key in keys:
            self._rounds.longest_seconds = 0.0
            await self.send(key)
            await asyncio.sleep(_STILL_SECONDS)
            while not is_done():  # noqa: ASYNC110 - no event tells it
                await asyncio.sleep(_STILL_SECONDS)
            await self.rest()
            seconds.append(self._rounds.longest_seconds)
        return seconds

    async def press(self, keys: Iterable[str]) -> list[float]:
        """Return the time of each keypress."""
        return [await self.measure(lambda key=key: self.send(key)) for key in keys]  # type: ignore[misc]

    async def send(self, key: str) -> None:
        """Send a key as a terminal does."""
        character = {"space": " ", "slash": "/"}.get(key, key if len(key) == 1 else None)
        event = events.Key(key, character)
        event.set_sender(self._app)
        assert self._app._driver is not None
        self._app._driver.send_message(event)


class TreeBench(KeyBench):
    """Measures one running app over a library."""

    def __init__(self, app: RoamApp, rounds: RoundSelector) -> None:
        super().__init__(app, rounds)
        self._screen = app.main_screen
        self.library = app.main_screen.session.state.library

    async def unfold_everything(self) -> None:
        """Show all sections at once."""
        for top in self.library.children(self.library.root_id):
            self._screen.dispatch(partial(make_unfold_all_command, section_id=top))
            await self.rest()

    async def find_as_typed(self) -> list[float]:
        """Return for each letter in the picker, opened for titles, text and all, how long the next key must wait."""
        app = self._screen.app
        seconds = []

        def is_done() -> bool:
            screen = app.screen
            if not isinstance(screen, FindDialog):
                return True
            return screen.results.is_complete and screen.results.query.strip() == screen.query_one(Input).value.strip()

        for key in ("s", "slash", "ctrl+f"):
            await self.press([key])
            await self.press_watched(["x", "backspace"], is_done)
            seconds += await self.press_watched(_LETTERS, is_done)
            await self.press(["escape"])
        return seconds

    async def expand_batches(self) -> list[float]:
        """Return the time of each batch of 20 that the agent opens, far from one another: openness, tree and repaint.

        The line in the conversation that tells of it is left out.
        """
        ids = list(self.library.walk())
        seconds = []
        tree = self._screen.tree_pane
        for turn in range(_TURNS):
            batch = tuple(ids[(turn * 37 + number * 4_999) % len(ids)] for number in range(_BATCH))
            command = ExpandSections(section_ids=batch, origin=Origin.AGENT)

            async def work(command: ExpandSections = command) -> None:
                async for event in self._screen.session.dispatch(command):
                    tree.show(self._screen.session.state)
                    if isinstance(event, SectionsExpanded) and event.opened_ids:
                        tree.outline.set_highlights(opened=event.opened_ids)
                        tree.outline.reveal(event.opened_ids[-1])

            seconds.append(await self.measure(work))
        return seconds


_STEPS = ["j"] * 40 + ["k"] * 30
_LETTERS = [*"reader", "space", *"cursor", *["backspace"] * 8, *"zqx", *["backspace"] * 3]
_PAGES = ["pagedown"] * 20 + ["pageup"] * 15


async def _measure_bare(rounds: RoundSelector) -> tuple[list[float], list[float]]:
    """Return what steps and pages take in an app of one bare widget."""
    app = BareApp(_SECTIONS)
    app.driver_class = SilentTerminal
    async with app.run_test(headless=False, size=_SIZE):
        bench = KeyBench(app, rounds)
        await bench.rest()
        await bench.press(["j", "pagedown", "pageup", "k"])
        return await bench.press(_STEPS), await bench.press(_PAGES)


@asynccontextmanager
async def open_wide(rounds: RoundSelector) -> AsyncIterator[TreeBench]:
    """Open the wide document, its cursor on the first line of the tree."""
    app = make_app(text=make_wide_text())
    app.driver_class = SilentTerminal
    async with app.run_test(headless=False, size=_SIZE):
        bench = TreeBench(app, rounds)
        await bench.rest()
        await bench.press(["escape", "g"])
        _ = app.main_screen.session.state.library.root.tokens_before
        yield bench


async def _run(rounds: RoundSelector) -> list[Finding]:
    before = await _measure_bare(rounds)
    async with open_wide(rounds) as bench:
        walk = islice(cycle(["j", "j", "l", "pagedown", "k", "space", "pageup", "j"]), _PRESSES)
        folded = await bench.press(walk)
        nothing = await bench.press(["f24"] * _TURNS)  # no action has this key
        await bench.press(["G"])
        wide = await bench.press(["space"] * 2 * _TURNS)
        batch = await bench.expand_batches()
        await bench.unfold_everything()
        await bench.press(["g"])
        steps, pages = await bench.press(_STEPS), await bench.press(_PAGES)
        await bench.press(["g"])
        walk = islice(cycle(["j", "j", "pagedown", "k", "space", "space", "pageup", "j", "pagedown"]), _PRESSES)
        unfolded = await bench.press(walk)
        batch_unfolded = await bench.expand_batches()
    after = await _measure_bare(rounds)
    bare_steps, bare_pages = before[0] + after[0], before[1] + after[1]
    return [
        _find_median("any key that does nothing", nothing),
        _compare("j and k, all unfolded", steps, bare_steps, _STEP_FACTOR_MAX),
        _compare("a page, all unfolded", pages, bare_pages, _PAGE_FACTOR_MAX),
        _finding("a key in the tree, folded", folded, _KEY_SECONDS_MAX),
        _finding("a key in the tree, all 100,000 unfolded", unfolded, _KEY_SECONDS_MAX),
        _finding("unfold or fold a node with 10,000 children", wide, _KEY_SECONDS_MAX),
        Finding(what=f"the agent's first batch of {_BATCH}: own CPU", value=f"{batch[0] * 1_000:.1f} ms"),
        _find_median(f"the agent's next batches of {_BATCH}, folded", batch[1:], _BATCH_SECONDS_MAX),
        _find_median(f"the agent's batches of {_BATCH}, all unfolded", batch_unfolded, _BATCH_SECONDS_MAX),
    ]


def _finding(what: str, seconds: list[float], seconds_max: float) -> Finding:
    worst = quantiles(seconds, n=100, method="inclusive")[_PERCENT - 1]
    return Finding(
        what=f"{what}: p{_PERCENT} of own CPU",
        value=f"{worst * 1_000:.1f} ms",
        goal=f"≤ {seconds_max * 1_000:.0f} ms",
        is_met=worst <= seconds_max,
    )


def _compare(what: str, seconds: list[float], bare: list[float], factor_max: float) -> Finding:
    least = median(bare)
    return _find_median(f"{what}, a bare list {least * 1_000:.1f} ms", seconds, factor_max * least)


def _find_median(what: str, seconds: list[float], seconds_max: float = math.inf) -> Finding:
    middle = median(seconds)
    return Finding(
        what=f"{what}: median of own CPU",
        value=f"{middle * 1_000:.1f} ms",
        goal="" if seconds_max == math.inf else f"≤ {seconds_max * 1_000:.1f} ms",
        is_met=middle <= seconds_max,
    )


async def _find(rounds: RoundSelector) -> list[Finding]:
    async with open_wide(rounds) as bench:
        seconds = await bench.find_as_typed()
    what = "what a letter in the picker makes the next key wait"
    return [_find_median(what, seconds), _finding(what, seconds, _LETTER_SECONDS_MAX)]


def bench_wide_tree() -> list[Finding]:
    """Return the findings over one running app."""
    return run_watched(_run)


def bench_find() -> list[Finding]:
    """Return what letters take in the picker over as many sections."""
    return run_watched(_find)


def run_watched(run: Callable[[RoundSelector], Coroutine[None, None, list[Finding]]]) -> list[Finding]:
    """Run a bench with a loop that notes its longest round."""
    rounds = RoundSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(rounds)) as runner:
        return runner.run(run(rounds))
