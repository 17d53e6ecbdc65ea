"""A person's own keys."""

from __future__ import annotations

from roamtui.tui.actions import build_keys
from roamtui.tui.context import TuiOptions
from tests.tui.driving import make_app


def test_an_override_replaces_all_keys_of_an_action() -> None:
    keys = build_keys({"tree.read": ("v", "f5")})
    assert keys.show_first("tree.read") == "v"
    assert keys.keymap == {"tree.read": "v,f5", "global.reload": "unbound"}


def test_a_key_taken_from_another_action_is_told() -> None:
    keys = build_keys({"tree.read": ("x",)})
    assert keys.problems == ('"tree.read" takes "x" away from "tree.close".',)
    assert keys.show_first("tree.close") == "–"


def test_an_action_by_the_name_that_it_had_is_still_bound() -> None:
    keys = build_keys({"find.change_side": ("f6",), "tree.filter": ("f7",)})
    assert keys.problems == ()
    assert (keys.show_first("find.next_kind"), keys.show_first("tree.filter")) == ("f6", "f7")


def test_an_unknown_action_is_told() -> None:
    (problem,) = build_keys({"tree.fly": ("f",)}).problems
    assert '"tree.fly"' in problem


async def test_a_rebound_key_works_and_the_old_one_does_not() -> None:
    options = TuiOptions(keys={"tree.cursor_down": ("n",), "tree.fly": ("f",)})
    app = make_app(options=options)
    async with app.run_test() as pilot:
        await pilot.press("escape")
        outline = app.main.tree_pane.outline
        start = outline.cursor_id
        await pilot.press("j")
        assert outline.cursor_id == start
        await pilot.press("n")
        assert outline.cursor_id != start
        notices = [str(notice.render()) for notice in app.screen.query("NoticeView").results()]
        assert any("tree.fly" in notice for notice in notices)


def test_a_key_that_does_not_exist_is_told_and_changes_nothing() -> None:
    keys = build_keys(
        {"tree.pin": ("ctrl+nonsense",), "tree.fold": ("hyperspace",), "tree.open": ("ctrl+shift+o", "f7")}
    )
    assert keys.problems == (
        '"tree.pin" stays as it was: there is no key "ctrl+nonsense".',
        '"tree.fold" stays as it was: there is no key "hyperspace".',
    )
    assert keys.show_first("tree.pin") == "p"
    assert keys.show_first("tree.open") == "ctrl+shift+o"


def test_a_letter_cannot_send_a_question() -> None:
    keys = build_keys({"input.send": ("a",)})
    assert keys.problems == ('"input.send" stays as it was: "a" is typed into the question box.',)
    assert keys.show_first("input.send") == "enter"
