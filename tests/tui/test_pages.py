"""Links in the app: a page is fetched when it is opened, another site is asked about by its host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.document.loader import open_sources
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import ConfirmDialog
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.fakes.site import FakeSite, SitePage
from tests.tui.driving import expand, find_id, press_until, running, screen_text, wait_until

FEES = """# Fees

Paid at the counter. See [renting](renting.md#keys) and [far](https://far.example/x).

## Late

2 euros.
"""
LIST = """# Bikes

- [Fees](fees.md): what it costs
- [Renting](renting.md): how
- [Elsewhere](http://other.example/x): far
"""


@pytest.fixture
def site() -> Iterator[FakeSite]:
    pages = {"/llms.txt": LIST, "/fees.md": FEES, "/renting.md": "# Renting\n\n## Keys\n\nTwo keys.\n"}
    with FakeSite(pages) as site:
        yield site


def make_app(site: FakeSite, *replies: Reply) -> RoamApp:
    library, loader = open_sources([site.origin])
    session = Conversation(library, loader=loader)
    return RoamApp(context_of(Agent(session, ScriptedModel(replies))))


async def test_a_page_is_fetched_and_read_when_its_link_is_chosen(site: FakeSite) -> None:
    async with running(make_app(site), (120, 30)) as (app, pilot):
        app.main_screen.panes.focus_tree()
        await pilot.press("j", "enter")
        reader = app.main_screen.reader_pane.reader
        await wait_until(pilot, lambda: reader.get_selected_or_section_text().startswith("# Fees"))
        assert app.main_screen.conversation.state.library.is_loaded(find_id(app, "Fees"))
        assert "/renting.md" not in site.counts.paths


async def test_a_page_that_cannot_be_fetched_says_why_and_enter_tries_again(site: FakeSite) -> None:
    site.pages["/fees.md"] = SitePage(status=404)
    async with running(make_app(site), (120, 30)) as (app, pilot):
        app.main_screen.panes.focus_tree()
        await pilot.press("j", "enter")
        reader = app.main_screen.reader_pane.reader
        await wait_until(pilot, lambda: "There is no page" in reader.get_selected_or_section_text())
        await wait_until(pilot, "✗ Fees")
        site.pages["/fees.md"] = FEES
        await press_until(pilot, lambda: reader.get_selected_or_section_text().startswith("# Fees"), "1", "enter")
        await wait_until(pilot, lambda: "✗ Fees" not in screen_text(app))


async def test_another_site_is_asked_about_by_its_host(site: FakeSite) -> None:
    probe = make_app(site)
    far = find_id(probe, "Elsewhere")
    app = make_app(site, expand(far), ScriptedReply(text="Not found: it is elsewhere."))
    async with app.run_test(size=(120, 30)) as pilot:
        screen = app.main_screen
        screen.question_box.fill("What is elsewhere?")
        screen.question_box.focus()
        await press_until(pilot, ConfirmDialog, "enter")
        shown = " ".join(screen_text(app).split())
        assert "from other.example" in shown
        assert "http://other.example/x" in shown
        await press_until(pilot, lambda: screen.conversation.state.question_number == 1 and not screen.is_asking, "n")
        assert "nobody approved" in screen.conversation.state.library.node(far).problem
        assert screen.conversation.state.approved_origins == frozenset()
