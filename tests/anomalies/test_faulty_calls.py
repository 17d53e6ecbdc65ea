"""Every call to the file system fails once, or from then on: nothing is lost or doubled, and the next save mends it.

Each deed below is done again and again: first its first call fails in each way, then its second, until all did.
"""

import asyncio
import errno
import math
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import pytest

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin, RecordedEvent, StopReason, WarningRaised
from roamtui.conversation.log import ConversationLog, ConversationStore, decode_log
from roamtui.conversation.notes import Note, NoteStore, make_note
from roamtui.conversation.update import OpenSections
from roamtui.errors import StoreError
from roamtui.file_cache import FileCache
from roamtui.output import write_export
from roamtui.settings import save_settings
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.faulty_disk import FAULTS, FULL, SHORT, FaultyDisk
from tests.conversation.conversations import Recorder, find, make_library

Failing = Callable[[], AbstractContextManager[list[str]]]
"""Lets the disk fail inside, and lists what was raised."""


def _read_events(folder: Path, conversation_id: str = "c0ffee") -> list[RecordedEvent]:
    path = folder / "conversations" / f"{conversation_id}.jsonl"
    content = path.read_bytes() if path.exists() else b""
    return decode_log(content, path.name).events if b"\n" in content else []


def _save(log: ConversationLog, folder: Path, failing: Failing) -> None:
    """Save while the disk fails, and check that the log on disk is how the conversation began; then save again."""
    with failing() as told:
        log.save()
    on_disk = _read_events(folder)
    assert on_disk == log.events[: len(on_disk)]
    assert told or on_disk == log.events
    assert all(one.startswith("Could not save the conversation: ") for one in told)
    log.save()
    assert _read_events(folder) == log.events
    log.close()


def _make_store(folder: Path, **questions: str) -> ConversationStore:
    """Return a store with conversations of one question each, by id."""
    store = ConversationStore(folder / "conversations")
    for name, question in questions.items():
        log = store.start(name, Recorder(name).ask(question).events)
        log.save()
        log.close()
    return store


def save_first(folder: Path, failing: Failing) -> None:
    with failing() as told:
        store = ConversationStore(folder / "conversations")
    assert told == []
    _save(store.start("c0ffee", Recorder().ask("Why?").events), folder, failing)


def save_more(folder: Path, failing: Failing) -> None:
    played = Recorder().ask("Why?")
    log = _make_store(folder).start("c0ffee", played.events)
    log.save()
    log.events[:] = played.ask("How?").events
    _save(log, folder, failing)


def resume(folder: Path, failing: Failing) -> None:
    """A conversation that cannot be locked is continued in a copy."""
    store = _make_store(folder, c0ffee="Why?")
    before = _read_events(folder)
    logs = list[ConversationLog]()
    with failing() as told:
        log, _, warning = store.open("c0ffee")
        logs.append(log)
        told.extend([warning] if warning else [])
    assert _read_events(folder) == before
    assert len(told) <= 1
    log = logs[0] if logs else store.open("c0ffee")[0]
    is_copy = bool(told) and "you are now in a copy" in told[0]
    log.events += Recorder().ask("Why?").ask("And?").events[len(before) :]
    log.save()
    log.close()
    asked = [[one.question for one in store.load(summary.id).exchanges] for summary in store.list()]
    assert asked == [["Why?", "And?"], ["Why?"]][: 1 + is_copy]


def ask_and_open(folder: Path, failing: Failing) -> None:
    """A conversation tells each reason once."""
    store = ConversationStore(folder / "conversations")
    agent = make_agent(store=store)
    (fees,) = ids(agent, "Fees")
    opening = OpenSections(section_ids=tuple(ids(agent, "Hours")), origin=Origin.PERSON)
    told: list[str] = []
    agent.conversation.subscribe(lambda event: told.append(event.message) if isinstance(event, WarningRaised) else None)

    async def live() -> None:
        model_of(agent).add_replies(expanding(fees), saying(f'It costs "2 euros a day" [{fees}].'))
        await ask(agent)
        await agent.conversation.execute(opening)

    with failing() as raised:
        asyncio.run(live())
    state = agent.conversation.state
    assert raised == []
    assert len(told) == len(set(told)) <= 1
    assert state.exchanges[-1].stopped is StopReason.ANSWERED
    agent.conversation.close()
    assert agent.conversation.save_failure == ""
    resumed = Conversation(state.library, store=store).resume(state.id)
    assert resumed.state == state
    resumed.close()


def rename(folder: Path, failing: Failing) -> None:
    store = _make_store(folder, a="Why?", b="How?")
    with failing() as told:
        store.rename("a", "Ovens")
    titles = {summary.id: summary.title for summary in store.list()}
    assert titles == {"b": "How?", "a": "Ovens"} or (told and titles == {"b": "How?", "a": "Why?"})
    assert all(
        one.startswith(("Could not rename the conversation: ", "Could not read the conversation a: ")) for one in told
    )
    store.rename("a", "Ovens")
    assert store.load("a").title == "Ovens"
    assert len(store.load("a").exchanges) == 1


def delete(folder: Path, failing: Failing) -> None:
    store = _make_store(folder, a="Why?", b="How?")
    with failing() as told:
        store.delete("a")
    assert all(one.startswith("Could not delete the conversation: ") for one in told)
    if told:
        with suppress(StoreError):  # it is gone
            store.delete("a")
    assert [summary.id for summary in store.list()] == ["b"]
    with pytest.raises(StoreError, match="No conversation"):
        store.read("a")


def _make_note(words: str) -> Note:
    library = make_library()
    citation = Citation(section_id=find(library, "Alpha"), quote=None, state=QuoteState.NO_QUOTE)
    return make_note(library, citation, words)


def _read_notes(folder: Path) -> list[str]:
    return [note.comment for note in NoteStore(folder / "notes", "manual.md").read()]


def keep_note(folder: Path, failing: Failing) -> None:
    notes = NoteStore(folder / "notes", "manual.md")
    with failing() as told:
        notes.save(_make_note("one"))
    kept = _read_notes(folder)
    assert kept == ["one"] or (told and kept == [])
    notes.save(_make_note("two"))
    assert _read_notes(folder) == [*kept, "two"]


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


def export_over_an_earlier_file(folder: Path, failing: Failing) -> None:
    path = folder / "answer.md"
    path.write_text("An earlier answer.\n", "utf-8")
    path.chmod(0o640)
    with failing() as told:
        write_export(path, "A new answer.\n")
    assert path.read_text("utf-8") == ("An earlier answer.\n" if told else "A new answer.\n")
    assert all(one.startswith(f"Could not write {path}: ") for one in told)
    write_export(path, "The last answer.\n")
    assert path.read_text("utf-8") == "The last answer.\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def cache_page(folder: Path, failing: Failing) -> None:
    cache = FileCache(folder / "pages", str, 10_000)
    with failing() as raised:
        cache.save("a", "words")
        assert cache.load("a") in ("words", None)
    assert raised == []
    cache.save("a", "words")
    assert cache.load("a") == "words"


DEEDS = (
    save_first, save_more, resume, ask_and_open, rename, delete, keep_note,
    change_setting, export_over_an_earlier_file, cache_page,
)  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_every_call_may_fail(
    deed: Callable[[Path, Failing], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = FaultyDisk(monkeypatch, tmp_path)

    def run(passes: int, faults: float, error: int) -> None:
        folder = tmp_path / f"{passes} {errno.errorcode.get(error, error)} {faults}"
        folder.mkdir()
        deed(folder, partial(disk.failing, passes, faults, error))

    faults_of_all = FAULTS[:2] if deed is ask_and_open else FAULTS  # its log is saved with each fault above
    run(0, 0, SHORT)
    calls = disk.calls
    for number, name in enumerate(calls):
        for error in (*faults_of_all, *((SHORT, FULL) if name == "write" else ())):
            for faults in (1, math.inf):
                run(number, faults, error)
    assert len(calls) > 1
