"""Conversations on disk."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from roamtui.conversation.resume import resume_state
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store, identify_source
from roamtui.conversation.transcript import Stopped
from roamtui.errors import ContinuedElsewhereError, StoreError
from tests.conversation.conversations import ask, begin, find, finish, make_library, make_state, open_by_person, step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def _load(store: Store, state: ConversationState) -> ConversationState:
    return resume_state(store.load(state.id), state.library, state.options)[0]


def test_only_its_owner_reads_the_file(store: Store, path: Path) -> None:
    store.save(ask(make_state(), "Alpha"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o644)
    Store(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_saved_comes_back(store: Store) -> None:
    state = make_state()
    for _ in range(3):
        state = open_by_person(ask(state, "Alpha", "Gamma", cited=["Alpha"]), "Beta")
        store.save(state)
        assert _load(store, state) == state


def test_a_question_under_way_is_saved_step_by_step(store: Store) -> None:
    state = begin(ask(make_state(), "Alpha"), "Second?")
    store.save(state)
    assert [exchange.question for exchange in store.load(state.id).transcript.exchanges] == ["Why?", "Second?"]
    state = step(state, "Beta")
    store.save(state)
    loaded = store.load(state.id).transcript.exchanges[1]
    assert loaded.stopped is Stopped.CANCELLED
    assert len(loaded.steps) == 1
    store.save(finish(state, "Done."))
    assert store.load(state.id).transcript.exchanges[1].answer == "Done."


def test_text_of_any_kind_is_kept(store: Store) -> None:
    question = "\ud800\x00\x1b[31m \u202e “quotes” 標題 '; DROP TABLE conversations; --"
    state = replace(ask(make_state(), question=question), model="m\udcff", title="t\udcff\x00")
    store.save(state)
    assert store.load(state.id).transcript.exchanges[0].question == question
    assert len(store.list()) == 1


def test_a_file_name_that_is_no_utf_8_is_kept_apart(store: Store) -> None:
    states = [
        replace(make_state(conversation_id=name), library=make_library(source=f"{name}\udce9.md")) for name in "ab"
    ]
    for state in states:
        store.save(ask(state))
        assert [summary.id for summary in store.list(identify_source(state))] == [state.id]


def test_the_list_is_newest_change_first_and_by_source(store: Store) -> None:
    states = [ask(make_state(conversation_id=name), question=f"About {name}?") for name in "abc"]
    states[1] = replace(states[1], library=make_library(source="other.md"))
    for state in states:
        store.save(state)
    store.save(ask(states[0]))
    assert [summary.id for summary in store.list()] == ["a", "c", "b"]
    assert [summary.id for summary in store.list("other.md")] == ["b"]
    assert [summary.id for summary in store.list("manual.md")] == ["a", "c"]
    assert store.list("nothing.md") == ()
    newest = store.list()[0]
    assert (newest.title, newest.model, newest.source, newest.questions) == (
        "About a?",
        "scripted",
        "manual.md",
        2,
    )
    assert newest.created_at < newest.updated_at


def test_what_came_by_a_pipe_is_known_by_its_content() -> None:
    one, same, other = (
        replace(make_state(), library=make_library(text, source="-")) for text in ("# A\n", "# A\n", "# B\n")
    )
    assert identify_source(one) == identify_source(same) != identify_source(other)


def test_a_new_title_stays_and_so_does_the_place_in_the_list(store: Store) -> None:
    states = [ask(make_state(conversation_id=name), question=f"About {name}?") for name in "ab"]
    for state in states:
        store.save(state)
    store.rename("a", "Ovens \ud800")
    assert [(summary.id, summary.title) for summary in store.list()] == [("b", "About b?"), ("a", "Ovens \\ud800")]
    assert store.load("a").title == "Ovens \\ud800"
    with pytest.raises(StoreError, match="There is no conversation"):
        store.rename("z", "Nothing")


def test_the_words_of_conversations_are_their_questions_and_answers(store: Store, path: Path) -> None:
    store.save(finish(begin(ask(make_state(conversation_id="a"), question="Größe?"), "And 標題?"), "Because “é”."))
    store.save(ask(make_state(conversation_id="b"), question="Other?"))
    words = store.read_words()
    assert words["a"].split("\n") == ["Größe?", "Because.", "And 標題?", "Because “é”."]
    assert words["b"].startswith("Other?")
    for damage in ("", "{", "null", "[]", "[" * 100_000):
        _damage(path, "UPDATE exchanges SET data = ? WHERE conversation_id = 'b'", damage)
        assert store.read_words()["a"] == words["a"]


def test_deleting_is_for_good(store: Store, path: Path) -> None:
    words = "an-unmistakable-question"
    state = ask(make_state(), "Alpha", question=f"Why {words}?")
    kept = ask(make_state(conversation_id="kept"))
    store.save(kept)
    store.save(finish(begin(state, f"And {words}?"), f"Because {words}."))
    assert words.encode() in path.read_bytes()
    store.delete(state.id)
    assert words.encode() not in path.read_bytes()
    assert b"alpha-0" not in path.read_bytes()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name], "no journal stays behind"
    assert [summary.id for summary in store.list()] == ["kept"]
    with pytest.raises(StoreError, match="There is no conversation"):
        store.load(state.id)
    with pytest.raises(StoreError, match="There is no conversation"):
        store.delete(state.id)
    assert _load(store, kept) == kept


def test_what_was_deleted_elsewhere_is_saved_whole_again(store: Store, path: Path) -> None:
    state = ask(ask(make_state(), "Alpha"))
    store.save(state)
    with closing(Store(path)) as other:
        other.delete(state.id)
    state = ask(state)
    store.save(state)
    assert _load(store, state) == state


def test_two_programs_use_one_file(store: Store, path: Path) -> None:
    state = ask(make_state(), "Alpha")
    store.save(state)
    with closing(Store(path)) as other:
        resumed = resume_state(other.take_up(state.id), state.library, state.options)[0]
        other.save(ask(resumed, "Beta", question="From the other?"))
        other.save(ask(make_state(conversation_id="second")))
    assert len(store.list()) == 2
    assert _list_questions(store, state.id) == ["Why?", "From the other?"]


def _list_questions(store: Store, conversation_id: str) -> list[str]:
    return [exchange.question for exchange in store.load(conversation_id).transcript.exchanges]


def test_what_another_program_went_on_with_is_not_written_over(store: Store, path: Path) -> None:
    state = ask(make_state(), "Alpha")
    store.save(state)
    with closing(Store(path)) as other:
        resumed = resume_state(other.take_up(state.id), state.library, state.options)[0]
        resumed = ask(resumed, "Beta", question="From the other?")
        other.save(resumed)
        for _ in range(2):
            with pytest.raises(ContinuedElsewhereError, match="Another program went on with the conversation c0ffee"):
                store.save(ask(state, question="From here?"))
        store.load(state.id)
        with pytest.raises(ContinuedElsewhereError):
            store.save(ask(state, question="From here?"))
        other.save(ask(resumed, question="Third?"))
    assert _list_questions(store, state.id) == ["Why?", "From the other?", "Third?"]
    taken_up = resume_state(store.take_up(state.id), state.library, state.options)[0]
    store.save(ask(taken_up, question="Fourth?"))
    assert _list_questions(store, state.id)[-1] == "Fourth?"


def test_a_conversation_that_this_program_never_took_up_is_not_written_over(store: Store, path: Path) -> None:
    state = ask(make_state(), "Alpha")
    with closing(Store(path)) as other:
        other.save(state)
    with pytest.raises(ContinuedElsewhereError):
        store.save(state)


def test_texts_of_conversations_that_were_left_are_not_held(store: Store) -> None:
    states = [ask(make_state(conversation_id=name), "Long") for name in "abc"]
    for state in states:
        store.save(state)
    held = {name: known.exchanges for name, known in store._known.items()}
    assert held == {"a": (), "b": (), "c": states[2].transcript.exchanges}
    store.save(ask(states[0]))
    assert len(store.load("a").transcript.exchanges) == 2


def test_the_order_of_changes_does_not_go_by_the_clock(store: Store, path: Path) -> None:
    states = [ask(make_state(conversation_id=name)) for name in "abc"]
    for state in states:
        store.save(state)
    _damage(path, "UPDATE conversations SET updated_at = ? WHERE id = 'b'", "2999-12-31T00:00:00+00:00")
    store.save(ask(states[0]))
    assert [summary.id for summary in store.list()] == ["a", "c", "b"]


def test_a_file_that_is_put_in_its_place_is_the_one_that_is_used(store: Store, path: Path) -> None:
    state = ask(make_state(), "Alpha")
    store.save(state)
    path.unlink()
    assert store.list() == ()
    state = ask(state)
    store.save(state)
    assert _load(store, state) == state
    with closing(Store(path.with_name("other.sqlite3"))) as other:
        other.save(ask(make_state(conversation_id="second")))
    path.with_name("other.sqlite3").replace(path)
    assert [summary.id for summary in store.list()] == ["second"]
    store.save(state)
    assert _load(store, state) == state


def test_an_answer_whose_saving_failed_is_written_with_the_next_one(store: Store, path: Path) -> None:
    state = begin(ask(make_state(), "Alpha"), "Second?")
    store.save(state)
    state = finish(state, "An answer that must not be lost.")
    with (
        _locked(path),
        pytest.raises(StoreError, match="The conversation is not saved: another program keeps it locked"),
    ):
        store.save(state)
    state = begin(state, "Third?")
    store.save(state)
    assert _load(store, state).transcript.exchanges[1].answer == "An answer that must not be lost."


def _locked(path: Path) -> closing[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return closing(connection)


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.conversation.database._BUSY_SECONDS", 0.05)


def test_a_locked_file_is_one_sentence(path: Path) -> None:
    with closing(Store(path)) as store:
        state = ask(make_state(), "Alpha")
        with _locked(path):
            for use in (store.list, lambda: store.save(state), lambda: store.load("x"), lambda: store.delete("x")):
                with pytest.raises(StoreError, match=r"another program keeps it locked") as caught:
                    use()
                assert str(path) in str(caught.value)
                assert caught.value.__cause__ is None
        store.save(state)
        assert len(store.list()) == 1


def test_a_file_of_a_newer_program_is_refused_and_left_alone(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"written by a newer roamtui. Update roamtui"):
        Store(path)
    assert path.read_bytes() == before


def _damage(path: Path, query: str, value: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(query, (value,))
        connection.commit()


def test_a_folder_in_place_of_the_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^Conversations cannot be kept in .*: Is a directory\.$"):
        Store(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^Conversations cannot be kept in "):
        Store(tmp_path / "file" / "conversations.sqlite3")


def test_what_is_no_file_is_left_as_it_is(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "conversations.sqlite3"
    os.mkfifo(pipe, 0o644)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(StoreError, match=r"something else than a file is there; move it away\.$"):
            Store(path)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o644


def test_a_link_leads_to_the_file_that_it_names(tmp_path: Path) -> None:
    link, elsewhere = tmp_path / "data" / "conversations.sqlite3", tmp_path / "elsewhere"
    for folder in (link.parent, elsewhere):
        folder.mkdir()
    link.symlink_to(elsewhere / "kept.sqlite3")
    with closing(Store(link)) as store:
        store.save(ask(make_state()))
    with closing(Store(elsewhere / "kept.sqlite3")) as store:
        assert len(store.list()) == 1
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(StoreError, match="symbolic links"):
        Store(link)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    unwritable = Path("/proc/roamtui") if Path("/proc/self").exists() else tmp_path / "no"
    with pytest.raises(StoreError, match=r"^Conversations cannot be kept in "):
        Store(unwritable / "conversations.sqlite3")


def test_a_patient_store_goes_on_and_writes_when_it_can(tmp_path: Path) -> None:
    blocked = tmp_path / "data"
    blocked.touch()
    store = Store(blocked / "conversations.sqlite3", is_patient=True)
    assert re.fullmatch(r"Conversations cannot be kept in .*: Not a directory\.", store.problem)
    state = ask(make_state(), "Alpha")
    with pytest.raises(StoreError):
        store.save(state)
    blocked.unlink()
    store.save(state)
    assert _load(store, state) == state
    store.close()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_files_and_folders_are_private_whatever_the_umask_is(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "share" / "roamtui" / "conversations.sqlite3"
    before = os.umask(umask)
    try:
        with closing(Store(path)) as store:
            store.save(ask(make_state()))
            store._database.write(lambda connection: _check_private(connection, path.parent))
    finally:
        os.umask(before)
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def _check_private(connection: sqlite3.Connection, folder: Path) -> None:
    connection.execute("UPDATE conversations SET title = 'x'")
    names = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert names == {"conversations.sqlite3": 0o600, "conversations.sqlite3-journal": 0o600}


def test_after_closing_uses_are_refused_in_a_sentence(path: Path) -> None:
    store = Store(path)
    store.close()
    with pytest.raises(StoreError):
        store.list()
    with pytest.raises(StoreError):
        store.save(make_state())


def test_sections_that_are_open_stay_the_same_sections(store: Store) -> None:
    state = ask(make_state(), "Child one")
    store.save(state)
    assert _load(store, state).open_ids == (find(state, "Child one"),)
