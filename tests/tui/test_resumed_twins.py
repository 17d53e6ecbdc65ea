"""A conversation comes back from its log alone: the same lines in the same colours, the same export and request."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent, AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Usage
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import OpenSectionOptions
from roamtui.document.loader import build_library
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import RawText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.fakes.services import app_over, context_of
from tests.tui.driving import TEXT, RunningApp, expand, running

_SIZE = (100, 120)
_PRICE = Usage(input_tokens=1_000, output_tokens=50, cached_tokens=200, cost_usd=0.0123, source="provider")


@pytest.fixture
def stores(tmp_path: Path) -> tuple[ConversationStore, ConversationStore]:
    return ConversationStore(tmp_path / "conversations"), ConversationStore(tmp_path / "copy")


_LIBRARY = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
_IDS = {_LIBRARY.node(section_id).title: section_id for section_id in _LIBRARY.walk()}

_QUOTES = {
    "Ovens": "There are two ovens, and both are lit at three.",
    "Stone oven": "The stone oven takes forty loaves.",
    "Steam": "Steam is let in for the first eight minutes.",
    "Starter": "Feed the starter with 200 g of rye at six and at noon.",
}


def _answer(title: str, lead: str = "So:") -> ScriptedReply:
    """Return an answer that quotes a section, so that it is taken for one."""
    return ScriptedReply(text=f"{lead} “{_QUOTES[title]}” [{_IDS[title]}]", usage=_PRICE)


class _Twins:
    """A conversation in an app, and the same one taken up again in another, where there is but its log."""

    def __init__(
        self, stores: tuple[ConversationStore, ConversationStore], keep: OpenSectionOptions | None = None
    ) -> None:
        self._store, self._other = stores
        self._keep = keep

    @asynccontextmanager
    async def play(self, *replies: Reply, options: AgentOptions | None = None) -> AsyncIterator[RunningApp]:
        """Run the live app; when this ends, assert that its twin shows, exports and asks the same."""
        session = Conversation(_LIBRARY, store=self._store, options=self._keep)
        live = self._make_app(session, replies, options)
        async with running(live, _SIZE) as ui:
            yield ui
            await _unfold_steps(ui)
            shown, status = _picture(live), _count_status(live)
        log = f"{session.state.id}.jsonl"
        self._other._folder.mkdir()
        (self._other._folder / log).write_bytes((self._store._folder / log).read_bytes())
        again = Conversation(_LIBRARY, saved_id=session.state.id, store=self._other, options=self._keep)
        twin = self._make_app(again, (), options)
        async with running(twin, _SIZE) as ui:
            await ui.wait_until(lambda: twin.main_screen.chat_log.current is not None)
            await _unfold_steps(ui)
            assert _picture(twin) == shown
            assert _count_status(twin) == status
        assert _export(again) == _export(session)
        assert await _ask_next(again) == await _ask_next(session)

    def _make_app(self, session: Conversation, replies: Iterable[Reply], options: AgentOptions | None) -> RoamApp:
        searcher = KeywordSearcher(session.state.library)
        return app_over(context_of(Agent(session, ScriptedModel(replies), searcher, options)))


def _export(session: Conversation) -> tuple[str, str]:
    assert session.store is not None
    saved = session.store.load(session.state.id)
    return render_markdown(saved, "bakery.md"), render_json(saved, "bakery.md")


async def _ask_next(session: Conversation) -> ModelRequest:
    """Return what is sent of one more question."""
    model = ScriptedModel([_answer("Steam")])
    await Agent(session, model, KeywordSearcher(session.state.library)).ask("What now?")
    return model.requests[0]


def _picture(app: RoamApp) -> list[str]:
    chat = app.main_screen.chat_log
    app.screen.set_focus(None)
    lines = app.screen._compositor.render_strips()
    region = chat.region
    strips = [lines[y].crop(region.x, region.right) for y in range(region.y, region.bottom)]
    return [" ".join(f"{part.text!r}{part.style}" for part in strip.simplify()) for strip in strips]


def _words(ui: RunningApp) -> str:
    """Return what the chat says, as if it had one line."""
    app = ui.app
    lines = app.screen._compositor.render_strips()
    region = app.main_screen.chat_log.region
    return " ".join(" ".join(line.crop(region.x, region.right).text.split()) for line in lines)


async def _unfold_steps(ui: RunningApp) -> None:
    for view in ui.app.screen.query(ExchangeView):
        if view._is_folded:
            view.fold_steps()
    await ui.pause()


async def _check_words(ui: RunningApp, *expected: str) -> None:
    await _unfold_steps(ui)
    words = _words(ui)
    assert [text for text in expected if text not in words] == []


def _count_status(app: RoamApp) -> tuple[object, ...]:
    state = app.main_screen.conversation.state
    return tuple(state.open_sections), state.unfolded, sum((e.usage for e in state.exchanges), Usage())


def _search(query: str) -> ScriptedReply:
    return ScriptedReply(text=f"Let me search for {query}.", calls=(("search_sections", {"query": query}),))


async def test_what_the_agent_did_and_what_its_quotes_are_worth(
    stores: tuple[ConversationStore, ConversationStore],
) -> None:
    stone, steam = _IDS["Stone oven"], _IDS["Steam"]
    quotes = (
        f"“The stone oven takes forty loaves.” [{stone}] “It must rest for *one* hour” [{stone}] "
        f"“It takes fifty loaves a day.” [{stone}] “Steam is let in for the first eight minutes.” [{stone}] "
        f"See [{steam}]."
    )
    replies = (
        expand(stone, _IDS["Dough"], _IDS["Starter"], "0badc0de"),
        expand(stone, steam),
        ScriptedReply(text=quotes, reason="length"),
        _search("oven loaves"),
        _search("zeppelin"),
        _answer("Stone oven"),
        "I know this: forty.",
        ScriptedReply(text="Hm.", calls=(("no_tool", "{"),)),
        expand(_IDS["Deck oven"]),
        ScriptedReply(text="Out of steps.", calls=(("expand_sections", {"section_ids": [steam]}),)),
    )
    async with _Twins(stores).play(*replies, options=AgentOptions(steps_max=4)) as ui:
        for question in ("How many loaves?", "How many loaves does the oven take?", "Why?"):
            await ui.ask(question)
        await _check_words(
            ui,
            *("Opened 2 sections", "Already open", "Unknown: 1 section", "Already open"),
            *("✓", "these words are in", "not in the text that the model read", "cut off here"),
            *("1 ✓ Stone oven", "no results", "Asked the model for quotes", "step limit"),
        )


async def test_retried_and_edited_questions_an_undone_batch_and_closings(
    stores: tuple[ConversationStore, ConversationStore],
) -> None:
    replies = (
        expand(_IDS["Ovens"], _IDS["Dough"]),
        _answer("Ovens"),
        expand(_IDS["Steam"]),
        _answer("Steam"),
        expand(_IDS["Starter"]),
        _answer("Starter", "Again:"),
        expand(_IDS["Stone oven"]),
        _answer("Stone oven", "Otherwise:"),
    )
    async with _Twins(stores, OpenSectionOptions(budget_tokens=30)).play(*replies) as ui:
        main = ui.app.main_screen
        await ui.ask("First?")
        await ui.ask("Second?")
        await _check_words(ui, "to make room for others", "$0.0123")
        await ui.ask_again()
        await ui.wait_until(lambda: main.conversation.state.exchanges[-1].answer.startswith("Again:"))
        await ui.wait_until(lambda: not main.is_asking)
        before = tuple(main.conversation.state.open_sections)
        ui.focus(Scope.TREE)
        await ui.press_until(lambda: tuple(main.conversation.state.open_sections) != before, "u")
        main.chat_log.action_edit()
        await ui.pause()
        main.question_box.fill("Third?")
        main.question_box.focus()
        await ui.press_until(lambda: main.conversation.state.exchanges[-1].answer.startswith("Otherwise:"), "enter")
        await ui.wait_until(lambda: not main.is_asking)
