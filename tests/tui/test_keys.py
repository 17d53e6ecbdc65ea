"""Keys: those typed at once go where they would have gone one by one, and what is typed into a text field is text."""

import threading
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, TextArea
from typing_extensions import override

from roamtui.conversation.log import ConversationStore, ConversationSummary
from roamtui.errors import ModelError, SourceError
from roamtui.tui.actions import make_keymap
from roamtui.tui.app import RoamApp
from roamtui.tui.screen_words import format_error
from roamtui.tui.screens.conversations import ConversationsDialog
from roamtui.tui.screens.help import HelpDialog
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import app_over, make_options
from tests.tui.driving import RunningApp, make_app, make_session, running
from tests.tui.opening import Opener


async def test_a_key_is_never_lost_where_the_widget_before_it_goes_away() -> None:
    async with running(make_app()) as ui:
        ui.type_at_once(*(["ctrl+p", "escape"] * 8), *"abc")
        await ui.wait_until(lambda: ui.box.text == "abc")


async def test_keys_typed_ahead_wait_for_the_list_that_they_act_on(tmp_path: Path) -> None:
    gate = threading.Event()

    class SlowStore(ConversationStore):
        @override
        def list(self) -> tuple[ConversationSummary, ...]:
            gate.wait()
            return super().list()

    async with running(make_app(["Forty."], store=SlowStore(tmp_path))) as ui:
        await ui.ask("How many loaves?")
        ui.type_at_once("f4", "e", *"dew", "enter")
        await ui.wait_until(ConversationsDialog)
        await ui.pause()
        gate.set()
        await ui.wait_until("Renamed to “dew”")


TYPED = "3123 /?BCEGNUZabdefghijklmnopqrstuvwxyz.<>[]{}"
FIELDS = {
    "question": (),
    "find": ("ctrl+f",),
    "open": ("ctrl+o",),
    "conversations": ("f4", "/"),
    "words of a note": ("tab", "b"),
    "name of a model": ("f2",),
}
OWN_KEYS = {
    "global.reload": "e",
    "global.choose_theme": "u",
    "global.quit": "1",
    "global.next_match": "2",
}
"""Printable keys for actions that go before what the focused widget makes of a key."""


def field_of(ui: RunningApp) -> Input | TextArea | None:
    focused = ui.app.focused
    return focused if isinstance(focused, Input | TextArea) else None


def read_field(field: Input | TextArea | None) -> str:
    assert field is not None
    return field.value if isinstance(field, Input) else field.text


@pytest.mark.parametrize("way", FIELDS.values(), ids=FIELDS)
async def test_every_key_that_prints_is_typed(store: ConversationStore, way: tuple[str, ...]) -> None:
    session = make_session(["Forty."], options=make_options(keys=OWN_KEYS), store=store)
    async with running(RoamApp(Opener().opening, session), (120, 35)) as ui:
        await ui.ask("How many loaves?")
        for key in way:
            await ui.press(key)
        await ui.wait_until(lambda: field_of(ui) is not None)
        field = field_of(ui)
        stack = list(ui.app.screen_stack)
        assert field is not None
        (field.clear if isinstance(field, Input) else lambda: field.load_text(""))()
        ui.type_at_once(*TYPED)
        await ui.wait_until(lambda: len(read_field(field)) >= len(TYPED))
        assert (field_of(ui), list(ui.app.screen_stack)) == (field, stack)
        assert read_field(field) == TYPED


async def test_a_key_with_alt_is_not_typed_and_may_be_a_persons_own_anywhere() -> None:
    async with running(app_over(make_session())) as ui:
        for key in ("alt+1", "alt+x", "alt+shift+b"):
            ui.app.post_message(events.Key(key, key[-1]))  # as terminals send it: with the character
        await ui.press("1")
        assert (ui.box.text, ui.main.focused) == ("1", ui.box)
    options = make_options(keys={"global.go_tree": "alt+1"})
    async with running(app_over(make_session(options=options))) as ui:
        ui.app.post_message(events.Key("alt+1", "1"))
        await ui.wait_until(lambda: ui.main.focused is ui.outline)
        assert ui.box.text == ""


async def test_a_persons_own_key_opens_and_closes_the_list_of_keys() -> None:
    session = make_session(options=make_options(keys={"global.help": "f9"}))
    async with running(app_over(session)) as ui:
        await ui.press_until(HelpDialog, "f9")
        await ui.press_until(lambda: ui.app.screen is ui.main, "f9")


def test_a_name_that_looks_like_a_flag_stays_in_an_error() -> None:
    words = "Could not read /tmp/llm--model-card.md or --model-card.md."
    assert format_error(SourceError(words), make_keymap()) == words


@pytest.mark.parametrize(("own", "named"), [("f9", "f9"), ("", "“Model” in the")])
async def test_an_error_names_a_persons_own_key_or_the_command(own: str, named: str) -> None:
    session = make_session(options=make_options(keys={"global.choose_model": own}))
    async with running(app_over(session), (160, 35)) as ui:
        await ui.ask("Where?", ScriptedReply(error=ModelError("No tea. Choose another model with --model.")))
        assert f"Choose another model with {named}" in ui.text
