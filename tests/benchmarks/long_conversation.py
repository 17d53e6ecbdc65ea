"""What a key and an event of an answer cost after 2,000 questions, beside what they cost after 20."""

import gc
from contextlib import AsyncExitStack
from functools import partial
from statistics import fmean, median

from roamtui.conversation.events import AnswerStreamed, Origin, RecordedEvent, SectionsSearched
from roamtui.conversation.update import OpenSections, open_for_agent
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from tests.benchmarks.measuring import format_row, format_seconds
from tests.benchmarks.wide_tree import SIZE, KeyBench, SilentTerminal, measure_waiting
from tests.tui.long_conversation import make_long_app

_QUESTIONS = (2_000, 20)
_TURNS = 9
_RATIO_MAX = 1.3
_KEYS = {Scope.INPUT: ("x", "y"), Scope.TREE: ("j", "space", "k", "space"), Scope.CHAT: ("j", "k")}


async def bench_long_conversation() -> list[str]:
    """Measure keys in all panes and events of an answer. The apps take turns, so a busy machine is busy for both."""
    waiting = await measure_waiting()
    rounds: list[list[float]] = [[] for _ in _QUESTIONS]
    async with AsyncExitStack() as stack:
        apps = [make_long_app(questions) for questions in _QUESTIONS]
        for app in apps:
            app.driver_class = SilentTerminal
            await stack.enter_async_context(app.run_test(headless=False, size=SIZE))
        gc.freeze()  # as `launch` does
        for turn in range(_TURNS + 1):
            for app, seconds in zip(apps, rounds, strict=True):
                seconds.append(await _measure_round(app, turn, waiting))
    own, other = (median(seconds[1:]) for seconds in rounds)
    what = "a key or an event of an answer, after 2,000 questions / after 20"
    value = f"{format_seconds(own)} / {format_seconds(other)}"
    return [format_row(what, value, f"ratio ≤ {_RATIO_MAX:g}", is_met=own <= _RATIO_MAX * other)]


async def _measure_round(app: RoamApp, turn: int, waiting: float) -> float:
    """Return the mean time of a key or an event."""
    bench = KeyBench(app, waiting)
    conversation = app.main_screen.conversation
    seconds = []
    for scope, keys in _KEYS.items():
        app.main_screen.panes.focus_scope(scope)
        await bench.rest()
        seconds += await bench.press(keys)
    section_id = [*conversation.state.library.walk()][turn]
    expanded = open_for_agent(conversation.state, OpenSections(section_ids=(section_id,), origin=Origin.AGENT))

    async def tell(event: RecordedEvent) -> None:
        conversation.apply_unsaved(event)

    async def stream() -> None:
        conversation.publish(AnswerStreamed(text="It is said.\n\n"))

    for work in (partial(tell, SectionsSearched(query="q", hits=())), partial(tell, expanded), stream):
        seconds.append(await bench.measure(work))
    return fmean(seconds)
