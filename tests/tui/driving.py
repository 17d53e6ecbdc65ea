"""What the tests of the app share: a document, a scripted app over it, and waiting for what must come."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen

from roamtui.agent.loop import Agent, AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.loader import Loader, build_library
from roamtui.models.base import Model
from roamtui.search.base import Searcher
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.screens.main import MainScreen
from tests.case_files import read_case
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.fakes.services import app_over, context_of, make_options

TEXT = read_case("bakery.md")

RYE = read_case("mill.md")
"""One word in many sections, to go from match to match and read on."""

Scene = Callable[[Pilot[Any]], Awaitable[None]]
Until = str | type[Screen[Any]] | Callable[[], object]
AnyApp = TypeVar("AnyApp", bound=App[None])
_QUICK_ROUNDS = 50
_ROUNDS_MAX = 3_000
"""A minute on an idle machine: only a failing test waits for it."""
_SLOW_ROUND_SECONDS = 0.02
Pilot._wait_for_screen.__defaults__ = (600.0,)  # on a busy machine the first screen may take longer than Textual waits
EXAMPLES = ("How many loaves does the stone oven take?", "When is the starter fed?")


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(self, app: App[Any], *, terminal_size: tuple[int, int] = ..., run_before: Scene | None = ...) -> bool:
        """Return whether the picture of an app is the one that was kept."""
        ...


def make_context(
    replies: Iterable[Reply] = (),
    *,
    text: str = TEXT,
    library: Library | None = None,
    model: Model | None = None,
    searcher: Callable[[Library], Searcher] | None = None,
    agent_options: AgentOptions | None = None,
    store: ConversationStore | None = None,
    loader: Loader | None = None,
    **given: Any,  # noqa: ANN401 - other fields of `AppContext`
) -> AppContext:
    """Return a context over `text` or a library, whose model says `replies`. Without a store nothing is saved."""
    library = library or build_library(RawText(text=text, source="bakery.md", name="bakery"))
    conversation = Conversation(library, store=store, source_loader=loader)
    agent = Agent(conversation, model or ScriptedModel(replies), searcher and searcher(library), agent_options)
    return context_of(agent, **{"options": make_options(examples=EXAMPLES), **given})


def make_app(replies: Iterable[Reply] = (), **given: Any) -> RoamApp:  # noqa: ANN401 - see `make_context`
    """Return an app over the bakery's handbook, or what `make_context` is given."""
    return app_over(make_context(replies, **given))


def find_id(app: RoamApp, title: str) -> str:
    library = app.main_screen.conversation.state.library
    return next(section_id for section_id in library.walk() if library.node(section_id).title == title)


def read_title(app: RoamApp, section_id: str | None) -> str:
    return app.main_screen.conversation.state.library.node(section_id).title if section_id else ""


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


async def show_answer(pilot: Pilot[None]) -> None:
    """Show an answer with a good, a bad and no quote, after a search and a batch."""
    app = app_of(pilot)
    stone, deck, steam = (find_id(app, title) for title in ("Stone oven", "Deck oven", "Steam"))
    answer = (
        f'The **stone oven** is smaller: "It must rest for one hour after each batch" [{stone}].\n\n'
        f'- The deck oven: "The deck oven takes a hundred loaves" [{deck}].\n'
        f"- Both are lit early, and steam has its own section [{steam}].\n\n"
        "| Oven | Loaves |\n|---|---|\n| stone | 40 |\n| deck | 90 |\n"
    )
    model_of(app).add_replies(expand(stone, deck, "0badc0de"), ScriptedReply(text=answer))
    await ask(pilot, "Which oven is larger, and must either rest?")
    assert app.main_screen.conversation.state.exchanges[-1].citations
    assert tuple(app.main_screen.conversation.state.open_sections) == (stone, deck)
    await pilot.pause()


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
