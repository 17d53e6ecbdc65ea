"""The question box: its history, and a question that is sent while another is answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events

from roamtui.conversation.drafts import DraftFile
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.update import AskOptions
from roamtui.tui.actions import Scope
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import EXAMPLES, RunningApp, make_app, running


async def test_up_and_down_walk_the_history_at_the_edges_and_keep_the_draft() -> None:
    newest = "second\nin two lines"
    async with running(make_app(examples=(newest, "first"))) as ui:
        ui.box.remember(newest)  # it was asked again
        await ui.press("d")
        # in a question of several lines, the cursor first goes up through them
        for key, text in (("up", newest), ("up", newest), ("up", "first"), ("up", "first"), ("down", newest)):
            await ui.press(key)
            assert ui.box.text == text
        for _ in range(2):
            await ui.press("down")
            assert ui.box.text == "d"


async def test_from_an_empty_box_up_goes_to_the_last_question_even_if_it_was_cleared() -> None:
    async with running(make_app(["Forty."], examples=("second", "first"))) as ui:
        await ui.ask("Really?")
        await ui.press("up", "ctrl+c")
        assert ui.box.text == ""
        await ui.press("up")
        assert ui.box.text == "Really?"


async def test_a_changed_question_replaces_no_draft(store: ConversationStore) -> None:
    async with running(make_app(["Forty."], store=store, examples=("second", "first"))) as ui:
        await ui.press(*"draft", "up", "x")
        assert ui.box.drafts == ["secondx", "draft"]
        for key, text in (("up", "first"), ("down", "secondx"), ("down", "draft")):
            await ui.press(key)
            assert ui.box.text == text
        assert ui.box.drafts == ["secondx", "draft"]
        await ui.press_until(lambda: len(ui.exchanges) == 1, "up", "enter")
        assert ui.box.text == "", "the box changes only by a key that is meant to change it"
        await ui.wait_until("What you had typed is in the history (↑)")
        await ui.press_until(lambda: ui.box.text == "draft", "up", "up")


async def test_an_earlier_question_that_takes_the_place_of_a_draft_gives_it_back() -> None:
    async with running(make_app(["Forty.", "Ninety."])) as ui:
        ui.box.fill("draft")
        ui.focus(Scope.CHAT)
        await ui.press_until(lambda: ui.box.text == EXAMPLES[0], "down", "enter")
        await ui.press_until(lambda: ui.box.text == "draft", "escape")
        await ui.ask(FIRST)
        await ui.ask(SECOND)
        ui.box.fill("draft")
        ui.chat.target_selection.view = ui.chat.shown[0]
        await ui.press_until("Asks again · esc to cancel", "ctrl+r")
        assert ui.box.text == FIRST
        await ui.press_until(lambda: ui.box.text == "draft", "escape")
        assert "Asks again" not in ui.text
        await ui.press_until(lambda: ui.box.text == SECOND, "up")
        await ui.press_until(lambda: ui.box.text == "draft", "escape")


async def test_a_paste_of_a_megabyte_is_refused_at_once_and_told() -> None:
    async with running(make_app()) as ui:
        for kept, pasted in (("kept", 1_000_000), ("x" * 30_000, 30_000)):
            ui.box.fill(kept)
            ui.box.post_message(events.Paste("x" * pasted))
            await ui.wait_until("too long")
            assert "Save a longer text to a file, and open that (ctrl+o)." in ui.words
            assert ui.box.text == kept
            await ui.press_until(lambda: "too long" not in ui.text, "end")
        ui.box.fill("z" * 50_001)
        await ui.press_until("This question is too long", "enter")
        assert ui.box.text == "z" * 50_001
        ui.box.fill("x" * 30_000)
        ui.box.select_all()
        ui.box.post_message(events.Paste("y" * 30_000))
        await ui.wait_until(lambda: ui.box.text == "y" * 30_000)


TEN_LINES = "\n".join(f"line {number}" for number in range(10))


async def test_undo_of_a_long_paste_keeps_the_app_and_what_is_typed_next() -> None:
    async with running(make_app()) as ui:
        ui.app.post_message(events.Paste(TEN_LINES))
        await ui.wait_until(lambda: ui.box.text == TEN_LINES)
        await ui.press_until(lambda: not ui.box.text, "ctrl+z")
        await ui.press_until(lambda: ui.box.text == "x", "ctrl+z", "x")
        await ui.press_until(lambda: not ui.box.text, "ctrl+z")


FIRST, SECOND = "How many loaves?", "And the deck oven?"
WAITS = "takes back the last):"


@asynccontextmanager
async def queueing(
    *waiting: str, store: ConversationStore | None = None
) -> AsyncIterator[tuple[RunningApp, Callable[[], Awaitable[None]]]]:
    """Send a question, and others while the first is answered. What is yielded too lets all answers come."""
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.", gate=gate), *["Ninety."] * 5], store=store)) as ui:
        for text in (FIRST, *waiting):
            await ui.send(text, lambda: ui.main.is_asking and not ui.box.text)
        await ui.wait_until(WAITS if waiting else lambda: ui.main.is_asking)
        await ui.wait_until(lambda: len(ui.model.requests) == 1)

        async def answer_all() -> None:
            await ui.open_gate(gate)

        yield ui, answer_all


def questions(ui: RunningApp) -> list[str]:
    return [exchange.question for exchange in ui.exchanges]


async def test_questions_wait_dimmed_below_the_box_and_are_asked_one_by_one() -> None:
    waiting = [f"And oven {number}?" for number in range(1, 6)]
    async with queueing(*waiting) as (ui, answer_all):
        await ui.wait_until("and 2 more")
        rows = [row.rpartition("▕")[2].strip() for row in ui.rows]
        first = rows.index("Asked next (esc takes back the last):")
        assert rows[first - 1].startswith("╰")
        assert rows[first + 1 : first + 5] == ["1. And oven 1?", "2. And oven 2?", "3. And oven 3?", "and 2 more"]
        ui.box.fill("Half a question")
        await answer_all()
        assert questions(ui) == [FIRST, *waiting]
        assert ui.box.text == "Half a question"
        await ui.wait_until(lambda: WAITS not in ui.text)


async def test_what_is_refused_during_an_answer_leaves_the_questions_that_wait() -> None:
    async with queueing("And one?", SECOND) as (ui, answer_all):
        await ui.press_until("An answer is still running", "ctrl+n")
        assert ui.box.text == ""
        await answer_all()
        assert questions(ui) == [FIRST, "And one?", SECOND]


async def test_esc_takes_back_the_last_question_also_into_the_history_and_keeps_what_was_typed_since(
    store: ConversationStore,
) -> None:
    async with queueing("And one?", SECOND, store=store) as (ui, answer_all):
        await ui.press_until("esc shows your draft", "x", "escape")
        assert ui.box.text == SECOND
        await ui.press_until(lambda: ui.box.text == "x", "escape")
        await ui.press("backspace")
        await answer_all()
        assert questions(ui) == [FIRST, "And one?"]
        await ui.press_until(lambda: not ui.exchanges, "ctrl+n")
        assert ui.box.text == ""
        await ui.press_until(lambda: ui.box.text == SECOND, "up")


async def test_questions_that_wait_when_the_app_ends_come_back_one_by_one_above_the_draft(
    store: ConversationStore,
) -> None:
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.", gate=gate)], store=store)) as ui:
        for text in (FIRST, SECOND, "And a third?"):
            await ui.send(text, lambda: ui.main.is_asking and not ui.box.text)
        await ui.press(*"draft")
        await ui.press_until("Quit while questions are being answered?", "ctrl+q")
        await ui.press_until(lambda: ui.app._exit, "ctrl+q")
    async with running(make_app(store=store), (60, 24)) as ui:
        await ui.wait_until("Kept from last time · ↑ more")
        for text in ("draft", "And a third?", SECOND):
            assert ui.box.text == text
            await ui.press("up")
        await ui.press("down", "down")
        assert "Kept from" not in ui.text


@pytest.fixture
def draft(store: ConversationStore) -> None:
    """Have a draft that was kept last time."""
    file = DraftFile(store, "bakery.md", "0123456789ab")
    file.write(["old"])
    file.close()


@pytest.mark.usefixtures("draft")
async def test_what_is_typed_ahead_stays_in_the_box_above_what_was_kept(store: ConversationStore) -> None:
    app = make_app(store=store)
    app.main_screen.question_box.fill("new")
    async with running(app) as ui:
        await ui.wait_until("Kept from last time")
        assert ui.box.text == "new"
        await ui.press("up")
        assert ui.box.text == "old"


@pytest.mark.usefixtures("draft")
@pytest.mark.parametrize(
    ("keys", "text"), [(("e", "r"), "older"), (("ctrl+c", "n"), "n"), (("ctrl+c", "ctrl+z", "e"), "olde")]
)
async def test_a_kept_draft_stands_in_the_box_as_if_it_were_just_typed(
    keys: Sequence[str], text: str, store: ConversationStore
) -> None:
    async with running(make_app(store=store)) as ui:
        await ui.wait_until("Kept from last time")
        await ui.press_until(lambda: ui.box.text == text, *keys)


@pytest.mark.parametrize("keys", [("up",), ("escape",), ("ctrl+r",), ("ctrl+c",), ("shift+tab", "down", "enter")])
async def test_undo_brings_back_what_a_key_has_replaced_in_the_box(keys: Sequence[str]) -> None:
    async with running(make_app()) as ui:
        if keys == ("ctrl+r",):
            await ui.ask(FIRST, "Forty.")
        if keys == ("escape",):
            gate = asyncio.Event()
            ui.model.add_replies(ScriptedReply(text="Forty.", gate=gate))
            for question in (FIRST, SECOND):
                await ui.send(question, lambda: ui.main.is_asking and not ui.box.text)
        await ui.press(*"draft", *keys)
        await ui.wait_until(lambda: ui.box.text != "draft")
        await ui.focus(Scope.INPUT).press_until(lambda: ui.box.text == "draft", "ctrl+z")
        await ui.press("up", "down", "s")
        assert ui.box.text == "drafts"


async def test_after_a_stop_each_waiting_question_is_asked_as_it_was_sent() -> None:
    async with queueing("And one?", SECOND) as (ui, _):
        await ui.press_until(lambda: not ui.main.is_asking, "x", "ctrl+c")
        assert questions(ui) == [FIRST, "And one?", SECOND]
        assert ui.box.text == "x"


async def test_a_question_that_waited_for_a_section_that_is_gone_is_kept_and_the_next_is_asked() -> None:
    async with queueing() as (ui, answer_all):
        for question, section_id in (("And a third?", "ffffffff"), (SECOND, ui.find_id("Deck oven"))):
            ui.main.questions._options = AskOptions(within=section_id)
            await ui.send(question, lambda question=question: question in ui.text)
        await answer_all()
        await ui.wait_until(lambda: len(ui.exchanges) == 2 and not ui.main.is_asking)
        await ui.press_until(lambda: ui.box.text == "And a third?", "up", "up")
        assert questions(ui) == [FIRST, SECOND]
        assert ui.exchanges[-1].within == ui.find_id("Deck oven")


async def test_a_question_is_on_the_screen_while_the_model_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    async with running(make_app(["Forty."])) as ui:
        monkeypatch.setattr(ui.model, "start", gate.wait)
        await ui.send(FIRST, f"❯ {FIRST}")
        assert questions(ui) == []
        await ui.press_until("Not asked · ↑ brings it back", "ctrl+c")
        assert ui.box.text == ""
        assert f"❯ {FIRST} " not in ui.text
        assert not ui.main.status_line.reply.is_running
        gate.set()
        await ui.press("up")
        await ui.press_until("Forty.", "enter")
        assert questions(ui) == [FIRST]


async def test_escape_stops_the_answer_only_in_the_box_with_nothing_else_to_take_back() -> None:
    async with queueing(SECOND) as (ui, _):
        await ui.press("shift+tab", "escape")
        assert ui.main.focused is ui.box
        assert WAITS in ui.text
        await ui.press_until(lambda: ui.box.text == SECOND, "escape")
        await ui.press_until(lambda: ui.main.focused is not ui.box, "escape")
        assert ui.main.is_asking
        assert ui.box.text == SECOND
        assert "ctrl+c stops" in ui.text
        await ui.press_until(lambda: ui.main.focused is ui.box, "escape")
        ui.box.clear()
        await ui.press_until(lambda: not ui.main.is_asking, "escape")
        assert ui.main.focused is ui.box


async def test_ctrl_c_clears_the_box_last_and_undo_brings_it_back() -> None:
    async with queueing() as (ui, _):
        await ui.press_until(lambda: not ui.main.is_asking, *"draft", "ctrl+c")
        assert ui.box.text == "draft"
        await ui.press_until(lambda: not ui.box.text, "ctrl+c")
        await ui.press_until(lambda: ui.box.text == "draft", "ctrl+z")
        await ui.press("ctrl+w", "ctrl+z", "ctrl+c", "ctrl+z")
        assert ui.box.text == "draft"


async def test_a_question_that_is_cleared_from_the_box_is_not_asked_again_in_another_ones_place() -> None:
    async with running(make_app(["Forty.", "Ninety."])) as ui:
        await ui.ask(FIRST)
        await ui.press_until(lambda: ui.box.text == FIRST, "ctrl+r")
        await ui.press_until(lambda: not ui.box.text, "ctrl+c")
        await ui.ask(SECOND)
        assert questions(ui) == [FIRST, SECOND]


async def test_a_command_to_quit_and_the_path_of_a_file_are_not_asked_at_once(tmp_path: Path) -> None:
    file = tmp_path / "a b.md"
    file.write_text("# Ovens\n", "utf-8")
    typed = {":q!": "ctrl+q quits", "quit": "ctrl+q quits", f"'{file}'": "ctrl+o opens a file"}
    async with running(make_app(["Forty."] * 3), (200, 30)) as ui:
        for number, (words, hint) in enumerate(typed.items()):
            ui.box.fill(words)
            await ui.press_until(f"{hint} · enter asks “{words[:9]}", "enter")
            assert (ui.box.text, len(ui.exchanges)) == (words, number)
            await ui.press_until(lambda: len(ui.exchanges) > number and not ui.main.is_asking, "enter")  # noqa: B023
        assert questions(ui) == [*typed]


async def test_a_question_may_begin_with_a_slash() -> None:
    async with running(make_app()) as ui:
        for keys, text in (
            ([*"/etc/passwd is where?"], "/etc/passwd is where?"),
            ([*"/outl", "escape"], "/outl"),
            ([*"/outl", "f1"], "/outl"),
            (["/", "escape", "x"], "x"),
            (["/", "backspace", "x"], "x"),
        ):
            ui.box.clear()
            ui.type_at_once(*keys)
            await ui.wait_until(lambda: ui.app.screen is ui.main and ui.box.text == text)  # noqa: B023


async def test_a_slash_lists_the_commands_only_in_an_empty_box() -> None:
    async with running(make_app()) as ui:
        await ui.press(*"a/", "backspace", "backspace")
        assert ui.app.screen is ui.main
        ui.type_at_once(*"/outline", "enter")
        await ui.wait_until(lambda: ui.main.focused is ui.outline)
        assert ui.box.text == ""


async def test_the_key_that_deletes_a_word_says_in_an_empty_box_where_it_closes_the_document() -> None:
    async with running(make_app()) as ui:
        await ui.press(*"half word", "ctrl+w")
        assert ui.box.text == "half "
        await ui.press_until("leave the box first to close the document", "ctrl+w", "ctrl+w")
