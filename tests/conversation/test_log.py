"""Conversations on disk: what is written, read, listed, locked and refused."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    ConversationRenamed,
    DocumentIdentified,
    Origin,
    QuestionAsked,
    QuestionsRewound,
    WarningRaised,
)
from roamtui.conversation.log import ConversationLog, ConversationStore, decode_log, encode_events
from roamtui.conversation.update import CloseSections, FoldNodes, OpenSections, PinSections
from roamtui.document.library import LibrarySource
from roamtui.errors import StoreError
from tests.conversation.conversations import Recorder, make_library
from tests.fakes.replay import replay_events
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "conversations"


def _save(store: ConversationStore, played: Recorder) -> ConversationLog:
    log = store.start(played.state.id, played.events)
    log.save()
    log.close()
    return log


def _path(folder: Path, conversation_id: str = "c0ffee") -> Path:
    return folder / f"{conversation_id}.jsonl"


def test_what_was_saved_is_read_again_and_continued(store: ConversationStore, folder: Path) -> None:
    played = Recorder().ask("Why?", "Alpha")
    _save(store, played)
    log, _, warning = store.open("c0ffee")
    assert (log.events, warning) == (played.events, "")
    played.ask("And \ud800 then?")
    log.events[:] = played.events
    log.save()
    log.close()
    assert store.read("c0ffee").events == played.events
    assert json.loads(_path(folder).read_bytes().splitlines()[0]) == {"format": "roamtui conversation", "version": 4}


def test_a_save_that_comes_late_does_not_lock_a_closed_log_again(store: ConversationStore) -> None:
    """Saves run in threads, and the program may close the log while some of them still wait for their turn."""
    played = Recorder().ask("Why?")
    log = store.start("c0ffee", played.events)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(100):
            log.events.append(ConversationRenamed(title=f"Name {number}"))
            late = [Thread(target=log.save) for _ in range(4)]
            for thread in late:
                thread.start()
            log.save()
            log.close()
            for thread in late:
                thread.join()
            other, _, warning = store.open("c0ffee")
            other.close()
            assert warning == ""
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b'{"format": "roamtui conversation", "version": 9}\n', "another version of roamtui"),
        (b'{"event": "conversation_started", "conversation_id": "c0ffee"}\n', "is not a roamtui conversation"),
        (b"\x00\xff\n", "is not a roamtui conversation"),
        (b"[1]", "is not a roamtui conversation"),
    ],
)
def test_a_log_of_another_version_is_refused_in_one_sentence_and_stays(
    store: ConversationStore, folder: Path, head: bytes, reason: str
) -> None:
    content = head + encode_events(Recorder().ask("Why?").events)
    folder.mkdir(parents=True)
    _path(folder).write_bytes(content)
    for read in (store.open, store.read, store.load):
        with pytest.raises(StoreError, match=reason):
            read("c0ffee")
    assert _path(folder).read_bytes() == content
    (summary,) = store.list()
    assert summary.id == "c0ffee"
    assert reason in summary.problem


@pytest.mark.parametrize("is_retry", [False, True])
def test_a_torn_last_change_is_dropped_and_said(store: ConversationStore, folder: Path, *, is_retry: bool) -> None:
    played = Recorder().ask("Why?")
    if is_retry:
        kept = [*played.events]
        played.record(QuestionsRewound(first=1))
        played.begin("Why, then?")
    else:
        kept = played.events[:-1]
    _save(store, played)
    lines = _path(folder).read_bytes().splitlines(keepends=True)
    changed = 2 if is_retry else 1  # lines of the change, of which the last is cut off
    _path(folder).write_bytes(b"".join(lines[: 1 + len(kept) + changed])[:-10])
    assert [(summary.problem, summary.questions) for summary in store.list()] == [("", 1)]
    log, state, warning = store.open("c0ffee")
    assert (log.events, state.id) == (kept, "c0ffee")
    assert "cut off" in warning
    log.close()
    store.rename("c0ffee", "Before")
    log, _, warning = store.open("c0ffee")
    assert (log.events, warning) == ([*kept, ConversationRenamed(title="Before")], "")
    log.events.append(ConversationRenamed(title="After"))
    log.save()
    log.close()
    assert decode_log(_path(folder).read_bytes(), "it").events == log.events


def _drop(lines: list[bytes], number: int) -> list[bytes]:
    return [*lines[:number], *lines[number + 1 :]]


def _spoil(lines: list[bytes], name: bytes, old: bytes, new: bytes) -> list[bytes]:
    """Change the first lines that hold an event of this name."""
    number = next(number for number, line in enumerate(lines) if b'"event": "' + name in line)
    return [*lines[:number], lines[number].replace(old, new, 1), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("spoil", "can_be_read"),
    [
        (lambda lines: _spoil(lines, b"question_answered", b'"at": "2', b'"at": "\xff'), True),
        (lambda lines: _spoil(lines, b"question_asked", b'"event": "q', b'"event": "X'), True),
        (lambda lines: _spoil(lines, b"transcript_rebuilt", b'"system"', b'"\x00ystem"'), True),
        (lambda lines: _drop(lines, 1), False),
        (lambda lines: [b"\x00" + lines[0], *lines[1:]], False),
        (lambda lines: [*lines[:2], *reversed(lines[2:])], True),
        (lambda lines: [*lines[:4], b'{"event": "unheard_of"}\n', *lines[5:]], True),
    ],
)
def test_a_damaged_log_says_so_in_the_list_and_stays_and_is_continued_in_a_copy(
    store: ConversationStore,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[list[bytes]], list[bytes]],
    *,
    can_be_read: bool,
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("manual.md").touch()
    _save(store, Recorder("aaa").ask("First?"))
    _save(store, Recorder("bbb").ask("Second?", "Alpha"))
    path = _path(folder, "bbb")
    damaged = b"".join(spoil(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(damaged)
    problems = {summary.id: summary.problem for summary in store.list()}
    assert problems["aaa"] == ""
    assert "is damaged" in problems["bbb"]
    assert store.get_latest().id == "aaa"
    if can_be_read:
        log, _, warning = store.open("bbb")
        log, state, warning = store.open("bbb")
        assert "you are now in a copy" in warning
        assert state == replay_events(state.library, log.events)
        assert state.id != "bbb"
        log.save()
        log.close()
        assert store.load(state.id).source == state.source
    else:
        with pytest.raises(StoreError, match="is damaged"):
            store.open("bbb")
    with pytest.raises(StoreError, match="is damaged"):
        store.rename("bbb", "Other")
    assert path.read_bytes() == damaged
    store.delete("bbb")
    assert "bbb" not in [summary.id for summary in store.list()]


def _damage(rng: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    first, second = rng.sample(range(len(lines)), 2)
    place = rng.randrange(len(content))
    start = sum(map(len, lines[:first])) + rng.randrange(60)  # in the name or the time of an event
    swapped = [*lines]
    swapped[first], swapped[second] = lines[second], lines[first]
    return rng.choice(
        [
            content[:place] + rng.randbytes(1) + content[place + 1 :],
            content[:start] + rng.randbytes(1) + content[start + 1 :],
            content[:place] + bytes(rng.choice([1, 10, 512])) + content[place:],
            content[:place],
            b"".join(swapped),
            b"".join(_drop(lines, first)),
            b"".join([*lines[:first], *lines[first:][:1], *lines[first:]]),
        ]
    )


def test_no_damage_stops_the_program(store: ConversationStore, folder: Path) -> None:
    played = Recorder().ask("Why?", "Alpha").ask("And?", "Beta")
    played.record(QuestionsRewound(first=2))
    _save(store, played.ask("Then?"))
    whole = _path(folder).read_bytes()
    rng = Random(1)  # noqa: S311 - not a secret
    for _ in range(400):
        _path(folder).write_bytes(_damage(rng, whole))
        assert [summary.id for summary in store.list()] in (["c0ffee"], [])
        for read in (store.load, lambda name: store.open(name)[0].close()):
            with suppress(StoreError):
                read("c0ffee")


def test_the_list_has_the_last_used_conversation_first_and_follows_every_change(
    store: ConversationStore, folder: Path
) -> None:
    for name, question in (("aaa", "First?"), ("bbb", "Second?")):
        _save(store, Recorder(name).ask(question))
    assert [summary.title for summary in store.list()] == ["Second?", "First?"]
    assert store.mark_used("aaa"), "a person left it last"
    assert store.get_latest("manual.md").id == "aaa"
    times = [summary.used_at for summary in store.list()]
    assert times == sorted(times, reverse=True), "the list is in the order of the times that it shows"
    assert not store.mark_used("ccc")
    assert store.mark_used("bbb")
    assert store.get_latest("manual.md").id == "bbb"
    with pytest.raises(StoreError, match="about this document"):
        store.get_latest("other.md")
    assert "Because." in store.list()[-1].text
    store.delete("bbb")
    assert [summary.id for summary in store.list()] == ["aaa"]
    assert [path.name for path in folder.rglob("*") if path.stem == "bbb"] == [], "its lock is gone too"


def test_a_conversation_of_ask_is_the_latest_only_where_it_is_listed(store: ConversationStore) -> None:
    _save(store, Recorder("aaa").ask("First?"))
    asked = Recorder("bbb").begin("Second?")
    asked.events = [
        replace(event, is_one_shot=True) if isinstance(event, QuestionAsked) else event for event in asked.events
    ]
    _save(store, asked)
    assert store.get_latest("manual.md").id == "aaa"
    assert store.get_latest("manual.md", with_one_shots=True).id == "bbb"


@pytest.mark.parametrize("source", ["/b.md, /a.md", "/a.md, /b.md"])
def test_a_conversation_with_an_added_source_is_named_where_its_documents_are_opened_together(
    store: ConversationStore, source: str
) -> None:
    sources = (LibrarySource(name="/a.md", key=""), LibrarySource(name="/b.md", key="b.md"))
    played = Recorder("aaa").ask("First?")
    played.events.append(DocumentIdentified(source="/a.md", content_hash="", sources=sources))
    _save(store, played)
    with pytest.raises(StoreError, match="roamtui --conversation aaa"):
        store.get_latest(source)


def test_an_open_conversation_is_not_renamed_elsewhere_and_a_sentence_says_why(store: ConversationStore) -> None:
    _save(store, Recorder("aaa").ask("First?"))
    log, _, _ = store.open("aaa")
    with pytest.raises(StoreError) as error:
        store.rename("aaa", "Other")
    log.close()
    assert str(error.value) == "Could not rename the conversation: another window or program is using it."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files, and keeps open ones")
def test_one_odd_entry_does_not_hide_the_others(store: ConversationStore, folder: Path) -> None:
    _save(store, Recorder().ask("Why?"))
    (folder / "aaa.jsonl").mkdir()
    (folder / "bbb.jsonl").symlink_to("bbb.jsonl")
    os.mkfifo(folder / "ccc.jsonl")
    with suppress(OverflowError):  # few file systems keep such a time
        os.utime(_path(folder), (10**12, 10**12))
    assert [summary.id for summary in store.list()] == ["c0ffee"]
    for name in ("aaa", "bbb", "ccc"):
        with pytest.raises(StoreError, match="No conversation"):
            store.rename(name, "x")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps open files")
@pytest.mark.parametrize("content", [None, b"", b"older\n", bytes(100_000)])
async def test_a_log_that_something_else_changes_stays_as_it_is_and_that_is_said(
    store: ConversationStore, folder: Path, content: bytes | None
) -> None:
    conversation = Conversation(make_library(), store=store)
    told: list[str] = []
    conversation.subscribe(lambda event: told.append(event.message) if isinstance(event, WarningRaised) else None)
    agent = Agent(conversation, ScriptedModel([ScriptedReply(text="So.")] * 3))
    await agent.ask("First?")
    path = _path(folder, conversation.state.id)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    await agent.ask("Second?")
    await agent.ask("Third?")
    assert [exchange.question for exchange in conversation.state.exchanges] == ["First?", "Second?", "Third?"]
    assert told == [conversation.save_failure] == [conversation.close()]
    assert told[0].startswith("Could not save the conversation: ")
    assert (path.read_bytes() if path.exists() else None) == content


@pytest.mark.parametrize("name", ["../secret", "", "a/b", "-", "a" * 5_000])
def test_an_id_cannot_name_a_file_in_another_folder(store: ConversationStore, folder: Path, name: str) -> None:
    (folder.parent / "secret.jsonl").write_text("{}")
    for call in (store.read, store.delete, store.open):
        with pytest.raises(StoreError, match="No conversation"):
            call(name)


async def test_what_was_opened_without_a_question_is_kept_and_nothing_else(store: ConversationStore) -> None:
    def start(saved_id: str = "") -> Conversation:
        conversation = Conversation(make_library(), store=store)
        return conversation.resume(saved_id) if saved_id else conversation

    def list_files() -> list[str]:
        return [path.name for path in store.drafts_folder.parent.rglob("*") if path.is_file()]

    conversation = start()
    section_id = next(iter(conversation.state.library.walk()))
    await conversation.record_reading(section_id)
    await conversation.execute(FoldNodes(section_ids=(section_id,), is_folded=False))
    assert conversation.close() == ""
    assert list_files() == []
    conversation = start()
    await conversation.execute(OpenSections(section_ids=(section_id,), origin=Origin.PERSON))
    await conversation.execute(PinSections(section_ids=(section_id,), is_pinned=True))
    conversation.close()
    (summary,) = store.list()
    assert (summary.id, summary.size_label) == (conversation.state.id, "1 section open, no question yet")
    assert store.get_latest(summary.source) == summary
    resumed = start(summary.id)
    assert resumed.state.open_sections[section_id].is_pinned
    await resumed.execute(PinSections(section_ids=(section_id,), is_pinned=False))
    await resumed.execute(CloseSections(section_ids=(section_id,), origin=Origin.PERSON))
    assert resumed.state.open_sections == {}
    resumed.close()
    assert list_files() == []
