"""The tree at 100,000 sections: the app's own work for keys, wide nodes, the agent's batches and the filter.

All numbers are processor time of the screen's thread. What the test driver itself takes to wait for the screen is
measured in the same run and taken off.
"""

from __future__ import annotations

import asyncio
import gc
import runpy
from collections.abc import Awaitable, Callable, Iterable
from itertools import cycle, islice
from statistics import median, quantiles
from time import thread_time

from textual.pilot import Pilot

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import SectionsExpanded
from roamtui.tui.app import RoamApp
from roamtui.tui.commands import unfold_subtree
from tests.benchmarks.findings import Finding
from tests.real_documents import find_data_dir
from tests.tui.driving import make_app

_SECTIONS = 100_000
_WIDE = 10_000
_BATCH = 20
_PRESSES = 300
_TURNS = 15
_SIZE = (160, 48)
_KEY_SECONDS_MAX = 0.016
_BATCH_SECONDS_MAX = 0.03
_PERCENT = 99


def make_wide_text() -> str:
    """Return a document of 100,000 sections: a tree of eight children each, then one node with 10,000."""
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    parts: Iterable[str] = generate(_SECTIONS - _WIDE - 1, "tree")
    wide: Iterable[str] = generate(_WIDE + 1, "flat")
    return "".join(parts) + "".join(wide)


class TreeBench:
    """Measures one running app."""

    def __init__(self, pilot: Pilot[None], app: RoamApp) -> None:
        self._pilot = pilot
        self._screen = app.main
        self._library = app.main.session.state.library
        self._waiting_seconds = 0.0

    async def measure(self, work: Callable[[], Awaitable[None]]) -> float:
        """Return the time until all that `work` set off is painted."""
        before = thread_time()
        await work()
        await self._pilot.pause()
        return max(0.0, thread_time() - before - self._waiting_seconds)

    async def calibrate(self) -> None:
        """Find out what the driver takes to wait for the screen, which it does twice for a key."""
        seconds = []
        for _ in range(_TURNS):
            before = thread_time()
            await self._pilot.pause()
            await self._pilot.pause()
            seconds.append(thread_time() - before)
        self._waiting_seconds = median(seconds)

    async def press_watched(self, keys: Iterable[str]) -> list[float]:
        """Return for each keypress the longest time in which the next key would have had to wait."""
        longest = 0.0

        async def watch() -> None:
            nonlocal longest
            while True:
                before = thread_time()
                await asyncio.sleep(0)
                longest = max(longest, thread_time() - before)

        gc.disable()  # watching makes each key take seconds, in which the app would think that nobody types
        watching = asyncio.create_task(watch())
        seconds = []
        for key in keys:
            longest = 0.0
            await self._pilot.press(key)
            await self._pilot.pause()
            seconds.append(longest)
        watching.cancel()
        gc.enable()
        return seconds

    async def press(self, keys: Iterable[str]) -> list[float]:
        """Return the time of each keypress."""
        seconds = []
        for key in keys:
            seconds.append(await self.measure(lambda key=key: self._pilot.press(key)))  # type: ignore[misc]
        return seconds

    async def unfold_everything(self) -> None:
        """Show all sections at once."""
        for top in self._library.children(self._library.root_id):
            self._screen.send(unfold_subtree(top))
            await self._pilot.pause()

    async def expand_batches(self) -> list[float]:
        """Return the time of each batch of 20 that the agent opens, far from one another: openness, tree and repaint.

        The line in the conversation that tells of it is left out.
        """
        ids = list(self._library.walk())
        seconds = []
        tree = self._screen.tree_pane
        for turn in range(_TURNS):
            batch = tuple(ids[(turn * 37 + number * 4_999) % len(ids)] for number in range(_BATCH))
            command = ExpandSections(section_ids=batch, origin=Origin.AGENT)

            async def work(command: ExpandSections = command) -> None:
                async for event in self._screen.session.dispatch(command):
                    tree.show(self._screen.session.state)
                    if isinstance(event, SectionsExpanded) and event.opened_ids:
                        tree.show_batch(event.opened_ids)

            seconds.append(await self.measure(work))
        return seconds


async def _run() -> list[Finding]:
    app = make_app(text=make_wide_text())
    async with app.run_test(size=_SIZE) as pilot:
        bench = TreeBench(pilot, app)
        await pilot.pause()
        await pilot.press("escape", "g")
        _ = app.main.session.state.library.root.tokens_before
        gc.freeze()
        await bench.calibrate()
        walk = islice(cycle(["j", "j", "l", "pagedown", "k", "space", "pageup", "j"]), _PRESSES)
        folded = await bench.press(walk)
        nothing = await bench.press(["f12"] * _TURNS)
        await pilot.press("G")
        wide = [seconds for _ in range(_TURNS) for seconds in (await bench.press(["space", "space"]))[:1]]
        batch = await bench.expand_batches()
        await bench.unfold_everything()
        await pilot.press("g")
        walk = islice(cycle(["j", "j", "pagedown", "k", "space", "space", "pageup", "j", "pagedown"]), _PRESSES)
        unfolded = await bench.press(walk)
        batch_unfolded = await bench.expand_batches()
        await pilot.press("s")
        filtering = await bench.press_watched(
            [*"reader", "space", *"cursor", *["backspace"] * 8, *"zqx", *["backspace"] * 3]
        )
        gc.unfreeze()
    return [
        Finding(what="any key that does nothing: median of own CPU", value=f"{median(nothing) * 1_000:.1f} ms"),
        _finding("a key in the tree, folded", folded, _KEY_SECONDS_MAX),
        _finding("a key in the tree, all 100,000 unfolded", unfolded, _KEY_SECONDS_MAX),
        _finding("unfold or fold a node with 10,000 children", wide, _KEY_SECONDS_MAX),
        Finding(what=f"the agent's first batch of {_BATCH}: own CPU", value=f"{batch[0] * 1_000:.1f} ms"),
        _find_median(f"the agent's next batches of {_BATCH}, folded", batch[1:]),
        _find_median(f"the agent's batches of {_BATCH}, all unfolded", batch_unfolded),
        _finding("what a letter in the filter makes the next key wait", filtering, _KEY_SECONDS_MAX),
    ]


def _finding(what: str, seconds: list[float], seconds_max: float) -> Finding:
    worst = quantiles(seconds, n=100, method="inclusive")[_PERCENT - 1]
    return Finding(
        what=f"{what}: p{_PERCENT} of own CPU",
        value=f"{worst * 1_000:.1f} ms",
        goal=f"≤ {seconds_max * 1_000:.0f} ms",
        is_met=worst <= seconds_max,
    )


def _find_median(what: str, seconds: list[float]) -> Finding:
    middle = median(seconds)
    return Finding(
        what=f"{what}: median of own CPU",
        value=f"{middle * 1_000:.1f} ms",
        goal=f"≤ {_BATCH_SECONDS_MAX * 1_000:.0f} ms",
        is_met=middle <= _BATCH_SECONDS_MAX,
    )


def bench_wide_tree() -> list[Finding]:
    """Return the findings over one running app."""
    return asyncio.run(_run())
