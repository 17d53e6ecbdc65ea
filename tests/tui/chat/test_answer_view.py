"""The text of an answer: its marks, its links, and what it looks like while it still comes."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.pilot import Pilot

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.answer_view import AnswerView, close_open_markup, iter_citation_marks
from roamtui.tui.chat.content_view import LinkTarget, SectionTarget
from roamtui.tui.screens.dialogs import ConfirmDialog
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


async def test_keys_walk_over_the_links_of_an_answer() -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        starter = find_id(app, "Starter")
        await answer(pilot, f"See [steam](#steam), the [starter]({starter}) and [a page](https://example.org/x).")
        app.main_screen.panes.focus_chat()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Steam"))
        app.main_screen.panes.focus_chat()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == starter)
        app.main_screen.panes.focus_chat()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "https://example.org/x" in screen_text(app)


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


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a [a8a96034] b", [("a8a96034",)]),
        ("[a8a96034, 00000001;00000002]", [("a8a96034", "00000001", "00000002")]),
        ("[a8a96034:2] [a8a96034:c3.1]", [("a8a96034",), ("a8a96034",)]),
        ("[§ a8a96034, a8a96034:2]", [("a8a96034",)]),
        ("[**a8a96034**] [`a8a96034` `00000001`]", [("a8a96034",), ("a8a96034", "00000001")]),
        ("[a8a9603] [A8A96034] [a8a960345] (a8a96034) [a8a96034", []),
        ("[x](a8a96034) [1] []", []),
    ],
)
def test_marks_are_found(text: str, ids: list[tuple[str, ...]]) -> None:
    assert [section_ids for _, _, section_ids in iter_citation_marks(text)] == ids


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a **bold", "a **bold**"),
        ("a **bold ", "a **bold**"),
        ("a **", "a "),
        ("a **bold*", "a **bold**"),
        ("a **bold**", "a **bold**"),
        ("**one** and **two", "**one** and **two**"),
        ("**open\n\nnext", "**open\n\nnext"),
        ("a `code", "a `code`"),
        ("a `", "a "),
        ('so "it is" [9b2e', 'so "it is"'),
        ('so "it is" [9b2edcbe', 'so "it is"'),
        ('so "it is" [9b2edcbe]', 'so "it is" [9b2edcbe]'),
        ("[a link", "[a link"),
        ("```\na ** b", "```\na ** b"),
        ("```\nx\n```\n**b", "```\nx\n```\n**b**"),
    ],
)
def test_open_marks_are_closed(text: str, shown: str) -> None:
    assert close_open_markup(text) == shown


def render_content(text: str, width: int = 30) -> Content:
    view = AnswerView()
    view.finish(text, ())
    return view.render_content(width)


def draw(text: str, width: int = 30) -> list[str]:
    return [line.rstrip() for line in render_content(text, width).plain.split("\n")]


def test_markup_is_text() -> None:
    content = render_content("[/red] [@click=app.quit]y[/] <b>x</b>", 60)
    assert content.plain == "[/red] [@click=app.quit]y[/] x"
    assert [(span.start, span.style) for span in content.spans] == [(len(content.plain) - 1, "bold")]


@pytest.mark.parametrize(
    "text",
    ["", "```", "```\n", "- ", "|a|\n|-|", "> ", "1. ", "**", "[", "![](x)", "# ", "<details", "<!-- a", "> [!NO"],
)
def test_what_a_stream_may_end_in_is_drawn(text: str) -> None:
    render_content(text, 20)
    assert draw("Before.\n\n" + text)[0] == "Before."


def test_each_mark_of_a_section_leads_to_a_quote_of_its_own() -> None:
    one, two = (Citation(section_id="a8a96034", quote=quote, state=QuoteState.EXACT) for quote in ("one", "two"))
    view = AnswerView()
    view.finish('"one" [a8a96034] "two" [a8a96034] [x](#y)', (one, two))
    view.render_content(60)
    first, second, link = view.targets
    assert isinstance(first, SectionTarget)
    assert isinstance(second, SectionTarget)
    assert (first.citation, second.citation) == (one, two)
    assert link == LinkTarget("#y", "a8a96034")
