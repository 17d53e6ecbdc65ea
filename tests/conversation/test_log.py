"""Conversations on disk: what is written, read, listed, locked and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roamtui.conversation.events import ConversationRenamed
from roamtui.conversation.log import ConversationLog, ConversationStore, decode_log, encode_events
from roamtui.errors import StoreError
from tests.conversation.conversations import Recorder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "conversations"


@pytest.fixture
def store(folder: Path) -> ConversationStore:
    return ConversationStore(folder)


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
    log, warning = store.open("c0ffee")
    assert (log.events, warning) == (played.events, "")
    played.ask("And \ud800 then?")
    log.events[:] = played.events
    log.save()
    log.close()
    assert store.read("c0ffee") == played.events
    assert json.loads(_path(folder).read_bytes().splitlines()[0]) == {"format": "roamtui conversation", "version": 3}


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b'{"format": "roamtui conversation", "version": 9}\n', "another version of roamtui"),
        (b'{"event": "conversation_started", "conversation_id": "c0ffee"}\n', "is not a conversation of roamtui"),
        (b"\x00\xff\n", "is not a conversation of roamtui"),
        (b"[1]", "is not a conversation of roamtui"),
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
    assert store.list() == ()


def test_a_torn_last_entry_is_dropped_and_said(store: ConversationStore, folder: Path) -> None:
    played = Recorder().ask("Why?")
    _save(store, played)
    whole = _path(folder).read_bytes()
    _path(folder).write_bytes(whole[:-10])
    log, warning = store.open("c0ffee")
    assert log.events == played.events[:-1]
    assert "cut off" in warning
    log.events.append(ConversationRenamed(title="After"))
    log.save()
    log.close()
    assert decode_log(_path(folder).read_bytes(), "it")[0] == log.events


def test_a_damaged_entry_is_left_alone_and_the_conversation_continues_in_a_copy(
    store: ConversationStore, folder: Path
) -> None:
    played = Recorder().ask("Why?").ask("And?")
    _save(store, played)
    lines = _path(folder).read_bytes().splitlines(keepends=True)
    lines[4] = b'{"event": "unheard_of"}\n'
    _path(folder).write_bytes(b"".join(lines))
    log, warning = store.open("c0ffee")
    assert "continue in a copy" in warning
    log.save()
    log.close()
    assert _path(folder).read_bytes() == b"".join(lines)
    assert len(store.list()) == 2


def test_the_list_has_the_last_changed_conversation_first_and_follows_every_change(
    store: ConversationStore, folder: Path
) -> None:
    for name, question in (("aaa", "First?"), ("bbb", "Second?")):
        _save(store, Recorder(name).ask(question))
    assert [summary.title for summary in store.list()] == ["Second?", "First?"]
    assert [summary.id for summary in store.list("manual.md")] == ["bbb", "aaa"]
    assert store.list("other.md") == ()
    assert "Because." in store.list()[-1].text
    store.delete("bbb")
    assert [summary.id for summary in store.list()] == ["aaa"]
    assert not _path(folder, "bbb").exists()


@pytest.mark.parametrize("name", ["../secret", "", "a/b", "-"])
def test_an_id_cannot_name_a_file_in_another_folder(store: ConversationStore, folder: Path, name: str) -> None:
    (folder.parent / "secret.jsonl").write_text("{}")
    for call in (store.read, store.delete, store.open):
        with pytest.raises(StoreError, match="No conversation"):
            call(name)
