"""Files are loaded when a command needs them, and never before."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from roamtui.conversation.beginning import find_first_unfolded
from roamtui.conversation.commands import (
    CollapseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    ReadSection,
    UnfoldNodes,
)
from roamtui.conversation.events import (
    ConversationEvent,
    ExpandStatus,
    LoadingProgressed,
    NodesLoaded,
    NodesUnfolded,
    SectionsExpanded,
)
from roamtui.conversation.loading import find_needed, grow
from roamtui.conversation.questions import Briefing, Outcome
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store
from roamtui.conversation.transcript import Stopped
from roamtui.document import document as module
from roamtui.document.build import open_sources
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import LoadedBatch, Loader, Report, load_files

BRIEFING = Briefing(system="s", outline="o", model="m")


class CountingLoader:
    """Loads like another, and records what and in which thread."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self.loaded: list[str] = []
        self.threads: set[int] = set()

    def load(self, library: Library, node_id: str) -> Document:
        self.loaded.append(library.title_of(node_id))
        self.threads.add(threading.get_ident())
        return self._loader.load(library, node_id)

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        self.loaded += [library.title_of(node_id) for node_id in node_ids]
        self.threads.add(threading.get_ident())
        return self._loader.load_batch(library, node_ids, approved, report)

    def find_unapproved(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        return self._loader.find_unapproved(library, node_ids, approved)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md"):
        title = Path(name).stem.upper()
        text = f"# {title}\n\nWords of {title}.\n\n## More of {title}\n\n{'Many words. ' * 900}\n"
        (root / name).write_text(text, "utf-8")
    return root


def start(folder: Path) -> tuple[Session, CountingLoader]:
    library, loader = open_sources([str(folder)])
    assert loader is not None
    counting = CountingLoader(loader)
    return Session.start(library, loader=counting), counting


def find(session: Session, title: str) -> str:
    library = session.state.library
    return next(node_id for node_id in library.walk() if library.title_of(node_id) == title)


async def dispatch(session: Session, command: Command) -> list[ConversationEvent]:
    return [event async for event in session.dispatch(command)]


async def test_the_agent_opens_a_file_that_is_not_loaded(folder: Path) -> None:
    session, loader = start(folder)
    a = find(session, "a.md")
    events = await dispatch(session, ExpandSections(section_ids=(a, f"{a}:1", "deadbeef"), origin=Origin.AGENT))
    assert events[0] == NodesLoaded(section_ids=(a,))
    expanded = events[-1]
    assert isinstance(expanded, SectionsExpanded)
    statuses = [result.status for result in expanded.results]
    assert statuses == [ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN, ExpandStatus.UNKNOWN]
    assert "Words of A." in expanded.results[0].text
    assert f"[{find(session, 'More of A')}] More of A" in expanded.results[0].text
    assert session.state.open_ids == (a,)
    assert session.state.open[0].deliveries[0].doc == "a.md"
    assert loader.loaded == ["a.md"]
    assert loader.threads != {threading.get_ident()}


async def test_what_a_person_does_loads_what_it_needs(folder: Path) -> None:
    for make in (
        lambda i: UnfoldNodes(section_ids=(i,)),
        lambda i: ReadSection(section_id=i),
        lambda i: PinSections(section_ids=(i,), is_pinned=True),
        lambda i: ExpandSections(section_ids=(i,), origin=Origin.PERSON),
    ):
        session, loader = start(folder)
        await dispatch(session, make(find(session, "c.md")))
        assert loader.loaded == ["c.md"]
        assert session.state.library.title_of(find(session, "More of C")) == "More of C"


async def test_other_commands_and_loaded_files_load_nothing(folder: Path) -> None:
    session, loader = start(folder)
    a = find(session, "a.md")
    for command in (
        FoldNodes(section_ids=(a,)),
        CollapseSections(section_ids=(a,), origin=Origin.PERSON),
        PinSections(section_ids=(a,), is_pinned=False),
        ReadSection(section_id=None),
        UnfoldNodes(section_ids=(find(session, "sub"), "deadbeef")),
    ):
        assert find_needed(session.state.library, command) == ()
        await dispatch(session, command)
    await dispatch(session, ReadSection(section_id=a))
    await dispatch(session, UnfoldNodes(section_ids=(a,)))
    assert loader.loaded == ["a.md"]


async def test_unfolding_a_file_unfolds_the_title_that_holds_all_of_it(folder: Path) -> None:
    session, _ = start(folder)
    a = find(session, "a.md")
    events = await dispatch(session, UnfoldNodes(section_ids=(a,)))
    assert events[-1] == NodesUnfolded(section_ids=(a, find(session, "A")), origin=Origin.PERSON)


async def test_a_file_that_cannot_be_read_fails_with_the_reason_and_is_tried_again(folder: Path) -> None:
    session, loader = start(folder)
    a = find(session, "a.md")
    (folder / "a.md").rename(folder / "kept")
    command = ExpandSections(section_ids=(a,), origin=Origin.AGENT)
    events = await dispatch(session, command)
    assert isinstance(events[0], NodesLoaded)
    assert "There is no file" in events[0].problems[0][1]
    expanded = events[-1]
    assert isinstance(expanded, SectionsExpanded)
    assert expanded.results[0].status is ExpandStatus.FAILED
    assert "There is no file" in expanded.results[0].text
    by_person = await dispatch(session, ExpandSections(section_ids=(a,), origin=Origin.PERSON))
    assert isinstance(by_person[-1], SectionsExpanded)
    assert by_person[-1].results[0].status is ExpandStatus.FAILED
    assert session.state.open == ()
    (folder / "kept").rename(folder / "a.md")
    await dispatch(session, command)
    assert session.state.open_ids == (a,)
    assert loader.loaded == ["a.md"] * 3


async def test_a_folder_lists_what_is_in_it_and_is_never_open(folder: Path) -> None:
    session, _ = start(folder)
    sub = find(session, "sub")
    by_agent = (await dispatch(session, ExpandSections(section_ids=(sub,), origin=Origin.AGENT)))[-1]
    assert isinstance(by_agent, SectionsExpanded)
    assert by_agent.results[0].status is ExpandStatus.OPENED
    assert f"[{find(session, 'c.md')}] c.md" in by_agent.results[0].text
    by_person = (await dispatch(session, ExpandSections(section_ids=(sub,), origin=Origin.PERSON)))[-1]
    assert isinstance(by_person, SectionsExpanded)
    assert by_person.results[0].text == "sub is a folder: open the files in it."
    assert session.state.open == ()


async def test_all_is_loaded_with_progress_and_once(folder: Path) -> None:
    session, loader = start(folder)
    await dispatch(session, ReadSection(section_id=find(session, "a.md")))
    events = [event async for event in session.load_all()]
    ids_loaded = (find(session, "b.md"), find(session, "c.md"))
    assert events == [LoadingProgressed(done=0, total=2), NodesLoaded(section_ids=ids_loaded)]
    assert [event async for event in session.load_all()] == []
    assert loader.loaded == ["a.md", "b.md", "c.md"]


async def test_without_a_loader_nothing_is_loaded(folder: Path) -> None:
    library, _ = open_sources([str(folder)])
    session = Session.start(library)
    assert [event async for event in session.load_all()] == []
    events = await dispatch(session, ExpandSections(section_ids=(find(session, "a.md"),), origin=Origin.AGENT))
    assert isinstance(events[-1], SectionsExpanded)
    assert events[-1].results[0].status is ExpandStatus.FAILED


async def test_the_state_follows_a_document_that_has_to_take_other_ids(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = module.hash_path

    def collide(doc: str, path: tuple[str, ...], ordinal: int, *salt: str) -> str:
        is_title = doc in ("a.md", "b.md") and path == (doc[0].upper(),)
        return "0badc0de" if is_title and not salt else plain(doc, path, ordinal, *salt)

    monkeypatch.setattr(module, "hash_path", collide)
    session, _ = start(folder)
    await dispatch(session, ReadSection(section_id=find(session, "b.md")))
    assert find(session, "B") == "0badc0de"
    await dispatch(session, ExpandSections(section_ids=("0badc0de",), origin=Origin.PERSON))
    await dispatch(session, ReadSection(section_id="0badc0de"))
    await dispatch(session, ReadSection(section_id=find(session, "a.md")))
    assert find(session, "A") == "0badc0de"
    moved = find(session, "B")
    assert moved != "0badc0de"
    assert session.state.open_ids == (moved,)


async def test_what_was_loaded_meanwhile_stays(folder: Path) -> None:
    session, loader = start(folder)
    a = find(session, "a.md")
    document = loader.load(session.state.library, a)
    await dispatch(session, ReadSection(section_id=a))
    state, event = grow(session.state, {a: document})
    assert event.section_ids == ()
    assert state.library.grafts[a] is session.state.library.grafts[a]


def test_a_folder_that_holds_all_is_unfolded_at_first(folder: Path) -> None:
    library, _ = open_sources([str(folder.parent)])
    assert [library.title_of(node_id) for node_id in find_first_unfolded(library)] == ["docs"]


async def test_a_resumed_conversation_delivers_anew_only_what_stands_in_changed_files(
    folder: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "c.sqlite3")
    library, loader = open_sources([str(folder)])
    assert loader is not None
    session = Session.start(load_files(library, loader), store=store, loader=loader)
    await session.begin_question("Why?", BRIEFING)
    wanted = (find(session, "a.md"), find(session, "b.md"))
    await dispatch(session, ExpandSections(section_ids=wanted, origin=Origin.AGENT))
    await session.finish_question(Outcome(answer="So.", stopped=Stopped.ANSWERED))
    same = Session.resume(session.state.library, session.state.id, store=store)
    assert same.state.open == session.state.open
    assert not same.state.needs_rebuild
    (folder / "b.md").write_text("# B\n\nOther words.\n", "utf-8")
    changed = Session.resume(load_files(*open_folder(folder)), session.state.id, store=store)
    assert changed.state.needs_rebuild
    assert [bool(section.deliveries) for section in changed.state.open] == [True, False]
    assert changed.state.open[0] == session.state.open[0]
    store.close()


def open_folder(folder: Path) -> tuple[Library, Loader]:
    library, loader = open_sources([str(folder)])
    assert loader is not None
    return library, loader


def test_growing_leaves_the_state_before_as_it_was(folder: Path) -> None:
    session, loader = start(folder)
    before = replace(session.state)
    a = find(session, "a.md")
    grow(session.state, {a: loader.load(before.library, a)})
    assert session.state == before
