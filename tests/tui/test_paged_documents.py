"""A document with pages: outline and reader say the page, a mark stands where one begins, and one can go to a page."""

from __future__ import annotations

from textual.widgets import Input

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import ScriptedModel
from tests.tui.driving import find_id, press_until, running, screen_text, wait_until

_PAGES = (
    "# Annual report\n\n## Letter\n\nA good year was had by all of us, and it\n",
    "went on like that to its end.\n\n## Risks\n\nThe sea is deep.\n\n",
    "",
    "## Figures\n\n" + "Income rose again, by more than anyone had thought. \n\n" * 30,
    "The last page has few words.\n",
)


def _make_paged_app(pages: tuple[str, ...] = _PAGES) -> RoamApp:
    starts = tuple(sum(map(len, pages[:number])) for number in range(len(pages)))
    raw = RawText(text="".join(pages), source="report.pdf", name="report.pdf", page_starts=starts, is_converted=True)
    agent = Agent(Conversation(build_library(raw)), ScriptedModel(()))
    return RoamApp(context_of(agent))


def _line_of(app: RoamApp, words: str) -> str:
    return next(line for line in screen_text(app).splitlines() if words in line)


async def _go_to(app: RoamApp, page: str) -> None:
    field = app.screen.query_one(Input)
    field.value = page
    await field.action_submit()


async def test_the_reader_says_its_page_and_marks_where_pages_begin() -> None:
    async with running(_make_paged_app(), (120, 30)) as (app, pilot):
        app.main_screen.panes.focus_tree()
        await press_until(pilot, "had by all of us", "enter")
        assert "Annual report · p. 1" in _line_of(app, "3 Reader")
        text = screen_text(app)
        assert text.index("all of us, and it") < text.index("─ p. 2") < text.index("went on like that")
        assert "─ p. 3" not in text  # it is empty: what stands there is on the page after it
        await press_until(pilot, lambda: "Figures · p. 4" in _line_of(app, "3 Reader"), "3", "pagedown")


async def test_what_is_scrolled_to_on_a_page_is_the_section_that_keys_mean() -> None:
    pages = (
        "# One\n\n" + "First. \n\n" * 30,
        "its end\n\n# Two\n\n" + "Second.\n\n" * 30,
        "more\n\n# Three\n\nThird.\n",
    )
    async with running(_make_paged_app(pages), (120, 30)) as (app, pilot):
        await pilot.press("ctrl+g")
        await _go_to(app, "2")
        await wait_until(pilot, "Second.")
        text = screen_text(app)
        assert text.index("─ p. 2") < text.index("its end") < text.index("Second.")
        app.main_screen.panes.focus_reader()
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.reader_pane.reader)
        await press_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Two"), "pagedown")
        await press_until(pilot, lambda: bool(app.main_screen.conversation.state.open_sections), "a")
        assert app.main_screen.conversation.state.open_sections[0].section_id == find_id(app, "Two")
