"""Commands and saved conversations load the files and pages that they need, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    ConversationEvent,
    LoadingStarted,
    NodesLoaded,
    OpenResult,
    OpenStatus,
    Origin,
    SectionsOpened,
)
from roamtui.conversation.update import Command, OpenSections
from roamtui.opening.loader import open_sources
from tests.case_files import read_case
from tests.conversation.conversations import FakeApprover
from tests.fakes.site import FakeSite
from tests.search.libraries import id_of

PAGE = "# {0}\n\nWords of {0}.\n\n## More of {0}\n\n" + "Many words. " * 900


def find(conversation: Conversation, title: str) -> str:
    return id_of(conversation.state.library, title)


async def dispatch(conversation: Conversation, command: Command) -> list[ConversationEvent]:
    """Carry out a command, and return what was published meanwhile."""
    events: list[ConversationEvent] = []
    conversation.subscribe(events.append)
    await conversation.execute(command)
    return events


def write_list(*urls: str) -> str:
    return "# Site\n\n## Docs\n\n" + "".join(f"- [{url.rpartition('/')[2]}]({url}): note\n" for url in urls)


@contextmanager
def open_site(*names: str) -> Iterator[FakeSite]:
    """Serve pages and an llms.txt that lists them."""
    pages = {f"/{name}.md": PAGE.format(name) for name in names}
    with FakeSite({"/llms.txt": write_list(*pages), **pages}) as site:
        yield site


def start_fetching(site: FakeSite) -> Conversation:
    library, loader = open_sources([site.url("/llms.txt")])
    return Conversation(library, source_loader=loader)


async def expand(conversation: Conversation, *titles: str, origin: Origin = Origin.AGENT) -> list[OpenResult]:
    ids = tuple(find(conversation, title) for title in titles)
    events = await dispatch(conversation, OpenSections(section_ids=ids, origin=origin))
    return [result for event in events if isinstance(event, SectionsOpened) for result in event.results]


async def test_a_batch_of_links_is_fetched_and_delivered_in_the_requested_order() -> None:
    with open_site("a", "b", "c") as site:
        conversation = start_fetching(site)
        ids = tuple(find(conversation, name) for name in ("c.md", "a.md"))
        events = await dispatch(conversation, OpenSections(section_ids=ids, origin=Origin.AGENT))
        assert events[:2] == [LoadingStarted(count=2), NodesLoaded(section_ids=ids, pages=ids)]
        (expanded,) = [event for event in events if isinstance(event, SectionsOpened)]
        assert [result.section_id for result in expanded.results] == list(ids)
        assert ["Words of c." in result.text for result in expanded.results] == [True, False]
        assert [find(conversation, "More of c") in result.text for result in expanded.results] == [True, False]
        assert "/b.md" not in site.counts.paths
        site.forget()
        await expand(conversation, "a.md", "c.md")
        assert site.counts.paths == []


async def test_an_approved_origin_stays_approved_in_the_conversation() -> None:
    with FakeSite({"/x.md": "# X\n\nFar words.\n", "/y.md": "# Y\n"}) as other, open_site("a") as site:
        site.pages["/llms.txt"] = write_list("/a.md", other.url("/x.md"), other.url("/y.md"))
        conversation = start_fetching(site)
        conversation.approver = approver = FakeApprover(answer=True)
        results = await expand(conversation, "x.md", "a.md")
        assert [request.detail for request in approver.asked] == [other.url("/x.md")]
        # Only what a person typed may be on this machine: a yes to a document's link opens no way into it.
        assert [result.status for result in results] == [OpenStatus.FAILED, OpenStatus.OPENED]
        assert other.counts.paths == []
        assert conversation.state.approved_origins == {other.origin}
        await expand(conversation, "y.md")
        assert len(approver.asked) == 1


@pytest.mark.parametrize("origin", Origin)
async def test_a_refused_origin_is_not_fetched(origin: Origin) -> None:
    with FakeSite({"/x.md": "# X\n"}) as other, open_site("a") as site:
        site.pages["/llms.txt"] = write_list("/a.md", other.url(f"/{'long-' * 40}/x.md"))
        conversation = start_fetching(site)
        conversation.approver = approver = FakeApprover(answer=False)
        for _ in range(2):
            (result,) = await expand(conversation, "x.md", origin=origin)
            assert result.status is OpenStatus.FAILED
            assert f"--allow-origin {other.origin}" in result.text
        assert other.counts.paths == []
        assert conversation.state.approved_origins == frozenset()
        assert len(approver.asked) == (1 if origin is Origin.AGENT else 2), "the agent does not ask twice"
        assert len(approver.asked[0].detail) == 70, "the URL of a link does not push the question off the screen"


INJECTED = read_case("injected.md")


async def test_text_of_a_document_cannot_make_the_program_fetch() -> None:
    with FakeSite({"/steal.md": "# Gone\n"}) as thief, open_site("a") as site:
        site.pages["/a.md"] = INJECTED.format(origin=thief.origin)
        conversation = start_fetching(site)
        conversation.approver = approver = FakeApprover(answer=False)
        (opened,) = await expand(conversation, "a.md")
        assert opened.status is OpenStatus.OPENED
        asked = (f"{thief.origin}/steal.md", thief.origin, "steal.md", "../a.md")
        events = await dispatch(conversation, OpenSections(section_ids=asked, origin=Origin.AGENT))
        (expanded,) = [event for event in events if isinstance(event, SectionsOpened)]
        assert {result.status for result in expanded.results} == {OpenStatus.UNKNOWN}
        assert (thief.counts.paths, approver.asked) == ([], [])
