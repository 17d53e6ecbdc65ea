"""The text of an answer: its marks, its links, and what it looks like while it still comes."""

from __future__ import annotations

from textual.content import Content
from textual.pilot import Pilot

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.answer_view import AnswerView
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import app_of, ask, find_id, make_app, screen_text, wait_until


async def answer(pilot: Pilot[None], text: str) -> RoamApp:
    """Have the model answer with `text`."""
    app = app_of(pilot)
    model = app.app_context.agent.model
    assert isinstance(model, ScriptedModel)
    model.add_replies(ScriptedReply(text=text), ScriptedReply(text=text))
    await ask(pilot, "Where?")
    return app


async def test_a_click_on_a_link_follows_it_and_on_a_citation_jumps() -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        deck = find_id(app, "Deck oven")
        await answer(pilot, f"Of **[steam *let in*](#steam)** and loaves [{deck}].")
        rows = screen_text(app).split("\n")
        line = next(y for y, row in enumerate(rows) if "Of steam let in" in row)
        await pilot.click(offset=(rows[line].index("let in") + 2, line))
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Steam"))
        await pilot.press("2")
        app.main_screen.panes.show_chat()
        await pilot.pause()
        rows = screen_text(app).split("\n")
        await pilot.click(offset=(rows[line].index("[1]") + 1, line))
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == deck)


def styles_of(content: Content, words: str) -> set[str]:
    """Return the styles of words as one set."""
    start = content.plain.index(words)
    spans = [span for span in content.spans if span.start <= start and span.end >= start + len(words)]
    return {name for span in spans for name in str(span.style).split()}


def test_a_quote_has_the_style_of_its_verdict_and_its_mark_a_sign() -> None:
    text = 'So "one" [a8a96034]. But "two" [a8a96034]. Or "six" [a8a96034].'
    citations = []
    for quote, state in (("one", QuoteState.FOUND), ("two", QuoteState.ELSEWHERE), ("six", QuoteState.NOT_FOUND)):
        start = text.index(f'"{quote}"')
        end = start + len(quote) + 2
        citations.append(Citation(section_id="a8a96034", quote=quote, state=state, start=start, end=end))
    view = AnswerView()
    view.finish(text, tuple(citations))
    content = view.render_content(80)
    assert content.plain == 'So "one" [1 ✓]. But "two" [2 !]. Or "six" [3 ✗].'
    assert styles_of(content, '"one"') == {"underline", "$text-success"}
    assert styles_of(content, '"two"') == {"underline", "$text-warning"}
    assert styles_of(content, '"six"') == {"strike", "$text-error"}
    assert styles_of(content, "So") == set()
