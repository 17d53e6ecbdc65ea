"""A question from the box to the cited answer, and what opens on the way."""

import asyncio

import pytest

from roamtui.conversation.events import StopReason, Usage
from roamtui.errors import ModelError
from roamtui.search.base import Hit
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.agent.asking import FakeSearcher
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import (
    ask,
    expand,
    find_id,
    go_to,
    make_app,
    model_of,
    press_until,
    running,
    screen_text,
    wait_until,
)

SIZE = (120, 35)
_TAG = "Only in Ovens › Deck oven · esc for the whole document"
QUESTION = "How many loaves does the stone oven take?"


def last(app: RoamApp) -> str:
    """Return what the last exchange shows, without margins."""
    content = app.screen.query(ExchangeView).last().render()
    return "\n".join(line.strip() for line in content.plain.splitlines())


async def test_undo_goes_back_step_by_step_to_what_was_open_before_the_first_question() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        conversation, ovens, steam = app.main_screen.conversation, find_id(app, "Ovens"), find_id(app, "Steam")
        model_of(app).add_replies(expand(ovens), ScriptedReply(text="Not found: no."))
        await ask(pilot, QUESTION)
        await go_to(pilot, steam)
        await press_until(pilot, lambda: steam in conversation.state.open_sections, "tab", "a")
        await press_until(pilot, lambda: steam not in conversation.state.open_sections, "x")
        await press_until(pilot, "Opened “Steam”", "u")
        assert [*conversation.state.open_sections] == [ovens, steam]
        await press_until(pilot, "Closed “Steam”", "u")
        assert [*conversation.state.open_sections] == [ovens]
        await press_until(pilot, "Closed “Ovens”", "u")
        assert not conversation.state.open_sections
        await press_until(pilot, "Nothing to undo", "u")
        await press_until(pilot, "Opened “Steam”", "a")
        await go_to(pilot, ovens)
        await press_until(pilot, "Opened “Ovens”", "a")
        await press_until(pilot, "Pinned “Ovens”", "p")
        await press_until(pilot, "Unpinned “Ovens”", "u")
        await press_until(pilot, "Pinned “Ovens”", "p")
        for step in ("Unpinned “Ovens”", "Closed “Ovens”", "Closed “Steam”", "Nothing to undo"):
            await press_until(pilot, step, "u")
        await press_until(pilot, "Pinned “Ovens”", "p")
        await press_until(pilot, "Closed “Ovens”", "u")


async def test_sections_open_in_the_tree_while_the_model_works_and_the_cursor_stays() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        screen = app.main_screen
        steam, stone = find_id(app, "Steam"), find_id(app, "Stone oven")
        gate = asyncio.Event()
        model_of(app).add_replies(expand(stone, steam), ScriptedReply(text=f"Forty [{stone}].", gate=gate))
        assert "Steam" not in screen_text(app)
        cursor = screen.tree_pane.outline.cursor_id
        screen.question_box.fill(QUESTION)
        await press_until(pilot, lambda: len(model_of(app).requests) == 2, "enter")
        await pilot.pause()
        assert screen.is_asking
        text = screen_text(app)
        assert "◆ Stone oven" in text
        assert "◆ Steam" in text
        assert screen.tree_pane.outline.cursor_id == cursor
        assert screen.focused is screen.question_box
        assert last(app) == f"❯ {QUESTION}\n\n◆ Opened 2 sections: Stone oven, Steam"
        gate.set()
        await wait_until(pilot, lambda: not screen.is_asking)
        assert last(app).startswith(f"❯ {QUESTION}\n\n▸ opened 2 sections · ~")
        assert "\n\nForty [1].\n\n" in last(app)


async def test_while_an_answer_streams_its_quotes_have_verdicts_and_then_keep_them() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        deck = find_id(app, "Deck oven")
        first, gate = f'"The deck oven takes ninety loaves" [{deck}]. ', asyncio.Event()
        reply = ScriptedReply(text=f'{first}"It takes five" [{deck}].', chunk_size=len(first), gate=gate, gate_after=1)
        model_of(app).add_replies(expand(deck), reply)
        app.main_screen.question_box.fill(QUESTION)
        await press_until(pilot, lambda: '\n\n"The deck oven takes ninety loaves" [1 ✓].' in last(app), "enter")
        assert app.main_screen.is_asking
        gate.set()
        await wait_until(pilot, '"The deck oven takes ninety loaves" [1 ✓]. "It takes five" [2 ✗].')
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert '"The deck oven takes ninety loaves" [1 ✓]. "It takes five" [2 ✗].' in last(app)


@pytest.mark.parametrize(
    ("quote", "shown", "note"),
    [
        ("ninety loaves", "ninety loaves", ""),
        ("The deck oven takes fifty loaves", "The deck oven takes ninety loaves", "most similar passage"),
    ],
)
async def test_a_source_that_a_key_chooses_is_shown_in_tree_and_reader(quote: str, shown: str, note: str) -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        screen, deck = app.main_screen, find_id(app, "Deck oven")
        model_of(app).add_replies(expand(deck), ScriptedReply(text=f'"{quote}" [{deck}].'))
        await ask(pilot, QUESTION)
        await pilot.press("shift+tab")
        assert screen.focused is screen.chat_log
        await press_until(pilot, lambda: screen.reader_pane.section_id == deck, "j", "enter")
        await wait_until(pilot, lambda: screen.tree_pane.outline.cursor_id == deck)
        assert screen.conversation.state.reading_id == deck
        span = screen.reader_pane.ensure_reader()._highlights.quote
        assert span is not None
        assert screen.conversation.state.library.text_at(span) == shown
        await wait_until(pilot, note)
        await pilot.press("escape")
        assert screen.focused is screen.chat_log


async def test_the_steps_of_an_answer_fold_to_a_line_and_unfold_by_a_key() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        screen = app.main_screen
        deck = find_id(app, "Deck oven")
        usage = Usage(input_tokens=4_200, cached_tokens=1_000, cost_usd=0.0123, source="provider")
        for number in range(2):
            text = f'"The deck oven takes ninety loaves" [{deck}].'
            calls = (("expand_sections", {"section_ids": [deck, "0badc0de"]}),)
            model_of(app).add_replies(ScriptedReply(text="I look.", calls=calls), ScriptedReply(text=text, usage=usage))
            await ask(pilot, f"{number}?")
        assert "Not in this document" not in screen_text(app)
        assert " · 1 warning" in last(app)
        screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, "▾ opened nothing new", "space")
        assert "Not in this document: 1 section" in screen_text(app)
        assert "cached" in last(app)
        await pilot.press("space")
        await wait_until(pilot, lambda: "Not in this document" not in screen_text(app))
        await pilot.click(app.screen.query(ExchangeView).last(), offset=(3, 2))
        await wait_until(pilot, "Not in this document")


async def test_a_selected_step_that_folds_with_the_answer_is_no_longer_selected() -> None:
    gate = asyncio.Event()
    async with running(make_app(), SIZE) as (app, pilot):
        deck = find_id(app, "Deck oven")
        model_of(app).add_replies(expand(deck), ScriptedReply(text=f"Ninety [{deck}].", gate=gate))
        app.main_screen.question_box.fill(QUESTION)
        await press_until(pilot, "Opened 1 section: Deck oven", "enter")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("j")
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        await press_until(pilot, lambda: app.main_screen.reader_pane.section_id == deck, "enter")


async def test_ctrl_c_stops_the_answer_and_keeps_what_came() -> None:
    gate = asyncio.Event()
    app = make_app([ScriptedReply(text="Forty loaves, and then", chunk_size=6, gate=gate, gate_after=2)])
    async with app.run_test(size=SIZE) as pilot:
        screen = app.main_screen
        screen.question_box.fill(QUESTION)
        await press_until(pilot, "Forty", "enter")
        await press_until(pilot, lambda: not screen.is_asking, "ctrl+c")
        await pilot.pause()
        exchange = screen.conversation.state.exchanges[-1]
        assert exchange.stopped is StopReason.CANCELLED
        assert last(app).endswith("\n\nForty loaves\n\nstopped")
        assert not screen.status_line.reply.is_running
        assert app.is_running


async def test_the_last_question_is_asked_again_from_before_it() -> None:
    app = make_app([ScriptedReply(text="First."), ScriptedReply(text="Bad."), ScriptedReply(text="Better.")])
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "One?")
        await ask(pilot, "Two?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, lambda: len(model_of(app).requests) == 3 and not app.main_screen.is_asking, "r")
        await pilot.pause()
        exchanges = app.main_screen.conversation.state.exchanges
        assert [exchange.answer for exchange in exchanges] == ["First.", "Better."]
        assert [view.answer for view in app.screen.query(ExchangeView)] == ["First.", "Better."]
        assert model_of(app).requests[2].messages == model_of(app).requests[1].messages


async def test_the_last_question_is_changed_and_takes_the_place_of_the_old_one() -> None:
    async with running(make_app([ScriptedReply(text="First."), ScriptedReply(text="Second.")]), SIZE) as (app, pilot):
        await ask(pilot, "Oen?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("e")
        assert app.main_screen.question_box.text == "Oen?"
        await pilot.press("escape")
        assert app.main_screen.question_box.text == ""
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("e")
        app.main_screen.question_box.fill("One?")
        await press_until(pilot, lambda: len(model_of(app).requests) == 2 and not app.main_screen.is_asking, "enter")
        await pilot.pause()
        exchanges = app.main_screen.conversation.state.exchanges
        assert [(exchange.question, exchange.answer) for exchange in exchanges] == [("One?", "Second.")]
        assert len(app.screen.query(ExchangeView)) == 1


async def test_a_question_is_asked_about_one_section_alone() -> None:
    async with running(make_app([ScriptedReply(text="Ninety."), ScriptedReply(text="All.")]), SIZE) as (app, pilot):
        deck = find_id(app, "Deck oven")
        await go_to(pilot, deck)
        await pilot.press("escape", "i")
        await pilot.pause()
        assert app.main_screen.focused is app.main_screen.question_box
        assert _TAG in screen_text(app)
        await pilot.press("H")
        assert _TAG in screen_text(app)
        await ask(pilot, "How many?")
        assert "Deck oven" in model_of(app).requests[0].messages[-1].text.split("How many?")[0]
        assert "❯ How many?\nin Ovens › Deck oven" in last(app)
        assert _TAG not in screen_text(app)
        await pilot.press("escape", "i", "escape")
        await pilot.pause()
        assert app.main_screen.focused is app.main_screen.question_box
        assert _TAG not in screen_text(app)
        app.main_screen.chat_log.reload()
        await wait_until(pilot, "  in Ovens › Deck oven")


async def test_what_search_found_and_nobody_opened_is_opened_and_asked_with() -> None:
    probe = make_app()
    stone, steam = find_id(probe, "Stone oven"), find_id(probe, "Steam")
    hits = [Hit(section_id=one, score=score, snippet="", why="") for one, score in ((stone, 9.0), (steam, 8.0))]
    search = ScriptedReply(text="", calls=(("search_sections", {"query": "ovens"}),))
    answer = ScriptedReply(text=f"“The stone oven takes fifty loaves.” [{stone}]")
    proven = ScriptedReply(text=f"“The stone oven takes forty loaves.” [{stone}]")
    replies = [search, expand(stone), answer, proven, search, proven]
    app = make_app(replies, searcher=lambda _: FakeSearcher(*hits))
    async with running(app, (120, 40)) as (_, pilot):
        conversation = app.main_screen.conversation
        await ask(pilot, "How many loaves?")
        assert last(app).endswith("1 likely section was not read: Steam · ctrl+r opens it and asks again")
        assert "▸ searched once, opened 1 section · " in last(app)
        assert conversation.state.open_sections.get(steam) is None
        await press_until(pilot, lambda: len(model_of(app).requests) == 4 and not app.main_screen.is_asking, "ctrl+r")
        assert conversation.state.open_sections.get(steam) is not None
        assert len(conversation.state.exchanges) == 1
        await press_until(pilot, "No unread section looks likely to have the answer", "ctrl+r")
        await pilot.press("enter")  # the box is empty
        await ask(pilot, "How many again?")
        assert "likely" not in last(app), "the answer is proven"
    failure = ScriptedReply(error=ModelError("Your key has no credit left."))
    async with running(make_app([search, failure], searcher=lambda _: FakeSearcher(*hits)), (120, 40)) as (app, pilot):
        await ask(pilot, "How many loaves?")
        assert last(app).endswith("Your key has no credit left."), "no section would help"
