"""Search by meaning with one key: what is offered, sent and told, and that search by words goes on if it fails."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from textual.pilot import Pilot

from roamtui.document.source_loader import build_library
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import RetrievalOptions
from roamtui.search_setup import make_keyword_searcher, propose_semantic_search
from roamtui.settings import Settings
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import TuiOptions
from roamtui.tui.screens.find import FindDialog
from roamtui.tui.screens.semantic_search import SemanticSearchDialog
from tests.fakes.model_servers import FakeEmbeddingServer
from tests.tui.driving import TEXT, make_context, run, running, screen_text, wait_until

pytestmark = pytest.mark.usefixtures("forked_models")
MODELS = ("llama3.2:latest", "nomic-embed-text:latest")
LONG = TEXT + "".join(f"\n## Loaf {number}\n\nLoaf number {number} is rye.\n" for number in range(90))
"""More passages than go into one request."""


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEmbeddingServer]:
    with FakeEmbeddingServer(models=MODELS) as server:
        monkeypatch.setenv("OLLAMA_API_BASE", server.origin)
        yield server


def make_options(**retrieval: Any) -> TuiOptions:  # noqa: ANN401 - fields of RetrievalOptions
    settings = Settings(retrieval=RetrievalOptions(**retrieval))
    return TuiOptions(
        propose_semantic_search=partial(propose_semantic_search, settings),
        make_keyword_searcher=partial(make_keyword_searcher, settings),
    )


@asynccontextmanager
async def offering(
    text: str = TEXT, size: tuple[int, int] = (120, 35), **retrieval: object
) -> AsyncIterator[tuple[RoamApp, Pilot[None]]]:
    """Run the app with a searcher by words, and press the key."""
    context = make_context(text=text, options=make_options(**retrieval))
    context.agent.searcher = KeywordSearcher(context.agent.conversation.state.library)
    async with running(RoamApp(context), size) as (app, pilot):
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: isinstance(app.screen, SemanticSearchDialog))
        await wait_until(pilot, lambda: "Looking for" not in screen_text(app))
        yield app, pilot


def words_of(app: RoamApp) -> str:
    """Return the words in the dialog, wherever its lines end."""
    rows = (line.split("│") for line in screen_text(app).split("\n"))
    return " ".join(" ".join(row[1] for row in rows if len(row) > 2).split())


def uses_vectors(app: RoamApp) -> bool:
    searcher = app.app_context.agent.searcher
    return searcher is not None and searcher.uses_vectors


@pytest.mark.parametrize("size", [(120, 35), (60, 20)])
async def test_nothing_is_sent_before_it_is_told_what_goes_where(
    ollama: FakeEmbeddingServer, size: tuple[int, int]
) -> None:
    async with offering(size=size) as (app, pilot):
        words = words_of(app)
        for said in (
            "ollama/nomic-embed-text (found in Ollama",
            "stays on this machine: the text of this document",
            "Cost none",
            "/search-by-meaning again",
            'mode = "hybrid" embedder = "ollama/nomic-embed-text"',
            "enter to start, esc to cancel",
        ):
            assert said in words
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
        assert (ollama.listed, ollama.requests) == (1, [])
        assert not uses_vectors(app)


async def test_find_gets_results_by_meaning_and_the_key_again_takes_them_away(ollama: FakeEmbeddingServer) -> None:
    async with offering() as (app, pilot):
        await pilot.press("escape", "ctrl+f", *"breadoven")
        await wait_until(pilot, lambda: isinstance(app.screen, FindDialog) and "Meaning" not in screen_text(app))
        await pilot.press("escape")
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: "enter to start" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "is on · /search-by-meaning switches it off" in screen_text(app))
        assert any("stone oven takes forty loaves" in text for text in ollama.texts)
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: "Meaning · closest first" in screen_text(app))
        assert ollama.texts[-1] == "breadoven"
        sent = len(ollama.texts)
        await pilot.press("escape")
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: "Search by meaning is off" in screen_text(app))
        assert not uses_vectors(app)
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: "no text now, because all of it was embedded before" in words_of(app))
        assert len(ollama.texts) == sent


async def test_indexing_shows_its_progress_until_it_is_cancelled(ollama: FakeEmbeddingServer) -> None:
    ollama.held_after = 1
    async with offering(LONG) as (app, pilot):
        await pilot.press("enter")
        await wait_until(pilot, lambda: "64 of " in screen_text(app))
        assert "passages indexed · esc cancels" in screen_text(app)
        assert isinstance(app.app_context.agent.searcher, KeywordSearcher)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "Indexing cancelled · /search-by-meaning continues" in screen_text(app))
        assert app.focused is app.main_screen.question_box
        ollama.gate.set()
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: "enter to start" in screen_text(app))
        assert isinstance(app.app_context.agent.searcher, KeywordSearcher)
        assert len(ollama.requests) == 2


async def test_a_server_that_dies_leaves_search_by_words_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeEmbeddingServer(models=MODELS) as ollama:
        monkeypatch.setenv("OLLAMA_API_BASE", ollama.origin)
        ollama.held_after = 1
        async with offering(LONG) as (app, pilot):
            await pilot.press("enter")
            await wait_until(pilot, lambda: "64 of " in screen_text(app))
            ollama.__exit__(None, None, None)
            await wait_until(pilot, lambda: "Search stays by words:" in screen_text(app))
            assert "--embedder" not in screen_text(app)
            assert "passages indexed" not in screen_text(app)
            assert isinstance(app.app_context.agent.searcher, KeywordSearcher)


async def test_without_an_embedder_or_numpy_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9")
    find_spec, missing = importlib.util.find_spec, {"model2vec"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find_spec(name))
    async with offering() as (app, pilot):
        shown = words_of(app)
        assert 'No embedder found: install model2vec with: pip install "roamtui[meaning]", install Ollama' in shown
        assert 'run "ollama pull nomic-embed-text"' in words_of(app)
        await pilot.press("enter", "escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
        missing.add("numpy")
        await run(pilot, "global.search_by_meaning")
        await wait_until(pilot, lambda: 'Install it with: pip install "roamtui[vectors]"' in words_of(app))


async def test_a_document_that_is_reloaded_meanwhile_is_indexed_as_it_is_now(ollama: FakeEmbeddingServer) -> None:
    ollama.held_after = 1
    async with offering(LONG) as (app, pilot):
        await pilot.press("enter")
        await wait_until(pilot, lambda: "64 of " in screen_text(app))
        text = LONG + "\n## Kangaroos\n\nThey hop at night.\n"
        grown = build_library(RawText(text=text, source="bakery.md", name="bakery"))
        await app.main_screen.conversation.reload(grown)
        ollama.gate.set()
        await wait_until(pilot, lambda: "Search by meaning is on" in screen_text(app))
        hits = await app.main_screen.agent.search("kangaroohopping", 1)
        assert [grown.title_of(hit.section_id) for hit in hits] == ["Kangaroos"]
        assert len(ollama.texts) == len(set(ollama.texts))
