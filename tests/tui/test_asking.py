"""A question from the box to the cited answer, and what opens on the way."""

import asyncio

import pytest
from textual import events

from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Usage
from roamtui.search.base import Hit
from roamtui.tui.actions import Scope
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.agent.asking import FakeSearcher
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import RunningApp, expand, find_id, make_app, running, show_answer

SIZE = (120, 35)
_TAG = "Only in Deck oven · esc for all"
QUESTION = "How many loaves does the stone oven take?"


def shown(ui: RunningApp) -> str:
    """Return what the last exchange shows, without margins."""
    return "\n".join(line.strip() for line in ui.last.render().plain.splitlines())


async def test_keys_of_the_outline_open_pin_and_close_a_section() -> None:
    async with running(make_app(), SIZE) as ui:
        steam = ui.find_id("Steam")
        await ui.focus(Scope.TREE).go_to(steam)
        await ui.press_until("Opened “Steam”", "a")
        assert [*ui.state.open_sections] == [steam]
        await ui.press_until("Pinned “Steam”", "p")
        await ui.press_until("Section is pinned. Unpin it first", "x")
        await ui.press_until("Unpinned “Steam”", "p")
        await ui.press_until("Closed “Steam”", "x")
        assert not ui.state.open_sections


async def test_sections_open_in_the_tree_while_the_model_works_and_the_cursor_stays() -> None:
    async with running(make_app(), SIZE) as ui:
        steam, stone = ui.find_id("Steam"), ui.find_id("Stone oven")
        gate = asyncio.Event()
        ui.model.add_replies(expand(stone, steam), ScriptedReply(text=f"Forty [{stone}].", gate=gate))
        assert "Steam" not in ui.text
        cursor = ui.outline.cursor_id
        await ui.send(QUESTION, lambda: len(ui.model.requests) == 2)
        await ui.pause()
        assert ui.main.is_asking
        text = ui.text
        assert "◆ Stone oven" in text
        assert "◆ Steam" in text
        assert ui.outline.cursor_id == cursor
        assert ui.main.focused is ui.box
        assert shown(ui) == f"❯ {QUESTION}\n\n◆ Opened 2 sections: Stone oven, Steam"
        await ui.open_gate(gate)
        assert shown(ui).startswith(f"❯ {QUESTION}\n\n▸ opened 2 sections · ~")
        assert "\n\nForty [1].\n\n" in shown(ui)


async def test_while_an_answer_streams_its_quotes_have_verdicts_and_then_keep_them() -> None:
    async with running(make_app(), SIZE) as ui:
        deck = ui.find_id("Deck oven")
        first = f'"The deck oven takes ninety loaves" [{deck}]. '
        gate = asyncio.Event()
        reply = ScriptedReply(text=f'{first}"It takes five" [{deck}].', chunk_size=len(first), gate=gate, gate_after=1)
        ui.model.add_replies(expand(deck), reply)
        await ui.send(QUESTION, lambda: '\n\n"The deck oven takes ninety loaves" [1 ✓].' in shown(ui))
        assert ui.main.is_asking
        gate.set()
        await ui.wait_until('"The deck oven takes ninety loaves" [1 ✓]. "It takes five" [2 ✗].')
        await ui.wait_until(lambda: not ui.main.is_asking)
        assert '"The deck oven takes ninety loaves" [1 ✓]. "It takes five" [2 ✗].' in shown(ui)


@pytest.mark.parametrize(
    ("quote", "found", "note"),
    [
        ("ninety loaves", "ninety loaves", ""),
        ("The deck oven takes fifty loaves", "The deck oven takes ninety loaves", "most similar passage is shown."),
    ],
)
async def test_a_source_that_a_key_chooses_is_shown_in_tree_and_reader(quote: str, found: str, note: str) -> None:
    async with running(make_app(), (70, 35)) as ui:
        deck = ui.find_id("Deck oven")
        await ui.ask(QUESTION, expand(deck), f'"{quote}" [{deck}].')
        await ui.reach("Deck oven", "shift+tab", "j", "enter")
        await ui.wait_until(lambda: ui.outline.cursor_id == deck)
        assert ui.state.reading_id == deck
        span = ui.reader.highlights.quote
        assert span is not None
        assert ui.state.library.text_at(span) == found
        await ui.wait_until(note)
        await ui.press("escape")
        assert ui.main.focused is ui.chat


async def test_the_steps_of_an_answer_fold_to_a_line_and_unfold_by_a_key() -> None:
    async with running(make_app(), SIZE) as ui:
        deck = ui.find_id("Deck oven")
        usage = Usage(input_tokens=4_200, cached_tokens=1_000, cost_usd=0.0123, source="provider")
        for number in range(2):
            text = f'"The deck oven takes ninety loaves" [{deck}].'
            calls = (("expand_sections", {"section_ids": [deck, "0badc0de"]}),)
            look, answer = ScriptedReply(text="I look.", calls=calls), ScriptedReply(text=text, usage=usage)
            await ui.ask(f"{number}?", look, answer)
        assert "Unknown" not in ui.text
        assert " · 1 warning" in shown(ui)
        await ui.focus(Scope.CHAT).press_until("▾ opened nothing new", "space")
        assert "Unknown: 1 section" in ui.text
        assert "cached" in shown(ui)
        await ui.press_until(lambda: "Unknown" not in ui.text, "space")
        for row, sign in ((3, "▸"), (2, "▾")):  # a click below the line does nothing
            await ui.click(ui.last, offset=(3, row))
            await ui.wait_until(f"{sign} opened nothing new")


async def test_ctrl_c_stops_the_answer_and_keeps_what_came() -> None:
    gate = asyncio.Event()
    app = make_app([ScriptedReply(text="Forty loaves, and then", chunk_size=6, gate=gate, gate_after=2)])
    async with running(app, SIZE) as ui:
        await ui.send(QUESTION, "Forty")
        await ui.press_until(lambda: not ui.main.is_asking, "ctrl+c")
        await ui.pause()
        assert ui.exchanges[-1].stopped is StopReason.CANCELLED
        assert shown(ui).endswith("\n\nForty loaves\n\nstopped, so the answer is cut off")
        assert not ui.main.status_line.reply.is_running
        assert ui.app.is_running


async def test_what_is_typed_in_the_conversation_stands_in_the_box() -> None:
    questions = ["One?", "are there (ryes) [ü] and 10 more?", "how?", "Give all", "list all", "no rye?", "Now?"]
    async with running(make_app(["So."] * len(questions)), SIZE) as ui:
        await ui.ask(questions[0])
        for number in range(1, len(questions)):
            ui.focus(Scope.CHAT).type_at_once(*questions[number], "enter")
            await ui.wait_until(lambda: len(ui.exchanges) > number and not ui.main.is_asking)  # noqa: B023
            assert ui.exchanges[-1].question == questions[number]
        assert not ui.state.open_sections


async def test_a_selected_quote_is_noted_by_a_letter_which_is_text_while_none_is_selected(
    store: ConversationStore,
) -> None:
    async with running(make_app(store=store), SIZE) as ui:
        await show_answer(ui)
        await ui.focus(Scope.CHAT).press("1")
        await ui.press_until("Add note", "b")
        await ui.press_until("Note saved", "enter")
        assert (ui.box.text, ui.main.focused) == ("", ui.chat)
        ui.chat.target_selection.clear()
        ui.type_at_once(*"both?")
        await ui.wait_until(lambda: ui.box.text == "both?")


async def test_a_quote_of_a_section_that_does_not_exist_cannot_be_noted() -> None:
    async with running(make_app(['It says "forty loaves" [ffffffff].']), SIZE) as ui:
        await ui.ask("How many?")
        await ui.focus(Scope.CHAT).press("1")
        assert ui.last.selected_index is not None
        await ui.press_until(lambda: ui.box.text == "b", "b")


@pytest.mark.parametrize("pane", [Scope.CHAT, Scope.INPUT])
async def test_what_is_pasted_in_any_pane_stands_in_the_box_once(pane: Scope) -> None:
    async with running(make_app(), SIZE) as ui:
        ui.focus(pane)
        ui.app.post_message(events.Paste("/home/a b.pdf\nand more"))
        await ui.wait_until(lambda: ui.box.text != "")
        await ui.rest()
        assert ui.box.text == "/home/a b.pdf\nand more"
        assert ui.main.focused is ui.box


async def test_the_last_question_is_asked_again_from_before_it_and_its_answers_stay() -> None:
    app = make_app(["First.", "Bad.", "Better.", "More."])
    async with running(app, SIZE) as ui:
        await ui.ask("One?")
        await ui.ask("Two?")
        ui.box.fill("a draft")
        await ui.press_until("Asks again · esc to cancel", "ctrl+r")
        assert ui.box.text == "Two?"
        assert ui.main.focused is ui.box
        await ui.press_until(lambda: ui.box.text == "a draft", "escape")
        await ui.ask_again()
        await ui.wait_until(lambda: len(ui.model.requests) == 3 and not ui.main.is_asking)
        await ui.wait_until("answer 2 of 2")
        assert [exchange.answer for exchange in ui.exchanges] == ["First.", "Better."]
        assert [view.answer for view in ui.app.screen.query(ExchangeView)] == ["First.", "Better."]
        assert ui.model.requests[2].messages == ui.model.requests[1].messages
        await ui.focus(Scope.CHAT).press_until("answer 1 of 2", "[")
        assert [view.answer for view in ui.app.screen.query(ExchangeView)] == ["First.", "Bad."]
        await ui.press_until("No other answer", "[")
        await ui.ask("Three?")
        read = [message.text for message in ui.model.requests[-1].messages]
        assert "Bad." in read
        assert "Better." not in read


async def test_a_question_is_asked_about_one_section_alone() -> None:
    async with running(make_app(["Ninety.", "All."]), SIZE) as ui:
        await ui.go_to(ui.find_id("Deck oven"))
        await ui.press("tab", "i")
        assert ui.main.focused is ui.box
        assert _TAG in ui.text
        await ui.press("H")
        assert _TAG in ui.text
        await ui.ask("How many?")
        assert "Deck oven" in ui.model.requests[0].messages[-1].text.split("How many?")[0]
        assert "❯ How many?\nin Ovens › Deck oven" in shown(ui)
        assert _TAG not in ui.text
        await ui.press("escape", "i", "escape")
        assert ui.main.focused is ui.box
        assert _TAG not in ui.text
        ui.chat.reload()
        await ui.wait_until("  in Ovens › Deck oven")


async def test_what_search_found_and_the_model_did_not_read_is_opened_and_asked_with() -> None:
    flow = "Water runs through the pipe. " * 9
    text = "# Pumps\n\n" + "".join(
        f"## Pump {number}\n\nIt needs {number} litres. {flow}\n\n" for number in range(10, 18)
    )
    ids = [find_id(make_app(text=text), f"Pump {number}") for number in range(10, 18)]
    scores = [*[1.0] * 6, 0.1, 0.1]  # the last two are too far behind for an excerpt
    hits = [Hit(section_id=one, score=score, snippet="", why="") for one, score in zip(ids, scores, strict=True)]
    search = ScriptedReply(text="", calls=(("search_sections", {"queries": ["litres"]}),))
    proven = f"“It needs 10 litres.” [{ids[0]}]"
    app = make_app([search, proven, proven], text=text, searcher=lambda _: FakeSearcher(*hits))
    async with running(app, (120, 40)) as ui:
        await ui.ask("How much?")
        words = " ".join(shown(ui).splitlines())
        assert "Read 6 of 9 sections. Searched for: litres. Found, not read: Pump 16; Pump 17 · ctrl+r" in words
        assert "ctrl+r asks again with them" in words
        assert "▸ searched once, opened " in shown(ui)
        await ui.press_until("Asks again with 2 more sections · esc to cancel", "ctrl+r")
        await ui.press_until(lambda: len(ui.model.requests) == 3 and not ui.main.is_asking, "enter")
        assert {*ids[-2:]} <= {*ui.state.open_sections}
        assert len(ui.exchanges) == 1
