"""What of a conversation is in view while it grows."""

from __future__ import annotations

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.chat.chat_log import write_answer
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import ask, expand, find_id, make_app, screen_text, wait_until

LONG = "The answer begins here.\n\n" + "\n\n".join(f"Paragraph {number}." for number in range(40))
SIZE = (80, 24)


async def test_a_long_answer_stays_at_its_beginning() -> None:
    app = make_app([ScriptedReply(text=LONG)])
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "What?")
        text = screen_text(app)
        assert "The answer begins here." in text
        assert "Paragraph 39." not in text
        assert app.main.chat_log.scroll_y < app.main.chat_log.max_scroll_y


async def test_what_the_model_does_is_followed_to_its_end() -> None:
    app = make_app()
    steps = [expand(find_id(app, title)) for title in ("Stone oven", "Deck oven", "Steam", "Starter")]
    app.app_context.agent.model.add_replies(*steps, *steps, ScriptedReply(text=LONG))  # type: ignore[attr-defined]
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "What?")
        text = screen_text(app)
        assert "The answer begins here." in text
        assert "❯ What?" not in text


async def test_a_person_who_scrolled_back_stays_there_while_an_answer_grows() -> None:
    app = make_app([ScriptedReply(text=LONG)])
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "What?")
        log = app.main.chat_log
        app.main.switch.go_log()
        await pilot.press("g")
        await wait_until(pilot, lambda: log.scroll_y == 0)
        assert log.current is not None
        log.current.append_answer("\n\nMore of it.")
        before = log.max_scroll_y
        await wait_until(pilot, lambda: log.max_scroll_y > before)
        await pilot.pause()
        assert log.scroll_y == 0


async def test_a_conversation_taken_up_again_shows_the_beginning_of_its_last_answer() -> None:
    app = make_app([ScriptedReply(text=LONG)])
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "What?")
        app.main.chat_log.start_over()
        await wait_until(pilot, lambda: "The answer begins here." in screen_text(app))
        assert "Paragraph 39." not in screen_text(app)


def test_an_answer_is_copied_with_its_sources() -> None:
    known = Citation(
        section_id="a8a96034",
        quote="forty loaves",
        state=QuoteState.EXACT,
        path=("Ovens", "Stone oven"),
        start_line=9,
        end_line=10,
    )
    unknown = Citation(section_id="0badc0de", quote=None, state=QuoteState.NO_QUOTE)
    assert write_answer(" Forty [a8a96034].\n", (known, unknown)) == (
        "Forty [a8a96034].\n"
        "\n"
        "Sources:\n"
        "\n"
        '- [a8a96034] Ovens > Stone oven, lines 9-10: "forty loaves" (quote found in the text)\n'
        "- [0badc0de] unknown section\n"
    )
