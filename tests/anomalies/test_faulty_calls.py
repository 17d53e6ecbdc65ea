"""Every call to the file system fails once, or from then on: nothing is lost or doubled, and the next save mends it.

Each deed below is done again and again: first its first call fails in each way, then its second, until all did.
"""

from __future__ import annotations

import asyncio
import errno
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import pytest

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import LogEntrySkipped, QuestionAnswered, SaveFailed
from roamtui.conversation.log import Trace, decode_entries
from roamtui.conversation.notes import NoteStore
from roamtui.conversation.reading_positions import ReadingPosition, ReadingPositions
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from roamtui.errors import StoreError
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.summary_store import SummaryStore
from roamtui.search.vectors import VectorStore
from roamtui.settings import save_settings
from roamtui.sources.web.cache import PageCache
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.faulty_disk import FAULTS, FULL, SHORT, FaultyDisk
from tests.conversation.conversations import Recorder, make_library
from tests.conversation.test_notes import make as make_note
from tests.sources.web.test_cache import REPLY

Failing = Callable[[], AbstractContextManager[list[str]]]
"""Lets the disk fail inside, and lists what was raised."""


def _file(folder: Path, name: str) -> Path:
    return folder / "conversations" / f"{name}.jsonl"


def _read_events(path: Path) -> list[object]:
    return [*decode_entries(path.read_bytes())] if path.exists() else []


def _read_whole_events(path: Path) -> list[object]:
    """Return the events of a file without the one at the end that was torn."""
    events = _read_events(path)
    return events[:-1] if events and isinstance(events[-1], LogEntrySkipped) else events


def _check_saved(played: Recorder, folder: Path, told: Sequence[str]) -> None:
    """Check that the log on disk begins as the conversation did, and that what was told of it is true."""
    log = played.log
    on_disk = _read_whole_events(_file(folder, log.conversation_id))
    assert on_disk == log.events[: len(on_disk)]
    assert log.saved_count <= len(on_disk)
    assert log.is_saved == (not told)
    assert all(one.startswith("Could not save the conversation: ") for one in told)


def _go_on(store: ConversationStore, played: Recorder, folder: Path) -> None:
    """Check that the next save writes all, once."""
    store.write(played.ask("And?").log)
    assert _read_events(_file(folder, played.log.conversation_id)) == played.log.events
    assert store.list()[0].questions == len(played.state.transcript.exchanges)
    assert {path.name for path in (folder / "conversations").iterdir()} <= {
        f"{played.log.conversation_id}.jsonl",
        ".newest",
        ".lock",
        "index.sqlite3",
    }


def save_first(folder: Path, failing: Failing) -> None:
    played = Recorder().ask("Why?")
    store = None
    with failing() as told:
        store = ConversationStore(folder / "conversations")
        store.write(played.log)
    if store is not None:
        _check_saved(played, folder, told)
    _go_on(store or ConversationStore(folder / "conversations"), played, folder)


def save_more(folder: Path, failing: Failing) -> None:
    store, played = ConversationStore(folder / "conversations"), Recorder().ask("Why?")
    store.write(played.log)
    played.begin("How?")
    with failing() as told:
        store.write(played.log)
    _check_saved(played, folder, told)
    played.record(QuestionAnswered(number=2, answer="So.", stopped=StopReason.ANSWERED))
    _go_on(store, played, folder)


def ask_and_open(folder: Path, failing: Failing) -> None:
    """What the session tells: each reason once."""
    store = ConversationStore(folder / "conversations")
    agent = make_agent(store=store)
    (fees,) = ids(agent, "Fees")
    told: list[str] = []

    async def live() -> None:
        model_of(agent).add_replies(expanding(fees), saying(f'It costs "2 euros a day" [{fees}].'))
        told.extend(event.message for event in await ask(agent) if isinstance(event, SaveFailed))
        opening = ExpandSections(section_ids=tuple(ids(agent, "Hours")), origin=Origin.PERSON)
        async for event in agent.session.dispatch(opening):
            told.extend([event.message] if isinstance(event, SaveFailed) else [])

    with failing() as raised:
        asyncio.run(live())
    state = agent.session.state
    assert raised == []
    assert len(told) == len(set(told)) <= 1
    assert state.transcript.exchanges[-1].stopped is StopReason.ANSWERED
    agent.session.flush()
    assert agent.session.save_failure == ""
    assert agent.session.state.id == state.id, "it was not taken for another program's"
    assert Session.resume(state.library, state.id, store=ConversationStore(folder / "conversations")).state == state
    assert _read_events(_file(folder, state.id)) == agent.session._log.events


def rename(folder: Path, failing: Failing) -> None:
    store, played = ConversationStore(folder / "conversations"), Recorder("a").ask("Why?")
    store.write(played.log)
    store.write(Recorder("b").ask("How?").log)
    with failing() as told:
        store.rename("a", "Ovens")
    titles = {summary.id: summary.title for summary in store.list()}
    assert titles == {"b": "How?", "a": "Ovens"} or (told and titles == {"b": "How?", "a": "Why?"})
    assert all(one.startswith("Could not rename the conversation: ") for one in told)
    store.rename("a", "Ovens")
    store.write(played.ask("And?").log)
    assert store.load("a").title == "Ovens"
    assert len(store.load("a").transcript.exchanges) == 2


def delete(folder: Path, failing: Failing) -> None:
    store = ConversationStore(folder / "conversations")
    for name in ("kept", "gone"):
        store.write(Recorder(name).ask(f"Why {name}?").ask("How?").log)
    (gone, kept) = (summary.id for summary in store.list())
    played = Recorder(gone)
    log = store.read(gone)
    secret = store.read_search_texts()[gone].split("\n")[0]
    with failing() as told:
        store.delete(gone)
    reports = store.pop_warnings()
    assert all(one.startswith("Could not delete the conversation: ") for one in told)
    assert len(reports) <= 2
    if not told:
        assert [summary.id for summary in store.list()] == [kept]
    store = ConversationStore(folder / "conversations")
    with suppress(StoreError):  # it is gone
        store.delete(gone)
    assert [summary.id for summary in store.list()] == [kept]
    with pytest.raises(StoreError, match="No conversation"):
        store.read(gone)
    holding = [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert holding == [] or any(str(holding[0]) in one for one in reports), holding
    log.events += played.ask("And?").log.events[1:]
    store.write(log)
    assert len(store.load(gone).transcript.exchanges) == 3, "what is still open in a program is written whole again"


def list_all(folder: Path, failing: Failing) -> None:
    store = ConversationStore(folder / "conversations")
    for name in "ab":
        store.write(Recorder(name).ask(f"Of {name}?").log)
    with failing() as told:
        assert [summary.id for summary in store.list()] == ["b", "a"]
    assert all(one.startswith("Could not read ") for one in told)
    assert [summary.id for summary in store.list()] == ["b", "a"]
    assert store.read_search_texts() == {name: f"Of {name}?\nBecause." for name in "ab"}


def _read_notes(folder: Path) -> list[str]:
    notes = NoteStore(folder / "notes", "manual.md")
    words = [note.words for note in notes.read()]
    assert notes.damage == ""
    return words


def keep_note(folder: Path, failing: Failing) -> None:
    notes = NoteStore(folder / "notes", "manual.md")
    with failing() as told:
        notes.save(make_note("one"))
    assert [note.words for note in notes.read()] == ["one"]
    assert told or _read_notes(folder) == ["one"]
    notes.save(make_note("two"))
    assert _read_notes(folder) == ["one", "two"]
    lines = (path.read_bytes() for path in (folder / "notes").glob("*.jsonl"))
    assert sum(content.count(b"note_kept") for content in lines) == 2


def delete_note(folder: Path, failing: Failing) -> None:
    notes = NoteStore(folder / "notes", "manual.md")
    gone = make_note("secret")
    notes.save(make_note("one"), gone, make_note("two"))
    with failing() as told:
        notes.delete({gone.id})
    assert all("Could not delete" in one for one in told)
    again = NoteStore(folder / "notes", "manual.md")
    assert [note.words for note in again.read() if note.id != gone.id] == ["one", "two"]
    notes.save(make_note("three"))
    if told:
        notes.delete({gone.id})
    assert _read_notes(folder) == ["one", "two", "three"]
    assert not any(b"secret" in path.read_bytes() for path in (folder / "notes").iterdir())


def index_words(folder: Path, failing: Failing) -> None:
    told: list[str] = []
    place = IndexLocation(folder=folder / "indexes", on_warning=told.append, force=True)
    library = make_library("# Fruit\n\n## Apples\n\nThey are red.\n\n## Pears\n\nThey are green.\n")
    expected = KeywordSearcher(library).search("green")
    assert [library.title_of(hit.section_id) for hit in expected] == ["Pears"]
    with failing() as raised:
        assert KeywordSearcher(library, location=place).search("green") == expected
    assert raised == []
    assert len(told) <= 1
    told.clear()
    assert KeywordSearcher(library, location=place).search("green") == expected
    assert told == []
    assert list((folder / "indexes").glob("*.sqlite3"))


def save_vectors(folder: Path, failing: Failing) -> None:
    rows = {bytes([number]): bytes([number]) * 4 for number in range(3)}
    with failing() as raised:
        warnings: list[str] = []
        store = VectorStore(folder / "cache", warnings.append)
        for digest, row in rows.items():
            store.save({digest: row}, "m")
        held = store.load(rows, "m")
        store.close()
        assert len(set(warnings)) == len(warnings) <= 1
        assert warnings or held == rows
    assert raised == []
    warnings = []
    store = VectorStore(folder / "cache", warnings.append)
    assert store.load(rows, "m").items() <= rows.items()
    store.save(rows, "m")
    assert store.load(rows, "m") == rows
    assert warnings == []
    store.close()


def save_summaries(folder: Path, failing: Failing) -> None:
    file = SummaryStore(folder / "cache" / "a.summaries.sqlite3")
    file.save({"old": "Old."}, "m")
    with failing() as told:
        file.save({"new": "New."}, "m")
    assert all("Delete" not in one for one in told), "nothing is wrong with the file"
    assert file.load() == ({"old": "Old."} if told else {"old": "Old.", "new": "New."})
    file.save({"new": "New."}, "m")
    assert file.load() == {"old": "Old.", "new": "New."}


def change_setting(folder: Path, failing: Failing) -> None:
    path = folder / "config" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "one"\n', "utf-8")
    with failing() as told:
        save_settings(path, {"model": "two"})
    assert path.read_text("utf-8") == f'model = "{"one" if told else "two"}"\n'
    assert all(one.startswith("Could not save the setting") for one in told)
    save_settings(path, {"model": "three"})
    assert path.read_text("utf-8") == 'model = "three"\n'


def keep_place(folder: Path, failing: Failing) -> None:
    places = ReadingPositions(folder / "data" / "places.json")
    old, new = ReadingPosition("a" * 8, 3, ""), ReadingPosition("b" * 8, 5, "")
    places.save("old.md", old)
    with failing() as raised:
        places.save("new.md", new)
    assert raised == []
    assert places.load("old.md") == old
    assert places.load("new.md") in (new, None)
    places.save("new.md", new)
    assert (places.load("old.md"), places.load("new.md")) == (old, new)


def cache_page(folder: Path, failing: Failing) -> None:
    cache = PageCache(folder / "pages", 10_000)
    with failing() as raised:
        cache.save(REPLY)
        assert cache.load(REPLY.url, REPLY.accept) in (REPLY, None)
    assert raised == []
    cache.save(REPLY)
    assert cache.load(REPLY.url, REPLY.accept) == REPLY


def trace(folder: Path, failing: Failing) -> None:
    played = Recorder().ask("Why?")
    path = folder / "trace.jsonl"
    with failing() as told:
        written = Trace(path, lambda entry: entry)
        written.write(played.log)
        written.write(played.ask("And?").log)
        told.extend([written.failure] if written.failure else [])
    on_disk = _read_whole_events(path)
    assert on_disk == played.log.events[: len(on_disk)]
    assert len(told) == (on_disk != played.log.events)


DEEDS = (
    save_first, save_more, ask_and_open, rename, delete, list_all, keep_note, delete_note, index_words,
    save_vectors, save_summaries, change_setting, keep_place, cache_page, trace,
)  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_every_call_may_fail(
    deed: Callable[[Path, Failing], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    disk = FaultyDisk(monkeypatch, tmp_path)
    tried = 0

    def run(passes: int, faults: float, error: int) -> None:
        nonlocal tried
        folder = tmp_path / f"{passes} {errno.errorcode.get(error, error)} {faults}"
        folder.mkdir()
        deed(folder, partial(disk.failing, passes, faults, error))
        tried += 1

    run(0, 0, SHORT)
    calls = disk.calls
    for number, name in enumerate(calls):
        for error in (*FAULTS, *((SHORT, FULL) if name == "write" else ())):
            for faults in (1, math.inf):
                run(number, faults, error)
    record_property("calls", len(calls))
    record_property("combinations", tried - 1)
    assert len(calls) > 2
