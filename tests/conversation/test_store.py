"""Conversations on disk: saved events survive damage to the rest of the file."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from roamtui.conversation.events import ConversationForked, LogEntrySkipped, TranscriptRebuilt
from roamtui.conversation.library_sync import get_source_key, resume_state
from roamtui.conversation.log import LOG_VERSION, LOST_QUESTION, ConversationLog, decode_entries
from roamtui.conversation.question_flow import rewind
from roamtui.conversation.state import OpenSectionOptions
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from roamtui.errors import ConversationConflictError, StoreError
from roamtui.export.markdown import render_markdown
from tests.conversation.conversations import Recorder, begin, check_messages, locked, make_library, messages
from tests.real_documents import PROJECT_DIR


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("roamtui.conversation.log._BUSY_SECONDS", 0.05)
    return tmp_path / "data" / "conversations"


@pytest.fixture
def store(path: Path) -> ConversationStore:
    return ConversationStore(path)


def _write(store: ConversationStore, name: str = "c0ffee", *questions: str, source: str = "manual.md") -> Recorder:
    """Play a conversation, and save it after each question."""
    played = Recorder(name, make_library(source=source))
    for question in questions or ("Why?",):
        store.write(played.ask(question, "Alpha", answer=f"Because of {question}").log)
    return played


def _file(path: Path, name: str = "c0ffee") -> Path:
    return path / f"{name}.jsonl"


def _questions(store: ConversationStore, name: str = "c0ffee") -> list[str]:
    return [exchange.question for exchange in store.load(name).transcript.exchanges]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_and_folders_are_private_whatever_the_umask_is(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = ConversationStore(path)
        _write(store)
        store.list()
    finally:
        os.umask(before)
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path, path.parent)} == {0o700}
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o600}


def test_existing_files_are_made_private(path: Path) -> None:
    path.mkdir(parents=True, mode=0o755)
    _file(path).touch(mode=0o644)
    store = ConversationStore(path)
    _write(store)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(_file(path).stat().st_mode) == 0o600


def test_the_log_restores_state_request_and_export(store: ConversationStore, path: Path, tmp_path: Path) -> None:
    played = _write(store, "c0ffee", "One?", "Two?")
    (tmp_path / "other").mkdir()
    _file(tmp_path / "other").write_bytes(_file(path).read_bytes())
    other = ConversationStore(tmp_path / "other")
    events = other.read("c0ffee").events
    resumed, told = resume_state(events, played.state.library, OpenSectionOptions())
    assert (resumed, told) == (played.state, ())
    assert messages(begin(resumed)) == messages(begin(played.state))
    assert render_markdown(other.load("c0ffee"), "x") == render_markdown(store.load("c0ffee"), "x")
    assert other.list()[0] == store.list()[0]


def test_saving_appends_new_events(store: ConversationStore, path: Path) -> None:
    played = _write(store)
    before = _file(path).read_bytes()
    store.write(played.log)
    assert _file(path).read_bytes() == before, "nothing was new"
    store.write(played.ask("And?").log)
    assert _file(path).read_bytes().startswith(before)
    assert store.read("c0ffee").events == played.log.events


def test_any_text_is_stored(store: ConversationStore) -> None:
    question = "\ud800\x00\x1b[31m \u202e “quotes” 標題 \r\n\u2028 '; DROP TABLE conversations; --"
    _write(store, "c0ffee", question)
    assert _questions(store) == [question]
    assert len(store.list()) == 1
    assert "標題" in store.read_search_texts()["c0ffee"]


def test_the_list_is_sorted_by_change_and_filtered_by_source(store: ConversationStore) -> None:
    first = _write(store, "a", "About a?")
    _write(store, "b", "About b?", source="other.md")
    _write(store, "c", "About c?", source="n\udce9.md")
    store.write(first.ask("And more?").log)
    assert [summary.id for summary in store.list()] == ["a", "c", "b"]
    assert [summary.id for summary in store.list("other.md")] == ["b"]
    assert [summary.id for summary in store.list(get_source_key(make_library(source="n\udce9.md")))] == ["c"]
    assert store.list("nothing.md") == ()
    newest = store.list()[0]
    assert (newest.title, newest.model, newest.source, newest.questions) == ("About a?", "scripted", "manual.md", 2)
    assert newest.created_at <= newest.updated_at


def test_piped_input_is_identified_by_its_content() -> None:
    one, same, other = (get_source_key(make_library(text, source="-")) for text in ("# A\n", "# A\n", "# B\n"))
    assert one == same != other


def test_the_list_follows_rewinds_and_forks(store: ConversationStore) -> None:
    played = Recorder().ask("One?").ask("Two?").ask("Three?")
    played.adopt(rewind(played.state, 3))
    forked = ConversationForked(conversation_id="0ther", title="One? (continued elsewhere)")
    store.write(ConversationLog(conversation_id="0ther", events=[*played.log.events, forked]))
    summary = store.list()[0]
    assert (summary.id, summary.title, summary.questions) == ("0ther", forked.title, 2)
    assert store.read_search_texts()["0ther"].split("\n") == ["One?", "Because.", "Two?", "Because."]


def test_renaming_keeps_the_position_in_the_list(store: ConversationStore) -> None:
    first = _write(store, "a", "About a?")
    _write(store, "b", "About b?")
    store.rename("a", "Ovens \ud800")
    assert [(summary.id, summary.title) for summary in store.list()] == [("b", "About b?"), ("a", "Ovens \\ud800")]
    assert store.load("a").title == "Ovens \ud800"
    store.write(first.ask("And?").log)
    assert _questions(store, "a") == ["About a?", "And?"]
    assert store.load("a").title == "Ovens \ud800", "a title from another program does not fork the conversation"
    with pytest.raises(StoreError, match="No conversation"):
        store.rename("z", "Nothing")


def test_a_missing_or_damaged_index_is_rebuilt(store: ConversationStore, path: Path) -> None:
    _write(store, "a", "About a?")
    listed, words = store.list(), store.read_search_texts()
    index = path / "index.sqlite3"
    index.unlink()
    assert store.list() == listed
    for content in (b"", b"no database at all", index.read_bytes()[:3_000]):
        index.write_bytes(content)
        assert (store.list(), store.read_search_texts()) == (listed, words)


def test_a_conversation_continued_elsewhere_is_not_overwritten(store: ConversationStore, path: Path) -> None:
    played = _write(store)
    other = ConversationStore(path)
    log = other.read("c0ffee")
    log.events += Recorder().ask("From the other?").log.events[2:]
    other.write(log)
    with pytest.raises(ConversationConflictError):
        store.write(played.ask("From here?").log)
    assert _questions(other) == ["Why?", "From the other?"]
    with pytest.raises(ConversationConflictError):
        store.write(ConversationLog(conversation_id="c0ffee", events=[*played.log.events]))


def test_a_log_deleted_elsewhere_is_written_again(store: ConversationStore, path: Path) -> None:
    played = _write(store)
    other = ConversationStore(path)
    other.delete("c0ffee")
    assert store.list() == ()
    store.write(played.ask("And?").log)
    assert _questions(store) == ["Why?", "And?"]


def test_a_locked_log_is_reported_and_written_later(store: ConversationStore, path: Path) -> None:
    played = _write(store)
    with (
        locked(path / ".lock"),
        pytest.raises(StoreError, match="Could not save the conversation: locked by another program"),
    ):
        store.write(played.ask("And?").log)
    store.write(played.log)
    assert _questions(store) == ["Why?", "And?"]


_KILLED = """
import sys
from pathlib import Path
from roamtui.conversation.log import locked, open_log
path = Path(sys.argv[1])
with locked(path.parent), open_log(path):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_killed_program_leaves_no_lock(store: ConversationStore, path: Path) -> None:
    played = _write(store)
    command = [sys.executable, "-c", _KILLED, str(_file(path))]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline().strip() == b"locked"
        with pytest.raises(StoreError, match="locked by another program"):
            store.write(played.ask("And?").log)
        program.kill()
    store.write(played.log)
    assert _questions(store) == ["Why?", "And?"]


def test_a_partial_write_is_cut_off(store: ConversationStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = _write(store)
    before = _file(path).read_bytes()
    write = os.write

    def fail(file: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(file, data[:-50])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fail)
        with pytest.raises(StoreError, match="No space left on device"):
            store.write(played.ask("And?").log)
    assert _file(path).read_bytes() == before
    store.write(played.log)
    assert _questions(store) == ["Why?", "And?"]


def test_a_question_is_saved_once_if_the_clock_cannot_be_set(store: ConversationStore, path: Path) -> None:
    (path / ".newest").mkdir()  # opening it for writing fails
    played = Recorder().begin("Why?")
    store.write(played.log)
    store.write(played.log)
    store.write(played.ask("And?").log)
    assert played.log.is_saved
    assert store.read("c0ffee").events == played.log.events
    (path / ".newest").rmdir()
    store.write(_write(store, "0ther").log)
    store.write(played.log)
    assert [summary.id for summary in store.list()] == ["c0ffee", "0ther"], "the next save puts it in order"


def test_a_torn_entry_is_skipped_reported_and_stays_in_the_file(store: ConversationStore, path: Path) -> None:
    played = _write(store, "c0ffee", "One?", "Two?")
    whole = _file(path).read_bytes()
    lines = whole.splitlines(keepends=True)
    for offset in random.Random(3).sample(range(len(lines[0]), len(whole)), 60):  # noqa: S311 - repeatable
        _file(path).write_bytes(whole[:offset])
        log = store.read("c0ffee")
        is_torn = whole[offset - 1 : offset] != b"\n" and whole[offset : offset + 1] != b"\n"
        assert bool(log.damage_message) == is_torn
        assert (
            _questions(store)
            == ["One?", "Two?"][
                : whole[:offset].count(b'{"event": "question_asked"')
                - (is_torn and whole[:offset].rpartition(b"\n")[2].startswith(b'{"event": "question_asked"'))
            ]
        )
        state, events = resume_state(log.events, played.state.library, OpenSectionOptions())
        log.events += events
        check_messages(messages(begin(state)))
        store.write(log)
        assert _file(path).read_bytes().startswith(whole[:offset])
        assert not store.load("c0ffee").is_asking


def test_a_damaged_entry_costs_no_more_than_its_own_question(store: ConversationStore, path: Path) -> None:
    questions = ["One?", "Two?", "Three?"]
    played = _write(store, "c0ffee", *questions)
    whole = _file(path).read_bytes()
    chance = random.Random(5)  # noqa: S311 - repeatable
    for _ in range(80):
        content = bytearray(whole)
        offset = chance.randrange(len(content))
        content[offset : offset + chance.choice([1, 40])] = bytes([chance.randrange(256)])
        _file(path).write_bytes(content)
        saved = store.load("c0ffee")
        kept = [(exchange.question, exchange.answer) for exchange in saved.transcript.exchanges]
        lost = [question for question in questions if (question, f"Because of {question}") not in kept]
        assert len(lost) <= 1 + (content.count(b"\n") < whole.count(b"\n"))
        assert len(kept) <= 3
        state, _ = resume_state(store.read("c0ffee").events, played.state.library, OpenSectionOptions())
        check_messages(messages(begin(state)))
        store.list()


def test_a_lost_question_gets_a_offsetholder(store: ConversationStore, path: Path) -> None:
    played = _write(store, "c0ffee", "One?", "Two?")
    lines = _file(path).read_bytes().splitlines(keepends=True)
    asked = [line for line in lines if line.startswith(b'{"event": "question_asked"')]
    answered = [line for line in lines if line.startswith(b'{"event": "question_answered"')]
    _file(path).write_bytes(b"".join(b"torn\n" if line == asked[0] else line for line in lines))
    first, second = store.load("c0ffee").transcript.exchanges
    assert (first.question, first.answer, second.question) == (LOST_QUESTION, "Because of One?", "Two?")
    assert "1 entry could not be read" in store.read("c0ffee").damage_message
    _file(path).write_bytes(b"".join(b"torn\n" if line == answered[0] else line for line in lines))
    first, second = store.load("c0ffee").transcript.exchanges
    assert (first.stopped, second.answer) == (StopReason.CANCELLED, "Because of Two?")
    state, _ = resume_state(store.read("c0ffee").events, played.state.library, OpenSectionOptions())
    assert state.needs_rebuild
    log = store.read("c0ffee")
    log.events.append(TranscriptRebuilt(system="", prologue="", model="", rebuilt_at=2))
    assert log.damage_message == "", "it was reported, and the transcript was rebuilt"


def test_a_log_of_another_version_is_refused_in_one_sentence_and_stays(store: ConversationStore, path: Path) -> None:
    _write(store, "kept")
    _write(store)
    content = _file(path).read_bytes()
    start = f'{{"format": "roamtui conversation", "version": {LOG_VERSION}, '.encode()
    assert content.startswith(start)
    for other in (b'{"format": "roamtui conversation", "version": 99, ', b"{"):
        changed = other + content.removeprefix(start)
        _file(path).write_bytes(changed)
        with pytest.raises(StoreError, match="was written by another version of roamtui"):
            store.read("c0ffee")
        assert [summary.id for summary in store.list()] == ["kept"]
        assert _file(path).read_bytes() == changed


@pytest.mark.parametrize(
    "line", [b"null", b"[]", b"7", b"{}", b"[" * 100_000, b'{"event": []}', b"\xff\xfe", b'{"event": "step_recorded"}']
)
def test_lines_that_are_not_entries_are_skipped(line: bytes) -> None:
    assert decode_entries(line + b"\n") == [LogEntrySkipped()]


def test_a_log_that_was_copied_or_lost_its_start_becomes_its_own_conversation(
    store: ConversationStore, path: Path
) -> None:
    _write(store)
    whole = _file(path).read_bytes()
    _file(path, "c0py").write_bytes(whole)
    _file(path, "cut").write_bytes(b"torn" + whole.partition(b"\n")[2])
    for name in ("c0py", "cut"):
        state = store.load(name)
        assert (state.id, state.needs_rebuild) == (name, True)
        log = store.read(name)
        log.events += Recorder().ask("And?").log.events[2:]
        store.write(log)
        assert _questions(store, name) == ["Why?", "And?"]
    assert _file(path).read_bytes() == whole


@pytest.mark.parametrize("name", ["file", "{file} {0}"])
def test_an_unusable_folder_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(StoreError, match="Could not store conversations in"):
        ConversationStore(tmp_path / name / "conversations")
    store = ConversationStore(tmp_path / name / "conversations", is_patient=True)
    assert store.problem
    with pytest.raises(StoreError, match="Could not store"):
        store.write(Recorder().ask().log)
    (tmp_path / name).unlink()
    store.write(Recorder().ask().log)
    assert _questions(store) == ["Why?"]


def test_an_id_cannot_name_a_file_in_another_folder(store: ConversationStore, path: Path) -> None:
    (path.parent / "secret.jsonl").write_text("{}\n", "utf-8")
    for name in ("../secret", "", ".", "a/b"):
        with pytest.raises(StoreError, match="No conversation"):
            store.read(name)
        with pytest.raises(StoreError, match="No conversation"):
            store.delete(name)


def test_threads_write_one_log_in_order(store: ConversationStore) -> None:
    played = Recorder()
    threads = []
    for number in range(20):
        played.ask(f"Question {number}?")
        threads.append(threading.Thread(target=store.write, args=(played.log,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert _questions(store) == [f"Question {number}?" for number in range(20)]
