"""Choosing colours and models."""

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.widgets import Input

from roamtui.bootstrap import Bootstrap
from roamtui.errors import RoamtuiError
from roamtui.launch import AppServices
from roamtui.models.base import Model
from roamtui.models.discovery import ModelOffer
from roamtui.settings import load_settings
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.pickers import ModelDialog
from roamtui.tui.themes import DEFAULT_THEME
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, openai_error
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options
from tests.tui.driving import RunningApp, make_app, running


def make_offering_app(**options: Any) -> RoamApp:  # noqa: ANN401 - see `make_options`
    other = ScriptedModel(["Other."], name="openai/[b]other")

    def make(name: str, _api_base: str | None) -> Model:
        if name == "broken":
            raise RoamtuiError("The key is gone.")
        return other

    offers = (
        ModelOffer(name="openai/[b]other", note="key found", provider="OpenAI"),
        ModelOffer(name="broken", note="key gone"),
    )
    return make_app(["First."], options=make_options(list_models=lambda: offers, make_model=make, **options))


async def test_another_model_is_used_only_after_a_yes() -> None:
    kept: list[Mapping[str, str]] = []
    async with running(make_offering_app(save_settings=kept.append), (100, 30)) as ui:
        before = ui.main.agent.model
        await ui.press("f2", "down", "enter")
        assert isinstance(ui.app.screen, ConfirmDialog)
        assert "openai/[b]other" in ui.text
        assert "OpenAI." in ui.text
        await ui.press("enter")
        assert ui.main.agent.model is before, "the button with the focus says no"
        await ui.press_until(lambda: ui.main.agent.model.name == "openai/[b]other", "enter", "y")
        await ui.press_until(lambda: ui.app.screen is ui.main, "y")
        assert kept == [{"model": "openai/[b]other", "api_base": ""}], "the URL of another model does not stay"
        assert "openai/[b]other" in ui.text
        await ui.ask("Who?")
        assert ui.exchanges[-1].answer == "Other."


async def test_while_a_server_takes_its_time_the_list_says_that_it_is_still_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roamtui.tui.screens.pickers._QUICK_SECONDS", 0.01)
    may_answer = Event()

    def discover() -> tuple[tuple[ModelOffer, ...], str]:
        assert may_answer.wait(60)
        return (ModelOffer(name="local", note="on this machine"),), "Found one"

    async with running(make_app(options=make_options(discover_models=discover)), (100, 30)) as ui:
        await ui.press_until("Still asking the model servers on this machine…", "f2")
        may_answer.set()
        await ui.wait_until("Found one")
        assert "on this machine" in ui.text


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


KEY = "sk-typed-for-this-run-alone"


async def name_model(ui: RunningApp, address: str) -> None:
    """Name a model, its address and a key, and try it."""
    await ui.press_until("Other model…", "f2")
    await ui.press_until(ModelDialog, *"other", "enter")
    for field, words in zip(ui.app.screen.query(Input), ("openai/tiny", address, KEY), strict=True):
        field.value = words
    assert KEY not in ui.text
    await ui.press_until(ConfirmDialog, "enter")


def _holds_key(folder: Path) -> bool:
    kept = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert kept
    return any(KEY.encode() in data for data in kept)


@pytest.mark.usefixtures("forked_models")
async def test_a_model_is_named_tried_with_one_token_used_and_kept_without_its_key(
    home_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-one-of-the-shell")
    app = make_app(options=AppServices(Bootstrap()).options)
    with FakeOpenAIServer(FakeReply(text="Yes"), FakeReply(text="Forty.")) as server:
        async with running(app, (100, 30)) as ui:
            await name_model(ui, server.url)
            await ui.press_until("Make this model the default?", "enter")  # the person has just typed its name
            assert KEY not in os.environ.values(), "editors and converters get no key that was typed"
            trial = server.requests[0]
            assert trial.headers["authorization"] == f"Bearer {KEY}"
            assert trial.body["max_tokens"] == 1
            assert "bakery" not in str(trial.body).lower(), "nothing of the document is sent"
            await ui.press_until(lambda: ui.main.status_line.model == "openai/tiny", "y")
            await ui.wait_until(lambda: load_settings().api_base == server.url)
            await ui.wait_until(lambda: load_settings().model == "openai/tiny")
            await ui.ask("How many loaves?")
            assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
            assert KEY not in os.environ.values()
    assert not _holds_key(home_dir)


@pytest.mark.usefixtures("forked_models")
async def test_what_a_tried_model_says_against_it_is_told_and_the_key_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-one-of-the-shell")
    options = AppServices(Bootstrap()).options
    app = make_app(options=options)
    refusal = FakeReply(status=401, error=openai_error(f"Incorrect API key provided: {KEY}", code="invalid_api_key"))
    with FakeOpenAIServer(refusal) as server:
        async with running(app, (100, 30)) as ui:
            before = ui.main.agent.model
            await name_model(ui, server.url)
            await ui.press_until("does not accept the key", "y")
            assert KEY not in ui.text
            assert options.services.typed_keys == {}
            assert os.environ["OPENAI_API_KEY"] == "sk-the-one-of-the-shell"
            values = [field.value for field in ui.app.screen.query(Input)]
            assert values == ["openai/tiny", server.url, KEY], "what was typed can be corrected"
            await ui.press_until(lambda: ui.app.screen is ui.main, "escape", "escape")
            assert ui.main.agent.model is before


@pytest.mark.usefixtures("forked_models")
async def test_a_typed_key_is_used_for_other_models_of_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    app = make_app(options=AppServices(Bootstrap()).options)
    with FakeOpenAIServer(FakeReply(text="Yes")) as server:
        async with running(app, (100, 30)) as ui:
            await name_model(ui, server.url)
            await ui.press_until("Make this model the default?", "y")
            await ui.press_until(lambda: ui.app.screen is ui.main, "n")
            await ui.press_until("OPENAI_API_KEY is set", "f2", *"gpt")


@pytest.mark.usefixtures("forked_models")
async def test_a_missing_key_is_told_before_anybody_is_asked_to_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    async with running(make_app(options=AppServices(Bootstrap()).options), (60, 20)) as ui:
        await ui.press_until("needs MISTRAL_API_", "f2", *"mistral")
        await ui.press_until(ModelDialog, "enter")
        await ui.press_until("mistral/mistral-large-latest cannot be used:", "enter")
        assert isinstance(ui.app.screen, ModelDialog)
        assert "esc to cancel" in ui.text, "the sentence leaves room for the keys"
        ui.app.screen.query_one("#model-name", Input).value = ""
        await ui.press_until("Type the name of a model, such as", "enter")


async def test_a_name_that_is_not_in_the_list_is_kept_for_the_fields_of_another_model() -> None:
    async with running(make_offering_app(), (100, 30)) as ui:
        await ui.press_until("not in the list; enter its URL and key", "f2", *"mine/big")
        await ui.press_until(ModelDialog, "enter")
        assert ui.app.screen.query_one("#model-name", Input).value == "mine/big"
