"""Pages of a site that is too large to be read whole are read as far as their titles bear on the question."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.update import AskOptions
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from roamtui.opening.loader import open_sources
from roamtui.search.searcher import Searcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.site import FakeSite

PAGE = "<title>{0}</title><main><h1>{0}</h1><p>It takes {1} minutes.</p></main>"


@contextmanager
def open_agent(model: Model) -> Iterator[tuple[Agent, FakeSite]]:
    """Open a site of 80 pages, 20 of them about lamps."""
    titles = [f"Lamp {number}" if number % 4 == 0 else f"Item {number}" for number in range(80)]
    names = [f"/{title.lower().replace(' ', '-')}.html" for title in titles]
    pages = {name: PAGE.format(title, number) for number, (name, title) in enumerate(zip(names, titles, strict=True))}
    with FakeSite({"/": "<title>Shop</title><h1>Shop</h1>", **pages}) as site:
        urls = "".join(f"<url><loc>{site.url(name)}</loc></url>" for name in names)
        site.pages["/sitemap.xml"] = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        library, loader = open_sources([site.origin])
        site.forget()
        conversation = Conversation(library, source_loader=loader)
        yield Agent(conversation, model, Searcher(library)), site


@pytest.mark.parametrize("is_offline", [False, True])
async def test_pages_whose_titles_bear_on_the_question_are_read_before_it_is_answered(*, is_offline: bool) -> None:
    model = NoModel() if is_offline else ScriptedModel([ScriptedReply(text="Not found: none.")] * 2)
    with open_agent(model) as (agent, site):
        exchange = await agent.ask("How many minutes does lamp 12 take?")
        assert exchange is not None
        read = {path for path in site.counts.paths if path.endswith(".html")}
        assert "/lamp-12.html" in read
        assert len(read) <= 8
        if isinstance(model, ScriptedModel):
            assert "It takes 12 minutes." in "".join(message.text for message in model.requests[0].messages)
            assert exchange.basis is not None
            unread = tuple(hit.section_id for hit in exchange.basis.unread)
            assert unread
            await agent.ask("How many minutes does lamp 12 take?", AskOptions(open_first=unread))
            assert all(agent.conversation.state.library.node(page).is_loaded for page in unread)
        else:
            assert "It takes 12 minutes." in exchange.answer
