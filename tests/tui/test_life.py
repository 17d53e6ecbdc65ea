"""From the first paint to the end: what is shown first, started, kept, and told when it fails."""

import gc
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any
from weakref import ref

import pytest
from rich.console import RenderableType
from textual.content import Content
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from typing_extensions import override

from roamtui.agent.loop import AgentOptions
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.events import QuoteState, StopReason, Usage
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notices import Severity
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.conversation.update import AskOptions
from roamtui.document.loader import build_library
from roamtui.errors import ModelError
from roamtui.launch import AppServices, run_until_exit
from roamtui.models.base import Model, ModelEvent, ModelRequest, TextDelta
from roamtui.models.recorded import RecordedModel
from roamtui.offers import EXAMPLE
from roamtui.search.base import Progress
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import NoticeView
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.messages import DocumentRequested
from tests.agent.asking import FakeSearcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import app_over
from tests.tui.driving import (
    EXAMPLES,
    TEXT,
    ask,
    expand,
    find_id,
    go_to,
    make_app,
    make_context,
    model_of,
    press_until,
    run,
    running,
    screen_text,
    wait_until,
)


async def test_a_model_is_started_before_it_is_asked_and_closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Model] = []
    app = make_app()
    model = model_of(app)

    async def start_model() -> None:
        started.append(model)

    monkeypatch.setattr(model, "start", start_model)
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: started == [model])
        assert not model.is_closed
    assert model.is_closed


class IndexingSearcher(FakeSearcher):
    """Is in the middle of an index until a test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Event()

    @override
    def prepare(self, on_progress: Progress | None = None) -> None:
        assert on_progress is not None
        on_progress(7, 5_000)
        self.gate.wait(60)


class EmbeddingSearcher(FakeSearcher):
    """Has texts to embed ahead until it was asked three times."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @override
    def embed_ahead(self) -> bool:
        self.count += 1
        return self.count < 3


async def test_the_document_is_embedded_while_nobody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.screens.main._AHEAD_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("roamtui.tui.screens.main._IDLE_SECONDS", 600.0)
    searcher = EmbeddingSearcher()
    async with running(make_app(searcher=lambda _: searcher)) as (_, pilot):
        await pilot.press("a")
        assert searcher.count == 0
        monkeypatch.setattr("roamtui.tui.screens.main._IDLE_SECONDS", 0.0)
        await wait_until(pilot, lambda: searcher.count == 3)


async def test_the_status_line_says_how_far_the_index_of_a_large_document_is() -> None:
    searcher = IndexingSearcher()
    async with running(make_app(text="# A\n" * 5_001, searcher=lambda _: searcher)) as (app, pilot):
        await wait_until(pilot, "Indexing 7 of 5,000 sections")
        searcher.gate.set()
        await wait_until(pilot, lambda: "Indexing" not in screen_text(app))


@pytest.mark.parametrize(
    ("key", "stopped"), [("y", StopReason.ANSWERED), ("n", StopReason.COST), ("escape", StopReason.COST)]
)
async def test_a_question_past_the_spending_limit_waits_for_a_yes(key: str, stopped: StopReason) -> None:
    usage = Usage(input_tokens=10, output_tokens=10, cost_usd=0.5, source="provider")
    replies = [ScriptedReply(text="One.", usage=usage), ScriptedReply(text="Two.", usage=usage)]
    app = make_app(replies, agent_options=AgentOptions(cost_usd_max=0.4))
    async with running(app, (100, 30)) as (_, pilot):
        await ask(pilot, "One?")
        app.main_screen.question_box.fill("Two?")
        await press_until(pilot, "$0.50 of $0.40 has been spent", "enter")
        await press_until(pilot, lambda: not app.main_screen.is_asking, key)
        assert app.main_screen.conversation.state.exchanges[-1].stopped is stopped


@pytest.mark.parametrize("suffix", [".md", ".html"])
async def test_the_editor_gets_the_file_and_the_line_and_may_fail_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    file = tmp_path / f"bakery{suffix}"
    file.write_text(TEXT, "utf-8")
    called: list[list[str]] = []
    resumed: list[bool] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        yield
        resumed.append(True)  # as in Textual, not after an error

    library = build_library(RawText(text=TEXT, source=str(file), name="bakery"))
    async with running(make_app(library=library), (120, 35)) as (app, pilot):
        monkeypatch.setattr(app, "suspend", suspend)
        await pilot.press("escape")
        await run(pilot, "tree.unfold_all")
        monkeypatch.setenv("EDITOR", str(tmp_path / "vim"))
        await press_until(pilot, "Could not start", "G", "k", "enter", "enter", "e")
        assert resumed == [True]
        monkeypatch.setenv("EDITOR", "vim")
        monkeypatch.setattr("subprocess.run", lambda command, **_given: called.append(command))
        await press_until(pilot, lambda: len(resumed) == 2, "e")
    line = TEXT.splitlines().index("### Starter") + 1
    # the reader counts the lines of the text that a page was converted to
    assert called == [["vim", *([f"+{line}"] if suffix == ".md" else []), str(file)]]


async def test_an_earlier_conversation_leaves_neither_words_nor_widgets() -> None:
    app = make_app()
    model = model_of(app)
    async with app.run_test(size=(100, 30)) as pilot:
        model.add_replies(expand(find_id(app, "Steam")), ScriptedReply(text='Steamed for "eight minutes".'))
        await ask(pilot, "How long is steam let in?")
        views = list(app.main_screen.query(ExchangeView))
        left = [ref(view) for view in views]
        assert len(left) == 1
        del views
        await press_until(pilot, lambda: not app.main_screen.conversation.state.exchanges, "ctrl+n")
        await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.group != "keys"))
        await pilot.pause()
        model.requests.clear()
        gc.collect()
        assert [held for held in (weak() for weak in left) if held is not None] == []
        exchanges = [held for held in gc.get_objects() if type(held) is Exchange]
        assert [held for held in exchanges if held.question == "How long is steam let in?"] == []
        lines = [held.text for held in gc.get_objects() if type(held) is Strip]
        assert [line for line in lines if "Steamed for" in line] == []


async def test_the_first_paint_shows_all_panes_that_fit() -> None:
    seen: list[str] = []

    class PaintedApp(RoamApp):
        @override
        def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
            seen.append(screen_text(self))
            super()._display(screen, renderable)

    context = make_context()
    async with running(PaintedApp(context.options, context), (160, 35)) as (_, pilot):
        await wait_until(pilot, lambda: any("3 chapters" in text for text in seen))
    first = next(text for text in seen if "3 chapters" in text)
    assert "▸ Ovens" in first
    assert " Reader" in first


async def test_an_app_can_be_left_before_its_first_screen() -> None:
    app = make_app()
    app.call_later(app.exit)
    await app.run_async(headless=True)
    assert app.return_code == 0


async def test_a_question_that_begins_while_the_app_ends_is_answered_without_an_error() -> None:
    async with running(make_app([ScriptedReply(text="It is open.")])) as (app, _pilot):
        main = app.main_screen
        app.exit()
        await main.agent.ask("Is it open?", AskOptions())
    assert main.conversation.state.exchanges[-1].answer == "It is open."


async def test_sections_with_one_title_are_shown_by_the_title_of_their_only_child() -> None:
    one, two, own = "## Changes\n\n### {}\n\nWords.\n\n", "### Second\n\nWords.\n\n", "## Changes\n\nOwn.\n\n"
    text = "".join(("# Law\n\n", one.format("First"), two, *map(one.format, ("Third", "Fourth")), own, "### Fifth\n"))
    async with running(make_app(text=f"{text}\n## Other\n\n### Sixth\n\nWords.\n"), (120, 35)) as (app, pilot):
        await wait_until(pilot, "Changes · Third · Fourth · Changes · Other")
        outline = app.main_screen.tree_pane.outline
        lines = [outline.draw_line(line, 30).plain.split()[1:] for line in range(1, 6)]
        assert lines == [["▸", title] for title in ("Changes", "Third", "Fourth", "Changes", "Other")]


async def test_a_newcomer_sees_what_the_document_is_and_how_to_take_a_question(store: ConversationStore) -> None:
    async with running(make_app(store=store)) as (app, pilot):
        await wait_until(pilot, "Try · ↑ takes one")
        text = screen_text(app)
        assert "3 chapters, ~" in text
        assert "Saved" not in text
        await pilot.press("up")
        assert app.main_screen.question_box.text == EXAMPLES[0]


class NotedModel(ScriptedModel):
    """A model of which there is something to know once it was started."""

    note = ""

    @override
    async def start(self) -> None:
        self.note = "It has no [b]tool calls[/b]."


async def test_the_app_says_what_to_know_of_a_model_once() -> None:
    async with running(make_app(model=NotedModel([ScriptedReply(text="Not found: no.")])), (120, 40)) as (app, pilot):
        await wait_until(pilot, "It has no [b]tool calls[/b].")
        await ask(pilot, "How many loaves?")
        assert screen_text(app).count("tool calls") == 1


async def test_the_recorded_answer_shows_a_false_quote_and_then_the_box_is_free() -> None:
    model = RecordedModel(seconds_per_word=0)
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, model))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "Pay early to keep borrowing.")
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        (exchange,) = app.main_screen.conversation.state.exchanges
        states = [citation.state for citation in exchange.citations]
        assert [state.value for state in states].count("not_found") == 1
        assert QuoteState.FOUND in states
        assert "This is a recorded demo. A person wrote" in screen_text(app)
        store = app.main_screen.conversation.store
        assert store is not None
        assert store.list() == (), "the person has asked nothing"
        await ask(pilot, "When does the main counter open on Saturday?")
        assert "no model has read them" in screen_text(app)
        assert [one.questions for one in store.list()] == [2]


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_the_key_that_is_named_stops_the_recorded_answer_and_so_does_esc(key: str) -> None:
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, RecordedModel(seconds_per_word=60)))
    async with app.run_test(size=(220, 40)) as pilot:
        await wait_until(pilot, lambda: app.main_screen.is_asking)
        await wait_until(pilot, "ctrl+c stops")
        assert "esc stops" not in screen_text(app)
        await pilot.press(key)
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert app.main_screen.agent.model.name == OFFLINE


class BrokenModel(ScriptedModel):
    """Fails in a way that nobody expects."""

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        yield TextDelta("Forty")
        raise ZeroDivisionError("[/red] by zero")


def notices(app: RoamApp, severity: Severity) -> list[str]:
    return [notice.text for notice in app.screen.query(NoticeView) if notice.severity is severity]


async def test_a_failing_model_is_told_and_the_next_question_works() -> None:
    app = make_app(
        [
            ScriptedReply(error=ModelError("Nothing answers there; check --api-base or choose one with --model.")),
            ScriptedReply(text="Forty."),
        ]
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "How many?")
        ending = app.screen.query(ExchangeView).last().render()
        assert isinstance(ending, Content)
        assert "✗ Nothing answers there; check the server's URL (f2) or choose one with f2." in " ".join(
            ending.plain.split()
        )
        await ask(pilot, "How many now?")
        assert app.main_screen.conversation.state.exchanges[-1].answer == "Forty."


async def test_an_unexpected_failure_of_a_worker_is_a_message_and_never_an_exit() -> None:
    app = make_app()
    app.main_screen.app_context.agent.model = BrokenModel()
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "How many?")
        await wait_until(pilot, lambda: bool(notices(app, Severity.ERROR)))
        (text,) = notices(app, Severity.ERROR)
        assert "ZeroDivisionError: [/red] by zero" in text
        assert "Traceback" not in text
        app.main_screen.app_context.agent.model = ScriptedModel([ScriptedReply(text="Forty.")])
        await ask(pilot, "And now?")
        assert app.main_screen.conversation.state.exchanges[-1].answer == "Forty."


async def test_links_jump_inside_ask_before_a_web_page_and_say_where_they_cannot_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    app = make_app()
    monkeypatch.setattr(app, "open_url", lambda url, **_given: opened.append(url))
    async with app.run_test(size=(160, 40)) as pilot:
        screen = app.main_screen
        library = screen.conversation.state.library
        starter = next(i for i in library.walk() if library.node(i).title == "Starter")
        steam = next(i for i in library.walk() if library.node(i).title == "Steam")
        await go_to(pilot, starter)
        await press_until(pilot, lambda: screen.reader_pane.section_id == steam, "escape", "enter", "enter", "o", "1")
        assert screen.conversation.state.reading_id == steam
        await press_until(pilot, lambda: screen.conversation.state.reading_id == starter, "backspace")
        await press_until(pilot, lambda: type(app.screen).__name__ == "ConfirmDialog", "o", "2")
        await pilot.press("n")
        await pilot.pause()
        assert opened == []
        await press_until(pilot, "No link 9 in view", "o", "9")
        await press_until(pilot, lambda: type(app.screen).__name__ == "ConfirmDialog", "o", "2")
        await pilot.press("y")
        await pilot.pause()
        assert opened == ["https://example.org/x"]


class DefectiveApp(RoamApp):
    """Fails where nobody catches it."""

    def on_ready(self) -> None:
        raise ZeroDivisionError


def test_a_defect_ends_the_app_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ROAMTUI_DEBUG", raising=False)
    context = make_context()
    app = DefectiveApp(context.options, context)
    monkeypatch.setattr(app, "run", partial(app.run, headless=True))
    assert run_until_exit(app) == 1
    told = capsys.readouterr().err
    assert told.startswith("roamtui: there was an internal error.")
    assert "ZeroDivisionError" not in told


@pytest.mark.parametrize("shown", ["asked", "demo", "other"])
def test_the_last_line_names_the_conversation_on_the_screen_if_it_is_saved(
    shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\n", "utf-8")
    model = RecordedModel(seconds_per_word=0) if shown == "demo" else None
    context = AppServices(Bootstrap()).open((str(EXAMPLE),), None, model)
    app = app_over(context)

    async def use(pilot: Pilot[Any]) -> None:
        conversation = context.conversation
        if shown == "demo":
            await wait_until(pilot, lambda: conversation.state.exchanges and not app.main_screen.is_asking)
        else:
            await ask(pilot, "When does the main counter open on Saturday?")
        if shown == "other":
            app.post_message(DocumentRequested(str(other)))
            await wait_until(pilot, lambda: len(app.documents) == 2 and app.screen is app.main_screen)
        app.exit()

    monkeypatch.setattr(app, "run", partial(app.run, headless=True, auto_pilot=use))
    assert run_until_exit(app) == 0
    named = f"To continue this conversation: roamtui --conversation {context.conversation.state.id}\n"
    assert capsys.readouterr().err == (named if shown == "asked" else "")
