"""The tree beside Textual's, and the app's own work at 100,000 sections: keys and finding.

All numbers are processor time of the screen's thread, from a key's arrival until nothing is left to do. What goes to
the terminal is made too, which Textual leaves out where an app is headless. Its pilot has no part: to wait for the
screen it sends every widget a message, which took as long as some keys.
"""

import asyncio
import gc
import runpy
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import cycle, islice
from math import inf
from statistics import median
from time import monotonic, thread_time

from textual import events, on
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Tree
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.tui.app import RoamApp
from roamtui.tui.messages import CommandRequested
from roamtui.tui.section_commands import make_section_command
from tests.benchmarks.measuring import Finding, format_seconds, limit_seconds
from tests.real_documents import find_data_dir
from tests.tui.driving import make_app

_SECTIONS = (1_000, 100_000)
SIZE = (160, 48)
_KEY_SECONDS_MAX = 0.033
_STILL_SECONDS = 0.04
"""More than two frames: what waits for the next one is painted by then."""
_STILL_WORK_SECONDS = 0.0003
"""Less work than this within that time is nothing but the waiting itself."""
_WALK = [*islice(cycle(["down", "down", "pagedown", "up", "down", "pagedown"]), 60)]


class SilentTerminal(HeadlessDriver):
    """Takes what is made for a terminal, and shows it to nobody."""

    drawn_at: float | None = None
    """The time of the first output since it was set to None."""

    @property
    @override
    def is_headless(self) -> bool:
        return False

    @override
    def write(self, data: str) -> None:
        self.drawn_at = self.drawn_at or monotonic()


class KeyBench:
    """Measures the keys of one running app."""

    def __init__(self, app: App[None]) -> None:
        self._app = app

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

    async def press(self, keys: Iterable[str]) -> list[float]:
        """Return the time of each keypress."""
        return [await self.measure(partial(self._send, key)) for key in keys]

    async def _send(self, key: str) -> None:
        event = events.Key(key, {"space": " "}.get(key, key if len(key) == 1 else None))
        event.set_sender(self._app)
        assert self._app._driver is not None
        self._app._driver.send_message(event)


@asynccontextmanager
async def open_wide(sections: int) -> AsyncIterator[tuple[RoamApp, KeyBench]]:
    """Open a document of so many sections, eight children each, with the cursor on the first line of the tree."""
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    app = make_app(text="".join(generate(sections, "tree")))
    app.driver_class = SilentTerminal
    gc.freeze()  # as `launch` does
    async with app.run_test(headless=False, size=SIZE):
        bench = KeyBench(app)
        await bench.rest()
        await bench.press(["escape", "g"])
        _ = app.main_screen.conversation.state.library.root.tokens_before
        yield app, bench


async def _unfold_everything(app: RoamApp, bench: KeyBench) -> None:
    library = app.main_screen.conversation.state.library
    for top in library.children(library.root_id):
        app.main_screen.post_message(CommandRequested(partial(make_section_command, "unfold_all", section_id=top)))
        await bench.rest()
    await bench.press(["g"])


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
        tree = self.query_one(Tree)
        tree.root.expand()
        tree.focus()


async def _measure_stock(app: StockTreeApp) -> tuple[float, list[float]]:
    """Return what it takes to unfold all sections in Textual's tree, and the time of each key there."""
    app.driver_class = SilentTerminal
    async with app.run_test(headless=False, size=SIZE):
        bench = KeyBench(app)
        await bench.rest()
        return await bench.measure(app.unfold), await bench.press(_WALK)


async def bench_tree(sections: int) -> list[Finding]:
    """Unfold all sections and walk, here and in the stock widgets."""
    async with open_wide(sections) as (app, bench):
        library = app.main_screen.conversation.state.library
        unfolding = await bench.measure(partial(_unfold_everything, app, bench))
        keys = await bench.press(_WALK)
    stock_unfolding, stock_keys = await _measure_stock(StockTreeApp(library))
    label = f"{sections:,} unfolded sections"
    unfolded = f"{format_seconds(unfolding)} / {format_seconds(stock_unfolding)}"
    pressed = " / ".join(format_seconds(median(one)) for one in (keys, stock_keys))
    return [
        Finding(what=f"{sections:,} sections: unfold them all / in Textual's tree", value=unfolded),
        Finding(what=f"{label}: move the cursor, median / in Textual's tree", value=pressed),
        limit_seconds(f"{label}: move the cursor, slowest press of a key", max(keys), _KEY_SECONDS_MAX),
    ]


async def bench_find(sections: int) -> list[Finding]:
    """Type letters in the picker: how soon each is drawn, and how long one at most keeps the next key waiting."""
    run, blocks = asyncio.Handle._run, list[float]()

    def measure_block(handle: asyncio.Handle) -> None:
        before = thread_time()
        run(handle)
        blocks.append(thread_time() - before)

    async with open_wide(sections) as (app, bench):
        terminal = app._driver
        assert isinstance(terminal, SilentTerminal)
        await bench.press(["ctrl+f"])
        asyncio.Handle._run = measure_block  # type: ignore[method-assign, assignment]
        drawn, longest = [], []
        for key in ["space" if letter == " " else letter for letter in "the quick reader of each section"]:
            blocks.clear()
            terminal.drawn_at, sent_at = None, monotonic()
            await bench.press([key])
            await asyncio.sleep(0.25)  # Find waits less before its last search
            drawn.append((terminal.drawn_at or inf) - sent_at)
            longest.append(max(blocks))
        asyncio.Handle._run = run  # type: ignore[method-assign]
    value = f"{format_seconds(median(longest))}, {format_seconds(max(longest))}"
    return [
        limit_seconds(f"{sections:,} sections: until a letter typed in Find is drawn, longest", max(drawn), 0.016),
        Finding(what=f"{sections:,} sections: how long Find delays the next key, median and longest", value=value),
    ]


def measure_sizes(bench: Callable[[int], Coroutine[None, None, list[Finding]]]) -> list[Finding]:
    """Return the findings at both sizes."""
    return [finding for sections in _SECTIONS for finding in asyncio.run(bench(sections))]
