"""From the first paint to the end: what is started, kept, put into the background, and let go of."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from weakref import ref

import pytest
from textual.pilot import Pilot
from textual.strip import Strip
from typing_extensions import override

from roamtui.agent.loop import AgentOptions
from roamtui.conversation.events import StopReason, Usage
from roamtui.conversation.state import Exchange
from roamtui.document.loader import build_library
from roamtui.models.base import Model
from roamtui.search.base import Progress
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.agent.asking import FakeSearcher
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import (
    TEXT,
    ask,
    expand,
    find_id,
    make_app,
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
        await press_until(pilot, "$0.50 of $0.40 spent", "enter")
        await press_until(pilot, lambda: not app.main_screen.is_asking, key)
        assert app.main_screen.conversation.state.exchanges[-1].stopped is stopped


async def test_the_editor_gets_the_file_and_the_line_and_may_fail_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bakery.md"
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
        await press_until(pilot, "Could not start", "G", "k", "3", "e")
        assert resumed == [True]
        monkeypatch.setenv("EDITOR", "vim")
        monkeypatch.setattr("subprocess.run", lambda command, **_given: called.append(command))
        await press_until(pilot, lambda: len(resumed) == 2, "e")
    line = TEXT.splitlines().index("### Starter") + 1
    assert called == [["vim", f"+{line}", str(file)]]


async def begin_anew(pilot: Pilot[None], app: RoamApp) -> None:
    first_id = app.main_screen.conversation.state.id
    await press_until(pilot, lambda: app.main_screen.conversation.state.id != first_id, "ctrl+n")
    await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.group != "keys"))
    await pilot.pause()


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
        await begin_anew(pilot, app)
        model.requests.clear()
        gc.collect()
        assert [held for held in (weak() for weak in left) if held is not None] == []
        exchanges = [held for held in gc.get_objects() if type(held) is Exchange]
        assert [held for held in exchanges if held.question == "How long is steam let in?"] == []
        lines = [held.text for held in gc.get_objects() if type(held) is Strip]
        assert [line for line in lines if "Steamed for" in line] == []
