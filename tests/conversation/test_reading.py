"""A conversation whose text was changed on disk comes back as far as it can be read, and can go on."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import ConversationEvent, SavingReported, SectionsExpanded
from roamtui.conversation.fold import apply
from roamtui.conversation.reading import LOST_QUESTION, recover_exchange
from roamtui.conversation.resume import resume_state
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store
from tests.conversation.conversations import (
    ask,
    begin,
    check_messages,
    expand_by_agent,
    find,
    finish,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
)

_STATE = "conversations SET state"
_SECOND = "exchanges SET data"
_BROKEN = ["", "[]", "null", "{}", '"x"', "{", '{"open": [1]}', "[" * 100_000, "\x00", "\ufffd" * 40]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def _play() -> ConversationState:
    """Play three questions; a section is pinned, one open only since the last of them, one waits for the next."""
    state = pin(ask(make_state(), "Alpha", question="First?", cited=["Alpha"]), "Alpha")
    state = finish(step(begin(state, "Second?"), "Beta", "Nowhere", text="Let me look."), "Two.", cited=["Beta"])
    state = finish(step(begin(state, "Third?"), "Gamma"), "Three.")
    return open_by_person(state, "Delta")


def _damage(path: Path, table: str, text: str) -> None:
    which = " AND number = 2" if table == _SECOND else ""
    key = "conversation_id" if table == _SECOND else "id"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} = ? WHERE {key} = 'c0ffee'{which}", (text,))
        connection.commit()


def _read(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def _take_up(store: Store, state: ConversationState) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    return resume_state(store.take_up(state.id), state.library, state.options)


def _check_goes_on(store: Store, state: ConversationState) -> None:
    """Check that the next request is one that a provider takes, and that all of it is saved."""
    state = ask(state, "Epsilon", question="And now?")
    check_messages(messages(state))
    store.save(state)
    again, events = _take_up(store, state)
    assert again == state
    assert events == ()


@pytest.mark.parametrize("damage", _BROKEN)
def test_a_damaged_question_leaves_the_others_whole(store: Store, path: Path, damage: str) -> None:
    state = _play()
    store.save(state)
    _damage(path, _SECOND, damage)
    back, events = _take_up(store, state)
    first, second, third = back.transcript.exchanges
    assert (first, third) == (state.transcript.exchanges[0], state.transcript.exchanges[2])
    assert (second.number, second.question, second.answer) == (2, LOST_QUESTION, "")
    assert "damaged on disk" in second.error
    assert back.open == state.open
    (told,) = [event.message for event in events if isinstance(event, SavingReported)]
    assert told.startswith("This conversation was damaged on disk: 1 question could not be read whole. You can go on;")
    begun = begin(back, "And now?")
    assert all(text in read_all(begun) for text in ("alpha-3", "beta-3", "gamma-3", "delta-3"))
    _check_goes_on(store, back)


@pytest.mark.parametrize("damage", _BROKEN)
def test_with_a_damaged_state_what_was_open_is_found_anew(store: Store, path: Path, damage: str) -> None:
    state = _play()
    store.save(state)
    _damage(path, _STATE, damage)
    store.save(ask(make_state(conversation_id="whole")))
    assert {summary.id for summary in store.list()} == {"c0ffee", "whole"}
    back, events = _take_up(store, state)
    assert back.transcript.exchanges[0].answer == state.transcript.exchanges[0].answer
    assert set(back.open_ids) >= {find(state, "Alpha"), find(state, "Beta")}
    found = back.find_open(find(state, "Alpha"))
    assert found is not None
    assert found.is_pinned
    assert "what was open had to be found anew" in str(events)
    assert "alpha-3" in read_all(begin(back, "And now?"))
    _check_goes_on(store, back)


def test_what_is_written_over_a_damaged_row_is_kept_to_the_byte(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE exchanges SET data = CAST(x'7b22ff00c3' AS TEXT) WHERE number = 2")
        connection.execute("UPDATE conversations SET state = CAST(x'7b22ff00c3' AS TEXT)")
        connection.commit()
    back, _ = _take_up(store, state)
    assert _read(path, "SELECT name FROM sqlite_master WHERE name = 'damaged_rows'") == []
    for _ in range(2):
        back = ask(back)
        store.save(back)
    rows = _read(path, "SELECT conversation_id, part, number, data FROM damaged_rows ORDER BY part")
    assert rows == [("c0ffee", "exchange", 2, b"{\x22\xff\x00\xc3"), ("c0ffee", "state", 0, b"{\x22\xff\x00\xc3")]
    store.delete(state.id)
    assert _read(path, "SELECT * FROM damaged_rows") == []


def test_a_missing_question_is_told_and_the_others_are_counted_anew(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM exchanges WHERE number = 2")
        connection.commit()
    back, events = _take_up(store, state)
    assert [(one.number, one.question) for one in back.transcript.exchanges] == [(1, "First?"), (2, "Third?")]
    assert "a question is missing" in str(events)
    _check_goes_on(store, back)


def test_values_of_a_wrong_type_are_damage_too(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    whole = json.loads(str(_read(path, "SELECT state FROM conversations")[0][0]))
    wrong: tuple[tuple[str, object], ...] = (
        ("open", {"x": 1}),
        ("open", [{**whole["open"][0], "tokens": 1.5}]),
        ("open", [{"opened_by": "nobody"}]),
        ("unfolded", 3),
        ("reading", 3),
        ("rebuilt_at", "1"),
        ("prologue", None),
        ("batches", [[]]),
    )
    for field, value in wrong:
        _damage(path, _STATE, json.dumps({**whole, field: value}))
        saved = store.load(state.id)
        assert saved.damage is not None
        assert saved.damage.has_state
        assert find(state, "Alpha") in {section.section_id for section in saved.open}


def test_any_changed_byte_costs_no_more_than_its_own_question(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    text = str(_read(path, "SELECT data FROM exchanges WHERE number = 2")[0][0])
    chance = random.Random(4)  # noqa: S311 - damage, no secret
    others = (state.transcript.exchanges[0], state.transcript.exchanges[2])
    with_question = 0
    for _ in range(150):
        place = chance.randrange(len(text))
        changed = text[:place] + chr(chance.randrange(128)) + text[place + 1 :]
        _damage(path, _SECOND, changed)
        saved = store.load(state.id)
        assert (saved.transcript.exchanges[0], saved.transcript.exchanges[2]) == others
        second = saved.transcript.exchanges[1]
        with_question += second.question == "Second?" and second.answer == "Two."
        back, _ = resume_state(saved, state.library, state.options)
        check_messages(messages(begin(back)))
    assert with_question > 120


def test_what_is_left_of_a_question_is_found_by_its_keys() -> None:
    text = '{"number": 7, "question": "Is \\"answer\\": \\"x\\" a key?", "answer": "No.", "steps": [{, "model": 5}'
    left = recover_exchange(text, 7)
    assert (left["question"], left["answer"], left["steps"], left["model"]) == (
        'Is "answer": "x" a key?',
        "No.",
        [],
        "",
    )


@pytest.mark.parametrize(
    "column", ["exchanges SET data", "conversations SET state", "conversations SET title", "conversations SET revision"]
)
@pytest.mark.parametrize("value", ["NULL", "7", "1.5", "x'ff00'"])
def test_a_value_that_is_no_text_is_damage_too(store: Store, path: Path, column: str, value: str) -> None:
    state = _play()
    store.save(state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(replace(sql, ' NOT NULL', ''), 'STRICT', '')")
        connection.commit()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {column} = {value}")
        connection.commit()
    assert [type(summary.title) for summary in store.list()] == [str]
    back, _ = _take_up(store, state)
    _check_goes_on(store, back)


def test_a_schema_that_is_no_text_is_damage_too(path: Path) -> None:
    with closing(Store(path)) as store:
        store.save(_play())
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE exchanges", b"CREATE \xda\xdaBLE exchanges"))
    with closing(Store(path)) as store:
        assert len(store.take_reports()) == 1
        assert len(store.load("c0ffee").transcript.exchanges) == 3


def test_a_program_goes_on_with_its_conversation_after_the_file_was_replaced(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE exchanges")
        connection.commit()
    store.save(ask(state, question="After that?"))
    assert [one.question for one in store.load(state.id).transcript.exchanges][-1] == "After that?"
    assert len(store.list()) == 1


def test_a_large_damaged_text_is_read_in_no_time() -> None:
    left = recover_exchange('{"question": ["' * 200_000, 1)
    assert left["question"] == LOST_QUESTION


def test_only_what_is_new_is_written_when_a_conversation_is_taken_up(store: Store, path: Path) -> None:
    state = _play()
    store.save(state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE exchanges SET data = replace(data, 'First?', 'Untouched?')")
        connection.commit()
    back, _ = _take_up(store, state)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE exchanges SET data = replace(data, 'Untouched?', 'Still untouched?')")
        connection.commit()
    store.save(ask(back))
    assert store.load(state.id).transcript.exchanges[0].question == "Still untouched?"


def test_what_the_last_question_opened_is_open_again_too(store: Store, path: Path) -> None:
    state, results = expand_by_agent(begin(make_state(), "First?"), "Alpha", "Nowhere")
    store.save(finish(apply(state, SectionsExpanded(results=results, origin=Origin.AGENT))))
    _damage(path, _STATE, "{")
    back, _ = _take_up(store, state)
    assert back.open_ids == (find(state, "Alpha"),)
    assert "alpha-3" in read_all(begin(back))
