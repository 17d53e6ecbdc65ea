"""The table of actions is whole: each does something, no key means two things; help and docs follow."""

from itertools import combinations
from pathlib import Path

import pytest
from textual.actions import parse
from textual.widget import Widget

from roamtui.conversation.log import ConversationStore
from roamtui.table.store import ResultTable
from roamtui.tui.actions import ACTIONS, Scope, make_keymap
from roamtui.tui.context import TableSession
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.conversations import ConversationsDialog
from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.screens.open_document import OpenDialog
from roamtui.tui.screens.table import TableScreen
from roamtui.tui.tree.visible_lines import OPEN_SIGN
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import app_over
from tests.table.filling import make_plan
from tests.tui.driving import RunningApp, make_app, make_session, running, show_answer
from tests.tui.opening import Opener


def find_owner(ui: RunningApp, scope: Scope) -> Widget:
    """Return a widget with the actions of a scope; the list of conversations is on the screen."""
    assert isinstance(ui.app.screen, ConversationsDialog)
    match scope:
        case Scope.SAVED:
            return ui.app.screen
        case Scope.TABLE:
            session = TableSession(ResultTable(folder=Path()), make_plan(ScriptedModel()))
            return TableScreen(session, make_keymap())
        case Scope.START:
            return OpenDialog(Opener().opening.services, make_keymap(), DocumentRequested(), bool)
        case Scope.MOVE | Scope.SECTION:
            return ui.outline
        case _:
            return ui.main.panes.get_scope_widget(scope)


async def test_every_action_is_carried_out_and_bound_where_its_scope_is(store: ConversationStore) -> None:
    app = app_over(make_session(store=store))
    async with running(app) as ui:
        await ui.press("f4")
        for action in ACTIONS:
            target, method, _ = parse(action.call)
            widget = find_owner(ui, action.scope)
            owner = {"": widget, "screen": ui.main, "app": app}[target]
            assert callable(getattr(owner, f"action_{method}", None)), action.id
            bindings = widget._bindings.key_to_bindings
            ids = (action.id, f"{action.id}.own")
            bound = {key for key, bindings_of_key in bindings.items() for one in bindings_of_key if one.id in ids}
            assert len(bound - {"unbound"}) == len(action.keys), action.id


PLACES = frozenset({Scope.START, Scope.INPUT})
"""Where other things are done: a path or a question is typed."""


def test_a_key_has_one_verb_in_all_panes_and_lists() -> None:
    for one, other in combinations(ACTIONS, 2):
        if set(one.keys) & set(other.keys) and PLACES.isdisjoint((one.scope, other.scope)):
            assert one.works_in.isdisjoint(other.works_in), one.id
            assert one.help.split()[0] == other.help.split()[0], (one.id, other.id)


def test_a_person_can_learn_all_keys() -> None:
    assert len(ACTIONS) <= 100
    keys = {key for action in ACTIONS for key in action.keys}
    assert {key for key in keys if key[0] == "f" and key[1:].isdecimal()} == {"f1", "f2", "f3", "f4", "f5", "f6"}
    assert {key for key in keys if len(key) == 1 and key.isupper()} == {"G", "N"}


def test_an_override_replaces_all_keys_of_an_action_and_one_taken_from_another_is_told() -> None:
    keys = make_keymap({"tree.read": "f5"})
    assert keys.first_keys["tree.read"] == "f5"
    assert keys.textual_keymap["tree.read.own"] == "f5"
    assert {keys.textual_keymap[name] for name in ("tree.read", "global.reload", "global.reload.own")} == {"unbound"}
    keys = make_keymap({"tree.read": "x"})
    assert keys.conflicts == ('"tree.read" now uses "x", so "section.close" no longer does.',)
    assert keys.first_keys["section.close"] == "–"


@pytest.mark.parametrize(
    ("action_id", "key", "other_id"),
    [
        ("table.run", "f3", "global.choose_theme"),
        ("section.open", "ctrl+r", "chat.retry"),
        ("section.pin", "7", "chat.select_quote"),
        ("start.complete", "f4", "global.conversations"),
        ("saved.edit", "ctrl+q", "global.quit"),
    ],
)
def test_a_key_taken_from_an_action_that_also_works_elsewhere_is_told(action_id: str, key: str, other_id: str) -> None:
    keys = make_keymap({action_id: key})
    assert keys.conflicts == (f'"{action_id}" now uses "{key}", so "{other_id}" no longer does.',)


def test_two_actions_can_swap_their_keys_and_of_two_with_one_key_the_last_gets_it() -> None:
    keys = make_keymap({"section.open": "x", "section.close": "a"})
    assert (keys.first_keys["section.open"], keys.first_keys["section.close"], keys.conflicts) == ("x", "a", ())
    keys = make_keymap({"section.open": "z", "section.close": "z"})
    assert (keys.first_keys["section.open"], keys.first_keys["section.close"]) == ("–", "z")
    assert keys.conflicts == ('"section.close" now uses "z", so "section.open" no longer does.',)


def test_an_unknown_key_or_action_is_told_with_the_nearest_name() -> None:
    keys = make_keymap({"section.open": "nokey", "section.pin": "pgdn", "section.clsoe": "c", "move.up": ","})
    assert keys.conflicts == (
        'The keys of "section.open" stay as they were, because there is no key "nokey".',
        'The keys of "section.pin" stay as they were, because there is no key "pgdn". Did you mean "pagedown"?',
        'There is no action "section.clsoe", so its keys were ignored. Did you mean "section.close"?',
    )
    assert (keys.first_keys["section.open"], keys.textual_keymap["move.up.own"]) == ("a", "comma")


def test_a_list_can_always_be_left() -> None:
    keys = make_keymap({"saved.export": "escape"})
    assert keys.conflicts == (
        'The keys of "saved.export" stay as they were, because "escape" is needed for going back.',
    )


@pytest.mark.parametrize("key", ["a", "space", "question_mark", "slash"])
def test_what_is_typed_cannot_send_a_question(key: str) -> None:
    keys = make_keymap({"input.send": key, "start.complete": key})
    assert keys.conflicts == (
        f'The keys of "input.send" stay as they were, because "{key}" is needed for typing in the text field.',
        f'The keys of "start.complete" stay as they were, because "{key}" is needed for typing in the text field.',
    )
    assert keys.first_keys["input.send"] == "enter"


async def test_help_first_says_what_the_signs_of_the_selected_line_or_source_mean() -> None:
    async def list_signs() -> str:
        await ui.press_until("Selected line", "?")
        return ui.text[ui.text.index("Selected line") : ui.text.index("you are here")]

    async with running(make_app(), (120, 35)) as ui:
        await ui.focus(Scope.TREE).go_to(ui.find_id("Steam"))
        await ui.press_until("Opened “Steam”", "a")
        await ui.press_until("Pinned “Steam”", "p")
        signs = await list_signs()
        assert OPEN_SIGN in signs
        assert "pinned: stays open" in signs
        assert "cited" not in signs
    async with running(make_app(), (120, 35)) as ui:
        await show_answer(ui)
        await ui.focus(Scope.CHAT).press("1")
        assert "✓" in await list_signs()


async def test_a_sign_in_help_is_not_taken_for_a_key() -> None:
    async with running(make_app(), (120, 35)) as ui:
        ui.app.push_screen(HelpDialog(ui.main.keys, Scope.CHAT, [("?", "a new meaning")]))
        await ui.press_until("not within one sentence", *"one sentence")
        await ui.press_until("a new meaning", "ctrl+u", *"new meaning")
        await ui.press("down", "enter")
        assert "works only" not in ui.text


async def test_help_begins_with_the_keys_of_the_pane_and_is_filtered_as_typed() -> None:
    async with running(make_app(), (120, 35)) as ui:
        await ui.press_until("Question box · you are here", "f1")
        assert ui.text.index("you are here") < ui.text.index("Everywhere")
        await ui.press(*"pin")
        await ui.wait_until(lambda: "the model cannot close it" in ui.text and "Fold or unfold" not in ui.text)
        assert "the model cannot close it. · Section in outline or" in ui.words
        await ui.press_until("No match", *"zz")
        await ui.press_until("Go to the next pane.", "escape")
        await ui.press_until("This key works only here: Open a document.", *"complete", "enter")
        await ui.press("escape")
        await ui.press_until(lambda: ui.app.screen is ui.main, "escape")
