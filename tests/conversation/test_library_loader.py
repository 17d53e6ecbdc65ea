"""Commands and saved conversations load the files and pages that they need, and nothing else."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    LoadingStarted,
    NodesLoaded,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    SectionsExpanded,
    StopReason,
)
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.question_flow import begin_question, finish_question
from roamtui.conversation.update import Command, ExpandSections
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import Loader, load_files, open_sources
from tests.case_files import read_case
from tests.conversation.conversations import PROMPT_CONTEXT, FakeApprover
from tests.fakes.site import FakeSite, SitePage
from tests.search.libraries import id_of

PAGE = "# {0}\n\nWords of {0}.\n\n## More of {0}\n\n" + "Many words. " * 900


class CountingLoader(Loader):
    """Records what is loaded, and in which threads."""

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader.options, files=loader.files)
        self.loaded: list[str] = []
        self.threads: set[int] = set()

    @override
    def load_batch(self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]) -> dict[str, Document]:
        self.loaded += [library.node(node_id).title for node_id in node_ids]
        self.threads.add(threading.get_ident())
        return super().load_batch(library, node_ids, approved)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md"):
        (root / name).write_text(PAGE.format(Path(name).stem.upper()), "utf-8")
    return root


def open_folder(folder: Path) -> tuple[Library, Loader]:
    library, loader = open_sources([str(folder)])
    assert loader is not None
    return library, loader


def start(folder: Path) -> tuple[Conversation, CountingLoader]:
    library, loader = open_folder(folder)
    counting = CountingLoader(loader)
    return Conversation(library, source_loader=counting), counting


def find(conversation: Conversation, title: str) -> str:
    return id_of(conversation.state.library, title)


async def dispatch(conversation: Conversation, command: Command) -> list[ConversationEvent]:
    """Carry out a command, and return what was published meanwhile."""
    events: list[ConversationEvent] = []
    conversation.subscribe(events.append)
    await conversation.execute(command)
    return events


async def test_the_agent_opens_a_file_that_is_not_loaded(folder: Path) -> None:
    conversation, loader = start(folder)
    a = find(conversation, "a.md")
    events = await dispatch(conversation, ExpandSections(section_ids=(a, f"{a}:1", "deadbeef"), origin=Origin.AGENT))
    assert events[:2] == [LoadingStarted(count=1), NodesLoaded(section_ids=(a,))]
    expanded = events[-1]
    assert isinstance(expanded, SectionsExpanded)
    statuses = [result.status for result in expanded.results]
    assert statuses == [ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN, ExpandStatus.UNKNOWN]
    assert "Words of A." in expanded.results[0].text
    assert f"## More of A [{find(conversation, 'More of A')}]" in expanded.results[0].text
    assert tuple(conversation.state.open_sections) == (a,)
    assert next(iter(conversation.state.open_sections.values())).deliveries[0].doc == "a.md"
    assert loader.loaded == ["a.md"]
    assert loader.threads != {threading.get_ident()}


async def test_a_caller_that_stops_does_not_stop_the_loading_of_all_files(folder: Path) -> None:
    conversation, loader = start(folder)
    stopped = asyncio.create_task(conversation.library_loader.load_all())
    await asyncio.sleep(0)
    stopped.cancel()
    await conversation.library_loader.load_all()
    assert loader.loaded == ["a.md", "b.md", "c.md"]


async def test_resuming_redelivers_open_sections_if_anything_has_changed(folder: Path, tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "c")
    library, loader = open_folder(folder)
    conversation = Conversation(load_files(library, loader), store=store, source_loader=loader)
    await ask(conversation, "a.md", "b.md")
    conversation.close()
    same = Conversation(conversation.state.library, saved_id=conversation.state.id, store=store)
    assert same.state.open_sections == conversation.state.open_sections
    assert not same.state.needs_rebuild
    same.close()
    (folder / "b.md").write_text("# B\n\nOther words.\n", "utf-8")
    changed = Conversation(load_files(*open_folder(folder)), saved_id=conversation.state.id, store=store)
    assert changed.state.needs_rebuild
    assert [section.deliveries for section in changed.state.open_sections.values()] == [(), ()]


def write_list(*urls: str) -> str:
    return "# Site\n\n## Docs\n\n" + "".join(f"- [{url.rpartition('/')[2]}]({url}): note\n" for url in urls)


@contextmanager
def open_site(*names: str) -> Iterator[FakeSite]:
    """Serve pages and an llms.txt that lists them."""
    pages = {f"/{name}.md": PAGE.format(name) for name in names}
    with FakeSite({"/llms.txt": write_list(*pages), **pages}) as site:
        yield site


def start_fetching(site: FakeSite, store: ConversationStore | None = None) -> Conversation:
    library, loader = open_sources([site.url("/llms.txt")])
    return Conversation(library, store=store, source_loader=loader)


async def expand(conversation: Conversation, *titles: str, origin: Origin = Origin.AGENT) -> list[ExpandResult]:
    ids = tuple(find(conversation, title) for title in titles)
    events = await dispatch(conversation, ExpandSections(section_ids=ids, origin=origin))
    return [result for event in events if isinstance(event, SectionsExpanded) for result in event.results]


async def test_a_batch_of_links_is_fetched_and_delivered_in_the_requested_order() -> None:
    with open_site("a", "b", "c") as site:
        conversation = start_fetching(site)
        ids = tuple(find(conversation, name) for name in ("c.md", "a.md"))
        events = await dispatch(conversation, ExpandSections(section_ids=ids, origin=Origin.AGENT))
        assert events[:2] == [LoadingStarted(count=2), NodesLoaded(section_ids=ids, pages=ids)]
        (expanded,) = [event for event in events if isinstance(event, SectionsExpanded)]
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
        assert [result.status for result in results] == [ExpandStatus.FAILED, ExpandStatus.OPENED]
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
            assert result.status is ExpandStatus.FAILED
            assert f"--allow-origin {other.origin}" in result.text
        assert other.counts.paths == []
        assert conversation.state.approved_origins == frozenset()
        assert len(approver.asked) == (1 if origin is Origin.AGENT else 2), "the agent does not ask twice"
        assert len(approver.asked[0].detail) == 70, "the URL of a link does not push the question off the screen"


async def test_a_redirect_to_another_origin_needs_approval() -> None:
    with FakeSite({"/x.md": "# X\n"}) as other, open_site("a") as site:
        conversation = start_fetching(site)
        site.pages["/a.md"] = SitePage(status=302, location=other.url("/x.md"))
        conversation.approver = approver = FakeApprover(answer=False)
        (result,) = await expand(conversation, "a.md")
        host = other.origin.partition("://")[2]
        assert [host in request.question for request in approver.asked] == [True]
        assert (result.status, other.counts.paths) == (ExpandStatus.FAILED, [])


INJECTED = read_case("injected.md")


async def test_text_of_a_document_cannot_make_the_program_fetch() -> None:
    with FakeSite({"/steal.md": "# Gone\n"}) as thief, open_site("a") as site:
        site.pages["/a.md"] = INJECTED.format(origin=thief.origin)
        conversation = start_fetching(site)
        conversation.approver = approver = FakeApprover(answer=False)
        (opened,) = await expand(conversation, "a.md")
        assert opened.status is ExpandStatus.OPENED
        asked = (f"{thief.origin}/steal.md", thief.origin, "steal.md", "../a.md")
        events = await dispatch(conversation, ExpandSections(section_ids=asked, origin=Origin.AGENT))
        (expanded,) = [event for event in events if isinstance(event, SectionsExpanded)]
        assert {result.status for result in expanded.results} == {ExpandStatus.UNKNOWN}
        assert (thief.counts.paths, approver.asked) == ([], [])


async def ask(conversation: Conversation, *titles: str) -> None:
    await conversation.apply(begin_question(conversation.state, QuestionAsked(question="Why?"), PROMPT_CONTEXT))
    await expand(conversation, *titles)
    await conversation.apply(
        finish_question(conversation.state, QuestionAnswered(answer="So.", stopped=StopReason.ANSWERED))
    )


async def test_resuming_loads_the_pages_again(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "c")
    with open_site("a", "b") as site:
        conversation = start_fetching(site, store)
        await ask(conversation, "a.md")
        await expand(conversation, "More of a")
        before = conversation.state.open_sections
        library, loader = open_sources([site.url("/llms.txt")])
        site.forget()
        conversation.close()
        resumed = Conversation(library, saved_id=conversation.state.id, store=store, source_loader=loader)
        assert resumed.state.open_sections == before
        span = next(iter(before.values())).deliveries[0]
        assert resumed.state.library.text_at(span) == conversation.state.library.text_at(span)
        assert "/a.md" in site.counts.paths
        assert "/b.md" not in site.counts.paths
        assert not resumed.state.needs_rebuild
