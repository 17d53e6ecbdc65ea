"""The tree beside Textual's at 100,000 sections.

All numbers are processor time of the screen's thread, from a key's arrival until nothing is left to do. What goes to
the terminal is made too, which Textual leaves out where an app is headless. Its pilot has no part: to wait for the
screen it sends every widget a message, which took as long as some keys.
"""

import asyncio
import gc
import runpy
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import cycle, islice
from time import thread_time

from textual import events, on
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Tree
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.tui.app import RoamApp
from roamtui.tui.messages import CommandRequested
from roamtui.tui.section_commands import make_section_command
from tests.benchmarks.measuring import format_row, format_seconds
from tests.real_documents import find_data_dir
from tests.tui.driving import make_app

_SECTIONS = 100_000
SIZE = (160, 48)
_KEY_SECONDS_MAX = 0.033
_STILL_SECONDS = 0.04
"""More than two frames: what waits for the next one is painted by then."""
_WAITS = 20
_WALK = [*islice(cycle(["down", "down", "pagedown", "up", "down", "pagedown"]), 60)]


class SilentTerminal(HeadlessDriver):
    """Takes what is made for a terminal, and shows it to nobody."""

    @property
    @override
    def is_headless(self) -> bool:
        return False

    @override
    def write(self, data: str) -> None:
        pass


async def measure_waiting() -> float:
    """Return what waiting alone costs this machine at most, while no app runs."""
    costs = []
    for _ in range(_WAITS):
        before = thread_time()
        await asyncio.sleep(_STILL_SECONDS)
        costs.append(thread_time() - before)
    return max(costs)


class KeyBench:
    """Measures the keys of one running app. Less work than `waiting` while it waits is the waiting itself."""

    def __init__(self, app: App[None], waiting: float) -> None:
        self._app = app
        self._waiting = waiting

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
            if thread_time() - done <= self._waiting:
                return done

    async def press(self, keys: Iterable[str]) -> list[float]:
        """Return the time of each keypress."""
        return [await self.measure(partial(self._send, key)) for key in keys]

    async def _send(self, key: str) -> None:
        event = events.Key(key, {"space": " "}.get(key, key if len(key) == 1 else None))
        event.set_sender(self._app)
        assert self._app._driver is not None
        self._app._driver.send_message(event)


class StockTreeApp(App[None]):
    """A library in Textual's own tree: each node gets its children when it is unfolded."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self._library = library

    @override
    def compose(self) -> ComposeResult:
        yield Tree[str]("", self._library.root_id)

    @on(Tree.NodeExpanded)
    def fill(self, event: Tree.NodeExpanded[str]) -> None:
        """Add the children of a node, unfolded."""
        assert event.node.data is not None
        for child in self._library.children(event.node.data):
            can_unfold = bool(self._library.children(child))
            event.node.add(self._library.node(child).title, child, expand=can_unfold, allow_expand=can_unfold)
            if can_unfold:
                event.node.children[-1].expand()

    async def unfold(self) -> None:
        self.query_one(Tree).root.expand()


async def _unfold_everything(app: RoamApp, bench: KeyBench) -> None:
    library = app.main_screen.conversation.state.library
    for top in library.children(library.root_id):
        app.main_screen.post_message(CommandRequested(partial(make_section_command, "unfold_all", section_id=top)))
        await bench.rest()
    await bench.press(["g"])


async def bench_tree() -> list[str]:
    """Unfold all sections, eight children each, here and in Textual's tree, and move the cursor here."""
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    app = make_app(text="".join(generate(_SECTIONS, "tree")))
    app.driver_class = SilentTerminal
    waiting = await measure_waiting()
    gc.freeze()  # as `launch` does
    async with app.run_test(headless=False, size=SIZE):
        bench = KeyBench(app, waiting)
        await bench.rest()
        await bench.press(["tab", "g"])
        library = app.main_screen.conversation.state.library
        _ = library.root.tokens_before
        unfolding = await bench.measure(partial(_unfold_everything, app, bench))
        slowest = max(await bench.press(_WALK))
    stock = StockTreeApp(library)
    stock.driver_class = SilentTerminal
    async with stock.run_test(headless=False, size=SIZE):
        bench = KeyBench(stock, waiting)
        await bench.rest()
        stock_unfolding = await bench.measure(stock.unfold)
    unfolded = f"{format_seconds(unfolding)} / {format_seconds(stock_unfolding)}"
    moved = f"{_SECTIONS:,} unfolded sections: move the cursor, slowest press of a key"
    goal = f"≤ {_KEY_SECONDS_MAX * 1_000:.0f} ms"
    return [
        format_row(f"{_SECTIONS:,} sections: unfold them all / in Textual's tree", unfolded),
        format_row(moved, format_seconds(slowest), goal, is_met=slowest <= _KEY_SECONDS_MAX),
    ]
