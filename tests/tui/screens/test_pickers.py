"""Choosing colours and models."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from urllib.parse import urlsplit

import pytest

from roamtui.bootstrap import Bootstrap
from roamtui.launch import AppServices
from roamtui.models.discovery import ModelOffer
from roamtui.settings import Settings, load_settings
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.themes import DEFAULT_THEME
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, openai_error
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import make_options
from tests.tui.driving import RunningApp, make_app, running


async def test_another_model_is_used_only_after_a_yes() -> None:
    kept: list[Mapping[str, str]] = []
    other = ScriptedModel(["Other."], name="openai/[b]other")
    options = make_options(
        list_models=lambda: (ModelOffer(name=other.name, note="key found", provider="OpenAI"),),
        make_model=lambda *_, **__: other,
        save_settings=kept.append,
    )
    async with running(make_app(["First."], options=options), (100, 30)) as ui:
        before = ui.main.agent.model
        await ui.press("f2", "down", "enter")
        assert isinstance(ui.app.screen, ConfirmDialog)
        assert "openai/[b]other" in ui.text
        assert "OpenAI." in ui.text
        await ui.press("enter")
        assert ui.main.agent.model is before, "the button with the focus says no"
        await ui.press_until("Make this model the default?", "enter", "y")
        await ui.press_until(lambda: ui.main.agent.model.name == "openai/[b]other", "y")
        await ui.wait_until(lambda: ui.app.screen is ui.main)
        assert kept == [{"model": "openai/[b]other", "api_base": ""}], "the URL of another model does not stay"
        assert "openai/[b]other" in ui.text
        await ui.ask("Who?")
        assert ui.exchanges[-1].answer == "Other."


async def test_a_chosen_theme_is_kept_and_one_that_was_only_looked_at_is_not() -> None:
    kept: list[tuple[str, str]] = []
    app = make_app(options=make_options(save_settings=lambda values: kept.extend(values.items())))
    async with running(app, (100, 30)) as ui:
        await ui.press_until(lambda: ui.app.theme == "beacon", "f3", *"beac")
        await ui.press_until(lambda: ui.app.theme == DEFAULT_THEME, "escape")
        await ui.press("f3", "enter")
        assert kept == []
        await ui.press("f3", *"beac", "enter")
        await ui.wait_until(lambda: kept == [("theme", "beacon")] and ui.app.theme == "beacon")


async def test_a_typed_name_that_begins_a_listed_one_is_a_choice() -> None:
    listed = (ModelOffer(name="openai/gpt-mini", note="key found", provider="OpenAI"),)
    made: list[str] = []

    def make(name: str, _api_base: str | None, **_: object) -> ScriptedModel:
        made.append(name)
        return ScriptedModel(name=name)

    options = make_options(list_models=lambda: listed, make_model=make)
    async with running(make_app(options=options), (100, 30)) as ui:
        for typed, chosen in (("mini", listed[0].name), (listed[0].name, listed[0].name), ("openai/gpt", "openai/gpt")):
            await ui.press("f2", *typed)
            assert ("not in the list" in ui.text) is (typed != listed[0].name)
            await ui.press_until(ConfirmDialog, "enter")
            assert made.pop() == chosen
            await ui.press("n", "escape")


KEY = "sk-of-the-environment"


async def choose_typed(ui: RunningApp, server: FakeOpenAIServer) -> None:
    """Type the name of a model, and agree to use it."""
    await ui.press_until("not in the list", "f2", *"openai/tiny")
    await ui.press_until(ConfirmDialog, "enter")
    await ui.wait_until(lambda: "will be sent to OpenAI." in ui.words)
    assert server.requests == []
    await ui.press("y")


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, *replies: FakeReply) -> Iterator[FakeOpenAIServer]:
    with FakeOpenAIServer(*replies) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        yield server


@pytest.mark.usefixtures("forked_models")
async def test_a_typed_model_is_tried_with_one_token_used_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(options=AppServices(Bootstrap()).options)
    with serving(monkeypatch, FakeReply(text="Yes"), FakeReply(text="Forty.")) as server:
        async with running(app, (100, 30)) as ui:
            await choose_typed(ui, server)
            await ui.wait_until("Make this model the default?")
            trial = server.requests[0]
            assert trial.body["max_tokens"] == 1
            assert "bakery" not in str(trial.body).lower(), "nothing of the document is sent"
            await ui.press_until(lambda: ui.main.agent.model.name == "openai/tiny", "y")
            await ui.wait_until(lambda: load_settings().model == "openai/tiny")
            await ui.ask("How many loaves?")
            assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_models_that_are_found_late_leave_the_message_of_a_test() -> None:
    found = Event()

    def discover() -> tuple[tuple[ModelOffer, ...], str]:
        found.wait()
        return (ModelOffer(name="ollama/late", note="here"),), "Found Ollama"

    tested = ScriptedModel([ScriptedReply(text="Yes", gate=asyncio.Event())], name="openai/tiny")
    options = make_options(discover_models=discover, make_model=lambda *_, **__: tested)
    async with running(make_app(options=options), (100, 30)) as ui:
        await ui.press_until("not in the list", "f2", *"openai/tiny")
        await ui.press_until(ConfirmDialog, "enter")
        await ui.press_until("Testing openai/tiny", "y")
        found.set()
        await ui.wait_until(lambda: not any(worker.name == "_add_discovered" for worker in ui.app.workers))
        assert "Testing openai/tiny" in ui.text


@pytest.mark.usefixtures("forked_models")
async def test_a_typed_model_is_asked_at_the_server_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch, FakeReply(text="Yes")) as server:
        monkeypatch.delenv("OPENAI_API_BASE")
        settings = Settings(api_base=server.url)
        bootstrap = Bootstrap(settings=settings, overridden_keys=frozenset({"api_base"}))
        async with running(make_app(options=AppServices(bootstrap).options), (100, 30)) as ui:
            await ui.press_until("not in the list", "f2", *"openai/tiny")
            await ui.press_until(ConfirmDialog, "enter")
            await ui.wait_until(lambda: f"will be sent to {urlsplit(server.url).netloc}." in ui.words)
            await ui.press("y")
            await ui.wait_until("Make this model the default?")
        assert len(server.requests) == 1


@pytest.mark.usefixtures("forked_models")
async def test_what_a_tried_model_says_against_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    error = openai_error(f"Incorrect API key provided: {KEY}", code="invalid_api_key")
    app = make_app(options=AppServices(Bootstrap()).options)
    with serving(monkeypatch, FakeReply(status=401, error=error)) as server:
        async with running(app, (100, 30)) as ui:
            before = ui.main.agent.model
            await choose_typed(ui, server)
            await ui.wait_until("does not accept the key")
            assert KEY not in ui.text
            await ui.press_until(lambda: ui.app.screen is ui.main, "escape")
            assert ui.main.agent.model is before


@pytest.mark.usefixtures("forked_models")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("mistral", "needs MISTRAL_API_KEY. Set it, and start roamtui again."),
        ("openai/tiny", "OpenAI needs a key in the environment variable OPENAI_API_KEY."),
        ("nobody/tiny", "does not start with a provider that roamtui knows."),
        ("HTTP://localhost:1/v1", "is a URL, not the name of a model. Start roamtui with"),
    ],
)
async def test_what_a_model_lacks_is_told_before_consent_is_asked(
    monkeypatch: pytest.MonkeyPatch, name: str, problem: str
) -> None:
    for variable in ("MISTRAL_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    async with running(make_app(options=AppServices(Bootstrap()).options), (100, 30)) as ui:
        await ui.press_until(lambda: ui.field.value == name, "f2", *name)
        await ui.press("enter")
        await ui.wait_until(lambda: problem in ui.words or isinstance(ui.app.screen, ConfirmDialog))
        assert not isinstance(ui.app.screen, ConfirmDialog)
        assert "--model" not in ui.text
