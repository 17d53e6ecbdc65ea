"""What the tests of the app share: a document, a scripted app over it, and waiting for what must come."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.screens.main import MainScreen
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

TEXT = """# Larch Lane Bakery

How the bakery is run.

## Ovens

There are two ovens, and both are lit at three.

### Stone oven

The stone oven takes forty loaves. It must rest for one hour after each batch.

### Deck oven

The deck oven takes ninety loaves.

#### Steam

Steam is let in for the first eight minutes.

## Dough

Dough is made the evening before.

### Starter

Feed the starter with 200 g of rye at six and at noon. See [Steam](#steam) and [a page](https://example.org/x).

## [/red] Odd [@click=app.quit]titles[/]

Nothing here may act.
"""

RYE = """# Mill

Rye comes by boat.

## Stones

Two stones.

### Upper stone

It grinds rye, and rye alone.

## Store

Wheat.

### Loft

Rye is dried here.
"""
"""One word in many sections, to go from match to match and read on."""

Until = str | type[Screen[Any]] | Callable[[], object]
AnyApp = TypeVar("AnyApp", bound=App[None])
_QUICK_ROUNDS = 50
_ROUNDS_MAX = 3_000
"""A minute on an idle machine: only a failing test waits for it."""
_SLOW_ROUND_SECONDS = 0.02
Pilot._wait_for_screen.__defaults__ = (600.0,)  # on a busy machine the first screen may take longer than Textual waits
EXAMPLES = ("How many loaves does the stone oven take?", "When is the starter fed?")


def make_context(
    replies: Iterable[Reply] = (),
    *,
    text: str = TEXT,
    options: TuiOptions | None = None,
    notes: tuple[str, ...] = (),
    store: ConversationStore | None = None,
) -> AppContext:
    """Return a context over `text` whose model says `replies`; without a store nothing is saved."""
    library = build_library(RawText(text=text, source="bakery.md", name="bakery"))
    agent = Agent(Conversation(library, store=store), ScriptedModel(replies))
    return context_of(agent, options=options or TuiOptions(examples=EXAMPLES), notices=notes)


def make_app(replies: Iterable[Reply] = (), **given: object) -> RoamApp:
    """Return an app over the bakery's handbook, or what `make_context` is given."""
    return RoamApp(make_context(replies, **given))  # type: ignore[arg-type]


def find_id(app: RoamApp, title: str) -> str:
    library = app.main_screen.conversation.state.library
    return next(section_id for section_id in library.walk() if library.node(section_id).title == title)


def app_of(pilot: Pilot[None]) -> RoamApp:
    assert isinstance(pilot.app, RoamApp)
    return pilot.app


def expand(*section_ids: str) -> ScriptedReply:
    return ScriptedReply(calls=(("expand_sections", {"section_ids": list(section_ids)}),))


@asynccontextmanager
async def running(app: AnyApp, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[AnyApp, Pilot[None]]]:
    """Run an app in a terminal of a size, once it has started."""
    async with app.run_test(size=size) as pilot:
        await wait_until_started(pilot)
        yield app, pilot


async def run(pilot: Pilot[None], action_id: str) -> None:
    """Run an action of the main screen that has no key, and wait until the conversation has what it changes."""
    app = app_of(pilot)
    await app.main_screen.action_run(action_id)
    await pilot.pause()
    await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.group == "commands"))
    await pilot.pause()


async def wait_until_started(pilot: Pilot[Any]) -> None:
    """Wait until the app shows everything that it loads after its first screen, such as the examples."""
    if isinstance(screen := pilot.app.screen, MainScreen):
        await wait_until(pilot, screen.started.is_set)


def model_of(app: RoamApp) -> ScriptedModel:
    model = app.main_screen.app_context.agent.model
    assert isinstance(model, ScriptedModel)
    return model


async def go_to(pilot: Pilot[None], section_id: str) -> None:
    """Put the cursor of the outline on a section."""
    tree = app_of(pilot).main_screen.tree_pane
    tree.outline.go_to(section_id)
    await wait_until(pilot, lambda: tree.outline.cursor_id == section_id)


async def wait_until(pilot: Pilot[Any], until: Until) -> None:
    """Let the app work until its screen has these words, is of this kind, or meets this condition.

    From the 50th round on there is time for threads and other programs.
    """

    def is_met() -> bool:
        if isinstance(until, str):
            return until in screen_text(pilot.app)
        return isinstance(pilot.app.screen, until) if isinstance(until, type) else bool(until())

    for number in range(_ROUNDS_MAX):
        if is_met():
            return
        await pilot.pause(None if number < _QUICK_ROUNDS else _SLOW_ROUND_SECONDS)
    assert is_met(), "what was waited for did not come; the screen:\n" + screen_text(pilot.app)


async def press_until(pilot: Pilot[Any], until: Until, *keys: str) -> None:
    """Press keys, and wait as `wait_until` does."""
    await pilot.press(*keys)
    await wait_until(pilot, until)


def type_at_once(pilot: Pilot[None], *words: str) -> None:
    """Put all keys into the app's queue before it comes to the first; a word of several letters is a key's name."""
    for word in words:
        name = word if len(word) > 1 else _character_to_key(word)
        pilot.app.post_message(events.Key(name, word if len(word) == 1 else None))


async def ask(pilot: Pilot[None], question: str) -> None:
    """Type a question, send it, and wait until its answer has ended."""
    screen = app_of(pilot).main_screen
    before = len(screen.conversation.state.exchanges)
    screen.question_box.fill(question)
    screen.question_box.focus()
    await pilot.pause()
    await pilot.press("enter")
    await wait_until(pilot, lambda: len(screen.conversation.state.exchanges) > before and not screen.is_asking)
    await pilot.pause()


def screen_text(app: App[Any]) -> str:
    """Return what stands on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in lines[:height])
