"""The lines at the foot of the screen: hints, and a message that stands in their place until the next key or click."""

import asyncio
import errno
import math
from pathlib import Path

import pytest
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.widget import Widget

from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import build_library
from roamtui.errors import ModelError, UsageError
from roamtui.sources.read import RawText
from roamtui.tui.actions import PANES, Scope, format_keys
from roamtui.tui.app import RoamApp
from roamtui.tui.screen_words import format_error
from roamtui.tui.screens.find import FindDialog
from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.status_line import HintLine, MessageLine
from tests.anomalies.faulty_disk import FaultyDisk
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import make_options
from tests.tui.driving import make_app, running

_NOTHING = "Nothing to copy or stop. Press ctrl+q to quit."


def tell(app: RoamApp) -> list[str]:
    """Return the messages that stand on any screen."""
    return [str(line.render()) for screen in app.screen_stack for line in screen.query(MessageLine)]


async def test_a_message_stands_in_place_of_the_hints_until_the_next_key() -> None:
    async with running(make_app(), (120, 30), notifications=True) as ui:
        await ui.wait_until(lambda: ui.chat.region.x > 0 and "ctrl+q" in ui.text)

        def list_places() -> dict[Widget, Region]:
            shown = ui.main.panes.walk_children(Widget)
            return {pane: pane.region for pane in shown if pane.region.area}

        places = list_places()
        hints = ui.rows[-1]
        await ui.press_until(lambda: tell(ui.app) == [_NOTHING], "ctrl+c")
        assert ui.rows[-1].strip() == _NOTHING
        assert list_places() == places
        await ui.press_until(lambda: not tell(ui.app) and ui.main.query_one(HintLine).display, "tab")
        await ui.press_until(lambda: ui.rows[-1] == hints, "shift+tab")


async def test_a_document_from_standard_input_has_this_name_in_the_header() -> None:
    library = build_library(RawText(text="# Fees\n", source="-", name="standard input"))
    async with running(make_app(library=library)) as ui:
        assert "standard input  ctrl+o open" in ui.rows[0]


async def test_where_the_app_cannot_be_suspended_the_key_says_so() -> None:
    async with running(make_app(), notifications=True) as ui:
        await ui.press_until("roamtui cannot go into the background here.", "escape", "ctrl+z")


async def test_a_command_in_a_message_is_called_as_the_program_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.program._find_folder", lambda: "/x/bin/")
    advice = "`roamtui a`, pip install b"
    located = "`/x/bin/roamtui a`, /x/bin/pip install b"
    failing = ScriptedReply(error=ModelError(advice))
    async with running(make_app([failing, failing]), (160, 40)) as ui:
        ui.app.notify(advice)
        await ui.wait_until(located)
        await ui.press_until(lambda: located not in ui.text, "down")
        ui.chat.add_notice(advice)
        await ui.wait_until(located)
        await ui.press("ctrl+n")
        await ui.ask("How many?")
        await ui.wait_until(located)
        await ui.press_until(FindDialog, "ctrl+f")
        assert isinstance(ui.app.screen, FindDialog)
        ui.app.screen.show_message(format_error(UsageError(advice)))
        await ui.wait_until(located)
        assert "/x/bin//x/bin" not in ui.text


async def test_no_pane_behind_a_dialog_names_a_key_of_its_own(store: ConversationStore) -> None:
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.", gate=gate)], store=store), (120, 35)) as ui:
        await ui.send("How many?", "ctrl+c stops")
        await ui.focus(Scope.CHAT).press_until("all help", "f1")
        before = ui.text
        keys = ("q ask", "enter show", "ctrl+q quit", "ctrl+o open", "f4 conversations", "ctrl+c stops", "tab Outline")
        for key in ("ctrl+f", "f6", "ctrl+p"):
            await ui.press(key)
            await ui.wait_until(lambda: ui.app.screen is not ui.main)
            await ui.wait_until(lambda: not [name for name in keys if name in ui.text])
            await ui.press_until(lambda: ui.app.screen is ui.main, "escape")
        await ui.wait_until(lambda: all(name in ui.text for name in keys if name in before))
        await ui.open_gate(gate)


async def test_a_click_on_a_hint_does_what_its_key_does() -> None:
    async with running(make_app(), (120, 30)) as ui:
        await ui.press("escape", "j")
        await ui.click_on("a open")
        await ui.wait_until(lambda: bool(ui.state.open_sections))
        await ui.click_on("f1 keys")
        await ui.wait_until("all help")
        await ui.click_on("all help")
        await ui.wait_until(HelpDialog)
        await ui.wait_until("esc to clear or close")
        await ui.click_on("esc to clear or close")
        await ui.wait_until(lambda: ui.app.screen is ui.main)


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"global.find": ("/", "ctrl+f"), "global.help": ("?", "f1"), "global.choose_model": ("m",)},
        {"global.help": ("?",), "input.page_down": ("ctrl+e",), "global.find": ("f9",)},
    ],
)
async def test_each_hint_names_a_key_that_works_where_the_focus_is(own: dict[str, tuple[str, ...]]) -> None:
    async with running(make_app(["Forty."], options=make_options(keys=own)), (200, 40)) as ui:
        keys = ui.main.keys
        by_name = {name: key for action in keys.actions for key in action.keys for name in format_keys((key,))}
        await ui.ask("How many?")
        hints = ui.main.query_one(HintLine)
        for text, scope in ((text, scope) for text in ("", "typed") for scope in (Scope.INPUT, *PANES)):
            ui.box.fill(text)
            ui.focus(scope)
            await ui.wait_until(lambda scope=scope: hints.scope is scope)  # type: ignore[misc]
            here, always = hints.list_hinted()
            active = ui.main.active_bindings
            for action in (*here, *always, *keys.list_main_actions(scope)):
                name = action.hint_keys[0]
                key = by_name.get(name, name.partition("-")[0])
                bound = active[_character_to_key(key) if len(key) == 1 else key].binding.action
                assert bound.rpartition(".")[2] == action.call.rpartition(".")[2], (scope, action.id)


@pytest.mark.parametrize(
    ("tokens", "parameters", "window", "size"),
    [
        (8_192, 500_000_000, "8k window", ", small model"),
        (8_192, 7_000_000_000, "8k window", ""),
        (128_000, None, "128k window", ""),
    ],
)
async def test_the_window_of_a_server_of_ones_own_stands_beside_the_model_and_in_the_list_of_models(
    tokens: int, parameters: int | None, window: str, size: str
) -> None:
    model = ScriptedModel(window_tokens=tokens)
    model.window_note = "the server reports this size"
    model.parameters = parameters
    async with running(make_app(model=model), (160, 20)) as ui:
        await ui.wait_until(f"{model.name} · {window}{size}")
        small = "small model: 0.5 billion parameters"
        await ui.press_until(f"in use, {small if size else f'{window} (the server reports this size)'}", "f2")


@pytest.mark.parametrize(("title", "has_keys"), [("Guide", True), ("The Guide to the Ovens of Larch Lane", False)])
async def test_a_title_that_has_no_room_beside_the_keys_takes_their_place(title: str, *, has_keys: bool) -> None:
    async with running(make_app(text=f"# {title}\n"), (60, 20)) as ui:
        head = str(ui.main.header.render())
        assert title in head
        assert ("ctrl+o open" in head) is has_keys


@pytest.mark.parametrize("size", [(40, 24), (150, 45)])
async def test_that_nothing_is_saved_is_on_the_screen_as_long_as_it_is_true(
    size: tuple[int, int], store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FaultyDisk(monkeypatch, tmp_path / "conversations")
    failure = "Could not save the conversation: Read-only file system"
    long_answer = "\n\n".join(f"Paragraph {number}." for number in range(60))
    async with running(make_app(store=store), size, notifications=True) as ui:
        await ui.ask("First?", "One.")
        assert failure not in ui.words
        disk.passes, disk.faults, disk.error = 0, math.inf, errno.EROFS
        for question in ("Second?", "Third?"):
            await ui.ask(question, long_answer)
            await ui.press("pagedown", "escape", "x")
            assert ui.words.count(failure) == 1
        disk.faults = 0
        await ui.ask("Fourth?", "Four.")
        assert "Could not save" not in ui.words
        asked = [exchange.question for exchange in store.load(ui.state.id).exchanges]
    assert asked == ["First?", "Second?", "Third?", "Fourth?"]
