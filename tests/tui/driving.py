"""What the tests of the app share: a document, a scripted app over it, and waiting for what must come."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Self

from textual import app as textual_app
from textual import events
from textual import pilot as textual_pilot
from textual import screen as textual_screen
from textual.app import App
from textual.geometry import Offset
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.selection import Selection
from textual.strip import Strip
from textual.widgets import Input

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.models.base import Model
from roamtui.opening.loader import Loader, make_document_library
from roamtui.search.searcher import Searcher
from roamtui.sources.read import SourceText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.chat.question_box import QuestionBox
from roamtui.tui.context import DocumentSession
from roamtui.tui.reader.document_reader import DocumentReader
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.tree.outline_tree import OutlineTree
from tests.agent.asking import NO_HITS
from tests.case_files import read_case
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.fakes.services import app_over, session_of

TEXT = read_case("bakery.md")

RYE = read_case("mill.md")
"""One word in many sections, to go from match to match and read on."""

Scene = Callable[["RunningApp"], Awaitable[None]]
Compare = Callable[..., bool]
"""The fixture of pytest-textual-snapshot."""
Until = str | type[Screen[Any]] | Callable[[], object]
_ROUNDS_AT_REST = 5
"""A message leads to others, so that a screen is at rest only if it stays the same for some rounds of messages."""
_QUICK_ROUNDS = 50
_ROUNDS_MAX = 3_000
"""A minute on an idle machine: only a failing test waits for it."""
_SLOW_ROUND_SECONDS = 0.02
_SOON_SECONDS = 0.02
_THREAD_SECONDS = 0.002
_WAITS_MAX = 15
"""Some threads and timers of tests never end."""
Pilot._wait_for_screen.__defaults__ = (600.0,)  # on a busy machine the first screen may take longer than Textual waits


def _is_thread_awaited() -> bool:
    """Tell whether a task waits for a thread: asyncio chains the future of the thread to one of its own."""
    tasks: set[Any] = asyncio.all_tasks()
    awaited = [task._fut_waiter for task in tasks if task._fut_waiter is not None]
    callbacks = [callback for future in awaited for callback, _ in future._callbacks or ()]
    return any(getattr(callback, "__qualname__", "").startswith("_chain_future") for callback in callbacks)


async def wait_until_idle(*_seconds: float) -> None:
    """Wait until the app has nothing to do, waits for no thread that ends soon, and no timer ends soon.

    Textual's own waits after each key for 20 ms in which the process used little of a processor. That takes longer than
    all that the app does, and on a busy machine it does not mean that the app is done.
    """
    loop: Any = asyncio.get_running_loop()
    waits = 0
    while waits < _WAITS_MAX:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        left = min((timer.when() for timer in loop._scheduled if not timer.cancelled()), default=math.inf) - loop.time()
        if _is_thread_awaited():
            left = min(left, _THREAD_SECONDS)
        if left > _SOON_SECONDS:
            return
        await asyncio.sleep(max(0.0, left))
        waits += 1


vars(textual_app)["wait_for_idle"] = vars(textual_pilot)["wait_for_idle"] = wait_until_idle
vars(textual_screen)["UPDATE_PERIOD"] = 1 / 250  # the screen is drawn sooner, so that there is less to wait for
EXAMPLES = ("How many loaves does the stone oven take?", "When is the starter fed?")


def make_session(
    replies: Iterable[Reply] = (),
    *,
    text: str = TEXT,
    library: Library | None = None,
    model: Model | None = None,
    searcher: Callable[[Library], Searcher] | None = None,
    agent_options: AgentOptions = NO_HITS,
    store: ConversationStore | None = None,
    loader: Loader | None = None,
    **given: Any,  # noqa: ANN401 - other fields of `DocumentSession`
) -> DocumentSession:
    """Return a session over `text` or a library, whose model says `replies`. Without a store nothing is saved."""
    library = library or make_document_library(SourceText(text=text, source="bakery.md", name="bakery"))
    conversation = Conversation(library, store=store, source_loader=loader)
    agent = Agent(conversation, model or ScriptedModel(replies), searcher and searcher(library), agent_options)
    return session_of(agent, **{"examples": EXAMPLES, **given})


def make_app(replies: Iterable[Reply] = (), **given: Any) -> RoamApp:  # noqa: ANN401 - see `make_session`
    """Return an app over the bakery's handbook, or what `make_session` is given."""
    return app_over(make_session(replies, **given))


def find_id(app: RoamApp, title: str) -> str:
    library = app.main_screen.conversation.state.library
    return next(section_id for section_id in library.walk() if library.node(section_id).title == title)


def expand(*section_ids: str) -> ScriptedReply:
    return ScriptedReply(calls=(("expand_sections", {"section_ids": list(section_ids)}),))


class RunningApp:
    """A running app as its person has it: the keys, the mouse, and what is on the screen."""

    def __init__(self, app: RoamApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.pause = pilot.pause
        self.click = pilot.click

    @property
    def main(self) -> MainScreen:
        """Return the screen of the document that is shown."""
        return self.app.main_screen

    @property
    def conversation(self) -> Conversation:
        return self.main.conversation

    @property
    def state(self) -> ConversationState:
        return self.main.conversation.state

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return self.state.exchanges

    @property
    def box(self) -> QuestionBox:
        return self.main.question_box

    @property
    def chat(self) -> ChatLog:
        return self.main.chat_log

    @property
    def outline(self) -> OutlineTree:
        return self.main.tree_pane.outline

    @property
    def reader(self) -> DocumentReader:
        return self.main.reader_pane.ensure_reader()

    @property
    def last(self) -> ExchangeView:
        """Return the last question with its answer."""
        return self.main.query(ExchangeView).last()

    @property
    def model(self) -> ScriptedModel:
        model = self.main.agent.model
        assert isinstance(model, ScriptedModel)
        return model

    @property
    def field(self) -> Input:
        """Return the text field of the screen on top."""
        return self.app.screen.query_one(Input)

    @property
    def text(self) -> str:
        """Return what stands on the screen, line by line."""
        return screen_text(self.app)

    @property
    def words(self) -> str:
        """Return what stands on the screen as one line."""
        return " ".join(self.text.split())

    @property
    def rows(self) -> list[str]:
        return self.text.split("\n")

    @property
    def read_title(self) -> str:
        """Return the title of the section that the reader shows."""
        return self._get_title(self.main.reader_pane.section_id)

    @property
    def cursor_title(self) -> str:
        """Return the title of the section under the cursor of the outline."""
        return self._get_title(self.outline.cursor_id)

    def _get_title(self, section_id: str | None) -> str:
        return self.state.library.node(section_id).title if section_id else ""

    def find_id(self, title: str) -> str:
        return find_id(self.app, title)

    def focus(self, scope: Scope) -> Self:
        self.main.panes.focus_scope(scope)
        return self

    async def wait_until(self, until: Until) -> None:
        await wait_until(self.pilot, until)

    async def rest(self) -> None:
        """Wait until no worker of the screen on top is under way, and the screen stays the same for some rounds."""
        rounds: deque[list[Strip]] = deque(maxlen=_ROUNDS_AT_REST)

        def is_at_rest() -> bool:
            screen = self.app.screen
            rounds.append(screen._compositor.render_strips())
            workers = [worker for worker in self.app.workers if worker.group != "watching"]  # that one never ends
            working = [worker.node for worker in workers if not worker.is_finished]
            if any(screen in node.ancestors_with_self for node in working):  # others wait for what a dialog returns
                return False
            return len(rounds) == _ROUNDS_AT_REST and all(lines == rounds[0] for lines in rounds)

        await self.wait_until(is_at_rest)

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app is idle."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def press_until(self, until: Until, *keys: str) -> None:
        """Press keys, and wait as `wait_until` does."""
        await self.pilot.press(*keys)
        await self.wait_until(until)

    async def reach(self, title: str, *keys: str) -> None:
        """Press keys, and wait until the reader shows the section with this title."""
        await self.press_until(lambda: self.read_title == title, *keys)

    async def read(self, title: str) -> None:
        """Read a section, with the focus in the reader."""
        self.focus(Scope.TREE)
        await self.go_to(self.find_id(title))
        await self.press_until(lambda: self.reader.has_focus, "enter", "enter")
        await self.pause()

    async def select(self, first: str, last: str = "") -> None:
        """Select words in the reader, up to some other words if given, as the mouse does."""
        lines = self.reader.lines
        texts = [found.line.text if (found := lines.get_line(y)) else "" for y in range(len(lines))]
        start = next(y for y, text in enumerate(texts) if first in text)
        end = next(y for y, text in enumerate(texts) if (last or first) in text)
        end_x = texts[end].index(last or first) + len(last or first)
        self.main.selections = {self.reader: Selection(Offset(texts[start].index(first), start), Offset(end_x, end))}
        await self.pause()

    async def click_on(self, words: str) -> None:
        """Click on the first letter of words on the screen."""
        row = next(number for number, line in enumerate(self.rows) if words in line)
        assert await self.click(offset=(self.rows[row].index(words), row))

    def type_at_once(self, *words: str) -> None:
        """Put all keys into the app's queue before it comes to the first; a word of several letters is a key's name."""
        for word in words:
            name = word if len(word) > 1 else _character_to_key(word)
            self.app.post_message(events.Key(name, word if len(word) == 1 else None))

    async def send(self, question: str, until: Until | None = None) -> None:
        """Type a question and send it, and wait as `wait_until` does."""
        self.box.fill(question)
        self.box.focus()
        await self.pause()
        await self.press("enter")
        if until is not None:
            await self.wait_until(until)

    async def open_gate(self, gate: asyncio.Event) -> None:
        """Let a reply come that waits for a gate, and wait until the answer has ended."""
        gate.set()
        await self.wait_until(lambda: not self.main.is_asking)

    async def ask(self, question: str, *replies: Reply) -> None:
        """Type a question, which the model answers with these replies, send it, and wait until its answer has ended."""
        if replies:
            self.model.add_replies(*replies)
        before = len(self.exchanges)
        await self.send(question)
        await self.wait_until(lambda: len(self.exchanges) > before and not self.main.is_asking)
        await self.pause()

    async def ask_again(self) -> None:
        """Put the last question into the box, and send it again."""
        await self.press_until("Asks again", "ctrl+r")
        await self.press("enter")

    async def run(self, action_id: str) -> None:
        """Run an action of the main screen that has no key, and wait until the conversation has what it changes."""
        await self.main.action_run(action_id)
        await self.pause()
        workers = self.app.workers
        await self.wait_until(lambda: all(worker.is_finished for worker in workers if worker.group == "commands"))
        await self.pause()

    async def go_to(self, section_id: str) -> None:
        """Put the cursor of the outline on a section."""
        self.outline.go_to(section_id)
        await self.wait_until(lambda: self.outline.cursor_id == section_id)


@asynccontextmanager
async def running(app: RoamApp, size: tuple[int, int] = (80, 24)) -> AsyncIterator[RunningApp]:
    """Run an app in a terminal of a size, once it has started."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await wait_until_started(pilot)
        yield RunningApp(app, pilot)


async def wait_until_started(pilot: Pilot[Any]) -> None:
    """Wait until the app shows everything that it loads after its first screen, such as the examples."""
    if isinstance(screen := pilot.app.screen, MainScreen):
        await wait_until(pilot, screen.started.is_set)


async def show_answer(ui: RunningApp) -> None:
    """Show an answer with a good, a bad and no quote, after a search and a batch."""
    stone, deck, steam = map(ui.find_id, ("Stone oven", "Deck oven", "Steam"))
    answer = (
        f'The **stone oven** is smaller: "It must rest for one hour after each batch" [{stone}].\n\n'
        f'- The deck oven: "The deck oven takes a hundred loaves" [{deck}].\n'
        f"- Both are lit early, and steam has its own section [{steam}].\n\n"
        "| Oven | Loaves |\n|---|---|\n| stone | 40 |\n| deck | 90 |\n"
    )
    question = "Which oven is larger, and must either rest?"
    await ui.ask(question, expand(stone, deck, "0badc0de"), ScriptedReply(text=answer))
    assert ui.exchanges[-1].citations
    assert tuple(ui.state.open_sections) == (stone, deck)
    await ui.pause()


async def wait_until(pilot: Pilot[Any], until: Until) -> None:
    """Let the app work until its screen has these words on one line or more, is of this kind, or meets this condition.

    From the 50th round on there is time for threads and other programs.
    """

    def is_met() -> bool:
        if isinstance(until, str):
            text = screen_text(pilot.app)
            return until in text or until in " ".join(text.split())
        return isinstance(pilot.app.screen, until) if isinstance(until, type) else bool(until())

    for number in range(_ROUNDS_MAX):
        if is_met():
            return
        await pilot.pause(None if number < _QUICK_ROUNDS else _SLOW_ROUND_SECONDS)
    assert is_met(), "what was waited for did not come; the screen:\n" + screen_text(pilot.app)


def screen_text(app: App[Any]) -> str:
    """Return what stands on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in lines[:height])
