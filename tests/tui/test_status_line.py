"""The lines at the foot of the screen: status, hints, and a message that stands there until the next key or click."""

import errno
import math
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.widget import Widget

from roamtui.conversation.log import ConversationStore
from roamtui.tui.actions import PANES, Scope
from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.status_line import HintLine, StatusLine
from tests.anomalies.faulty_disk import FaultyDisk
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options
from tests.tui.driving import make_app, running

_NOTHING = "Nothing to copy or stop. Press ctrl+q to quit."


@pytest.mark.parametrize(("width", "row"), [(120, -2), (55, -1)])
async def test_a_message_stands_on_the_status_line_or_over_the_hints_until_the_next_key(width: int, row: int) -> None:
    async with running(make_app(), (width, 30)) as ui:
        await ui.wait_until(lambda: ui.chat.region and "ctrl+q" in ui.text)

        def list_places() -> dict[Widget, Region]:
            shown = ui.main.panes.walk_children(Widget)
            return {pane: pane.region for pane in shown if pane.region.area}

        places = list_places()
        hints = ui.rows[-1]
        await ui.press_until(lambda: _NOTHING in ui.rows[row], "ctrl+c")
        assert (ui.rows[-1] == hints) is (row == -2)
        assert list_places() == places
        await ui.press_until(lambda: _NOTHING not in ui.text, "tab")
        await ui.press_until(lambda: ui.rows[-1] == hints, "shift+tab")


async def test_a_message_that_does_not_fit_on_the_status_line_takes_the_lines_that_it_needs() -> None:
    async with running(make_app(), (60, 20)) as ui:
        anchor = "how-to-clean-the-stone-oven-after-a-long-day-of-baking"
        await ui.read("Ovens")
        ui.reader.show_anchor(anchor)
        await ui.wait_until(f'This document has no heading for the link "#{anchor}"')


async def test_where_the_app_cannot_be_suspended_the_key_says_so() -> None:
    async with running(make_app()) as ui:
        await ui.press_until("roamtui cannot go into the background here.", "tab", "ctrl+z")


async def test_a_click_on_a_hint_does_what_its_key_does() -> None:
    async with running(make_app(), (120, 30)) as ui:
        await ui.press("tab", "j")
        await ui.click_on("a open")
        await ui.wait_until(lambda: bool(ui.state.open_sections))
        await ui.click_on("f1 keys")
        await ui.wait_until(HelpDialog)
        await ui.wait_until("esc to clear or close")
        await ui.click_on("esc to clear or close")
        await ui.wait_until(lambda: ui.app.screen is ui.main)


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"global.help": "?", "input.page_down": "ctrl+e", "global.find": "f9", "global.choose_model": "m"},
    ],
)
async def test_each_hint_names_a_key_that_works_where_the_focus_is(own: dict[str, str]) -> None:
    async with running(make_app(["Forty."], options=make_options(keys=own)), (200, 40)) as ui:
        keys = ui.main.keys
        by_name = {
            name: key
            for action in keys.actions.values()
            for name, key in zip(action.key_names, action.keys, strict=False)
        }
        await ui.ask("How many?")
        hints = ui.main.query_one(HintLine)
        for text, scope in ((text, scope) for text in ("", "typed") for scope in (Scope.INPUT, *PANES)):
            ui.box.fill(text)
            ui.focus(scope)
            await ui.wait_until(lambda scope=scope: hints.scope is scope)  # type: ignore[misc]
            here, always = hints.list_hinted()
            active = ui.main.active_bindings
            for action in (*here, *always):
                name = action.key_names[0]
                key = by_name.get(name, name.partition("-")[0])
                bound = active[_character_to_key(key) if len(key) == 1 else key].binding.action
                assert bound.rpartition(".")[2] == action.call.rpartition(".")[2], (scope, action.id)


@pytest.mark.parametrize(
    ("tokens", "parameters", "window", "size"),
    [
        (8_192, 500_000_000, "8k window", ", small model"),
        (128_000, None, "128k window", ""),
    ],
)
async def test_the_window_of_a_server_of_ones_own_stands_beside_the_model_and_in_the_list_of_models(
    tokens: int, parameters: int | None, window: str, size: str
) -> None:
    model = ScriptedModel(window_tokens=tokens)
    model.facts = replace(model.facts, window_note="the server reports this size", parameters=parameters)
    async with running(make_app(model=model), (160, 20)) as ui:
        await ui.wait_until(f"{model.name} · {window}{size}")
        small = "small model: 0.5 billion parameters"
        await ui.press_until(f"in use, {small if size else f'{window} (the server reports this size)'}", "f2")


async def test_that_a_window_is_assumed_stands_beside_the_model_until_the_server_refuses_more() -> None:
    model = ScriptedModel(window_tokens=4_096)
    model.facts = replace(model.facts, window_note="assumed", is_window_assumed=True)
    async with running(make_app(model=model), (160, 20)) as ui:
        await ui.wait_until(f"{model.name} · assumed 4k window")
        model.limit_window(2_048)
        ui.main.query_one(StatusLine).refresh()
        await ui.wait_until(f"{model.name} · 2k window")


@pytest.mark.parametrize("size", [(40, 24), (150, 45)])
async def test_that_nothing_is_saved_is_on_the_screen_as_long_as_it_is_true(
    size: tuple[int, int], store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FaultyDisk(monkeypatch, tmp_path / "conversations")
    failure = "Could not save the conversation: Read-only file system"
    long_answer = "\n\n".join(f"Paragraph {number}." for number in range(60))
    async with running(make_app(store=store), size) as ui:
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


async def test_open_sections_for_which_the_model_has_no_room_are_told_before_a_question() -> None:
    text = "# A\n\nText.\n\n" + "".join(f"## Part {n}\n\n{'Water runs. ' * 300}\n\n" for n in range(3))
    async with running(make_app(text=text, model=ScriptedModel(window_tokens=4_096)), (100, 30)) as ui:
        await ui.press("tab", "G", "a")
        await ui.press_until("◆ 1 open", "k")
        assert "room for" not in ui.text
        await ui.press("a", "k", "a")
        await ui.press_until("tokens, room for 1.6k", "k")
