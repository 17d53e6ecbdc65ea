"""What the parts buy that roamtui has in place of Textual's own: each number with the part, and without it."""

from __future__ import annotations

from itertools import cycle, islice
from statistics import median

from textual.app import App, ComposeResult
from textual.widgets import Tree
from textual.widgets.tree import TreeNode
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.tui.key_queue import KeyQueue, TypedEvent
from tests.benchmarks.measuring import Finding
from tests.benchmarks.wide_tree import KeyBench, RoundSelector, SilentTerminal, open_wide, run_watched
from tests.tui.driving import make_app

_BURSTS = 20


class NoQueue(KeyQueue):
    """Passes every key on at once, as Textual does."""

    @override
    async def add(self, event: TypedEvent) -> None:
        await self._forward(event)


async def _type_bursts(rounds: RoundSelector, *, is_queued: bool) -> tuple[int, float]:
    """Return how many bursts of keys ended elsewhere than the same keys one by one, and the time of a single key."""
    app = make_app()
    app.driver_class = SilentTerminal
    if not is_queued:
        app._key_queue = NoQueue(app, app._key_queue._forward)
    async with app.run_test(headless=False, size=(120, 40)):
        bench = KeyBench(app, rounds)
        await bench.rest()
        box, wrong = app.main_screen.question_box, 0
        for _ in range(_BURSTS):
            for key in ("f1", "escape", "escape", "j", "2", *"abc"):
                await bench.send(key)
            await bench.rest()
            wrong += box.text != "abc" or app.screen is not app.main_screen
            while app.screen is not app.main_screen:
                await bench.press(["escape"])
            box.clear()
            box.focus()
            await bench.rest()
        await bench.press(["escape"])
        return wrong, median(await bench.press(["j", "k"] * 30))


async def _compare_key_queue(rounds: RoundSelector) -> list[Finding]:
    (wrong, seconds), (wrong_without, seconds_without) = (
        await _type_bursts(rounds, is_queued=True),
        await _type_bursts(rounds, is_queued=False),
    )
    times = f"{seconds * 1_000:.1f} / {seconds_without * 1_000:.1f} ms"
    return [
        Finding(
            what=f"KeyQueue / without: wrong of {_BURSTS} bursts of keys",
            value=f"{wrong} / {wrong_without}",
            goal="0",
            is_met=wrong == 0,
        ),
        Finding(what="KeyQueue / without: a key, median of own CPU", value=times),
    ]


class StockTreeApp(App[None]):
    """A library in Textual's own tree, all unfolded."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self.outline: Tree[str] = Tree("")
        self._library = library

    @override
    def compose(self) -> ComposeResult:
        yield self.outline

    def fill(self) -> None:
        """Add all sections."""
        nodes: dict[str | None, TreeNode[str]] = {self._library.root_id: self.outline.root}
        for section_id in self._library.walk():
            above = nodes.get(self._library.parent(section_id), self.outline.root)
            nodes[section_id] = above.add(self._library.title_of(section_id), section_id, expand=True)
        self.outline.root.expand()


async def _compare_tree(rounds: RoundSelector) -> list[Finding]:
    async with open_wide(rounds) as bench:
        library = bench.library
        seconds = await bench.measure(bench.unfold_everything)
        await bench.press(["g"])
        keys = await bench.press(islice(cycle(["down", "down", "up", "pagedown"]), 60))
    app = StockTreeApp(library)
    app.driver_class = SilentTerminal
    async with app.run_test(headless=False, size=(160, 48)):
        stock = KeyBench(app, rounds)
        await stock.rest()

        async def fill() -> None:
            app.fill()

        stock_seconds = await stock.measure(fill)
        app.outline.focus()
        await stock.press(["down"])
        stock_keys = await stock.press(islice(cycle(["down", "down", "up", "pagedown"]), 60))
    return [
        Finding(
            what="own tree / Textual's: show 100,000 sections unfolded",
            value=f"{seconds:.2f} / {stock_seconds:.2f} s",
        ),
        Finding(
            what="own tree / Textual's: a key in it, median of own CPU",
            value=f"{median(keys) * 1_000:.1f} / {median(stock_keys) * 1_000:.1f} ms",
        ),
    ]


def bench_key_queue() -> list[Finding]:
    """Return what the queue of keys buys and costs."""
    return run_watched(_compare_key_queue)


def bench_own_tree() -> list[Finding]:
    """Return what the own tree buys."""
    return run_watched(_compare_tree)
