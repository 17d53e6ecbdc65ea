"""The table of actions is whole: each does something, no key means two things, help and README follow from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import combinations
from pathlib import Path

from textual.actions import parse
from textual.widget import Widget

from roamtui.conversation.notes import Notes
from roamtui.conversation.store import Store
from roamtui.tui.actions import ACTIONS, SCREEN_SCOPES, Scope, build_keys
from roamtui.tui.app import RoamApp
from roamtui.tui.finder import Found
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.find import FindScreen
from roamtui.tui.screens.help import KeyList
from roamtui.tui.screens.notes import NotesScreen
from roamtui.tui.screens.open_document import OpenScreen
from tests.tui.driving import make_app, make_context
from tests.tui.opening import Opener


def find_owner(app: RoamApp, scope: Scope) -> Widget:
    """Return the widget with the actions of a scope; the list of conversations is on the screen."""
    assert isinstance(app.screen, ConversationsScreen)
    match scope:
        case Scope.CONVERSATIONS:
            return app.screen
        case Scope.FIND:
            return FindScreen(find_nothing, lambda _section_id: None, build_keys(), Found())
        case Scope.NOTES:
            library = app.main.session.state.library
            return NotesScreen(Notes(Path(), library.source), (), library, build_keys())
        case Scope.START:
            return OpenScreen(Opener().opening, build_keys())
        case _:
            return app.main.find_owner(scope)


async def find_nothing(query: str) -> AsyncIterator[Found]:
    """Find nothing."""
    yield Found(query=query)


def make_saving_app(path: Path) -> RoamApp:
    """Return an app that keeps conversations, so that it has a list of them."""
    return RoamApp(make_context(store=Store(path / "conversations")))


async def test_every_action_is_carried_out_by_the_widget_of_its_scope(tmp_path: Path) -> None:
    app = make_saving_app(tmp_path)
    async with app.run_test() as pilot:
        await pilot.press("f4")
        for action in ACTIONS:
            target, method, _ = parse(action.does)
            owner = {"": find_owner(app, action.scope), "screen": app.main, "app": app}[target]
            assert callable(getattr(owner, f"action_{method}", None)), action.id


async def test_every_action_is_bound_where_its_scope_is(tmp_path: Path) -> None:
    app = make_saving_app(tmp_path)
    async with app.run_test() as pilot:
        await pilot.press("f4")
        for action in ACTIONS:
            bindings = find_owner(app, action.scope)._bindings.key_to_bindings
            bound = [binding.id for bindings_of_key in bindings.values() for binding in bindings_of_key]
            assert bound.count(action.id) == len(action.keys), action.id


def test_no_key_has_two_meanings_in_one_place() -> None:
    for one, other in combinations(ACTIONS, 2):
        is_apart = bool(SCREEN_SCOPES & {one.scope, other.scope})
        if one.scope is other.scope or (Scope.GLOBAL in (one.scope, other.scope) and not is_apart):
            assert not set(one.keys) & set(other.keys), (one.id, other.id)


async def test_help_lists_every_action() -> None:
    app = make_app()
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("f1")
        text = str(app.screen.query_one(KeyList).render())
    one_line = " ".join(text.split())
    for action in ACTIONS:
        assert action.id in text, action.id
        assert action.help.split()[0] in one_line


async def test_the_palette_offers_every_action_that_makes_sense_from_anywhere() -> None:
    app: RoamApp = make_app()
    async with app.run_test():
        commands = list(app.get_system_commands(app.screen))
    offered = [action for action in ACTIONS if action.in_palette]
    assert sorted(command.help.split("  (")[0] for command in commands) == sorted(action.help for action in offered)
    assert len({command.title for command in commands}) == len(commands)
