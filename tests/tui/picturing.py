"""What the snapshot tests share: the app in a given theme, with nothing that moves, and scenes to take pictures of."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, OptionList

from roamtui.agent.loop import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import build_library
from roamtui.models.base import Model
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import RawText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import ImageMode, TuiOptions
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.find import FindDialog
from roamtui.tui.screens.picture import PictureCanvas, PictureScreen
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.tui.driving import (
    EXAMPLES,
    app_of,
    ask,
    expand,
    find_id,
    make_app,
    make_context,
    model_of,
    press_until,
    run,
    screen_text,
    wait_until,
)

Scene = Callable[[Pilot[Any]], Awaitable[None]]


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(self, app: App[Any], *, terminal_size: tuple[int, int] = ..., run_before: Scene | None = ...) -> bool:
        """Return whether the picture of an app is the one that was kept."""
        ...


LARGE, USUAL, NARROW = (120, 35), (80, 24), (60, 20)
WIDE = (160, 40)


def name_size(size: tuple[int, int]) -> str:
    """Return ``120x35``."""
    return "x".join(map(str, size))


def make_still_app(
    theme: str,
    *replies: Reply,
    examples: tuple[str, ...] = EXAMPLES,
    store: ConversationStore | None = None,
    **given: object,
) -> RoamApp:
    """Return an app without animation. `given` is for `make_context`."""
    app = make_app(replies, options=TuiOptions(theme=theme, examples=examples), store=store, **given)
    app.animation_level = "none"
    return app


async def show_start(pilot: Pilot[None]) -> None:
    await pilot.pause()


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


async def show_source(pilot: Pilot[None]) -> None:
    """Show a source of the answer in the reader."""
    await show_answer(pilot)
    screen = app_of(pilot).main_screen
    screen.panes.focus_scope(Scope.CHAT)
    await press_until(pilot, lambda: screen.reader_pane.title_line.note, "j", "enter")  # it comes last
    await pilot.pause()


DIALECTS = """# Ovens

::: warning Hot
Mind the **door**, see [[Steam]].
:::

/// tab | Stone
It heats at $t = \\frac{m c}{P}$ to 300<sup>2</sup>.
///

/// tab | Deck
```mermaid
graph LR
```
///

<Card title="Loaves" href="/loaves">Two kinds</Card>

| Oven | Loaves | Cost |
|---|---|---|
| Stone | 40 | $ 1,204.50 |
| Deck | 110 | (12) |
| Steam | n/a | a long remark on what this oven costs in a year that no line of a pane can hold whole |
| Old | 7 | 3 |
"""


async def show_dialects(pilot: Pilot[None]) -> None:
    """Show containers, a formula, a diagram and a table in the reader."""
    screen = app_of(pilot).main_screen
    await press_until(pilot, lambda: screen.reader_pane.section_id is not None, "escape", "enter", "3")
    await pilot.pause()


async def show_focus_mode(pilot: Pilot[None]) -> None:
    await show_dialects(pilot)
    await pilot.press("Z")
    await pilot.pause()


async def show_conversations(pilot: Pilot[None]) -> None:
    """Show the list of conversations, one of three just deleted."""
    app = app_of(pilot)
    questions = ("What of steam?", "How often is the starter fed when the bakery is closed?", "How many loaves?")
    for question in questions:
        model_of(app).add_replies(ScriptedReply(text="So."), ScriptedReply(text="So."))
        await press_until(pilot, lambda: not app.main_screen.conversation.state.exchanges, "ctrl+n")
        await ask(pilot, question)
    await press_until(pilot, ConversationsScreen, "f4")
    await wait_until(pilot, lambda: app.screen.query_one(OptionList).option_count > len(questions))
    await pilot.press("j", "d")
    await pilot.pause()


def show_approval(approval: ApprovalRequest) -> Scene:
    """Return a scene in which the person is asked to approve of something."""

    async def show(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await pilot.pause()
        app.main_screen.run_worker(app.main_screen.conversation.loader.approver(approval))
        await wait_until(pilot, ConfirmDialog)
        await pilot.pause()

    return show


def make_searching_app(theme: str, model: Model | None = None) -> RoamApp:
    """Return such an app that can search."""
    context = make_context(options=TuiOptions(theme=theme, examples=EXAMPLES))
    session = context.agent.conversation
    searcher = KeywordSearcher(session.state.library)
    agent = Agent(session, model or ScriptedModel(()), searcher)
    app = RoamApp(context_of(agent, options=context.options))
    app.animation_level = "none"
    return app


async def show_passages(pilot: Pilot[None]) -> None:
    await ask(pilot, "How many loaves does an oven take?")
    screen = app_of(pilot).main_screen
    assert len(screen.conversation.state.exchanges[-1].citations) > 1
    screen.panes.focus_scope(Scope.CHAT)
    await pilot.press("2")
    await pilot.pause()


async def show_found(pilot: Pilot[None]) -> None:
    """Show the marks of what was found in the outline."""
    app = app_of(pilot)
    await pilot.pause()
    await press_until(pilot, FindDialog, "ctrl+f")
    screen = app.screen
    assert isinstance(screen, FindDialog)
    field = screen.query_one(Input)
    field.value = "how many loaves fit"
    await wait_until(pilot, lambda: screen.found.query == field.value and screen.found.is_complete)
    await press_until(pilot, lambda: app_of(pilot).main_screen.reader_pane.section_id is not None, "down", "enter")
    await pilot.pause()


def press(*keys: str, until: str = "") -> Scene:
    """Return a scene that is reached by keys and `tree.unfold_all`, once the screen says the words of `until`."""

    async def show(pilot: Pilot[None]) -> None:
        await pilot.pause()
        for key in keys:
            await (run(pilot, key) if key == "tree.unfold_all" else pilot.press(key))
            await pilot.pause()
        await wait_until(pilot, lambda: until in screen_text(app_of(pilot)))
        await pilot.pause()

    return show


def make_reading_app(theme: str, source: Path) -> RoamApp:
    """Return such an app over a file, with pictures as half cells."""
    library = open_library([str(source)])
    options = TuiOptions(theme=theme, examples=EXAMPLES, image_mode=ImageMode.CELLS)
    app = RoamApp(context_of(Agent(Conversation(library), ScriptedModel(())), options=options))
    app.animation_level = "none"
    app.main_screen.header.show_library(build_library(RawText(text="# Guide\n", source="guide.md", name="guide")))
    return app


async def show_picture(pilot: Pilot[None]) -> None:
    await press_until(pilot, "▀", "escape", "enter", "3")
    await pilot.pause()


async def show_look(pilot: Pilot[None]) -> None:
    """Show a picture, or the page of a PDF, on the whole screen."""
    app = app_of(pilot)
    await press_until(pilot, lambda: app.main_screen.reader_pane.section_id is not None, "escape", "enter", "3")
    await press_until(pilot, lambda: _fills_screen(app.screen), "v")
    await pilot.pause()


def _fills_screen(screen: Screen[Any]) -> bool:
    if not isinstance(screen, PictureScreen) or screen.drawing is None:
        return False
    canvas = screen.query_one(PictureCanvas)
    is_wide = canvas.columns >= canvas.size.width - 1 and canvas.rows <= canvas.size.height
    return canvas.rows * 2 == screen.drawing.viewport.height and (is_wide or canvas.rows == canvas.size.height)
