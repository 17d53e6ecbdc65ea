"""Repeated runs in logs of version 0.2 are dropped, and real repetitions stay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roamtui.conversation.commands import CloseSections, ExpandSections, Origin
from roamtui.conversation.log import decode_log, encode_entries
from roamtui.conversation.question_flow import rewind
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.update import update
from tests.agent.asking import MANUAL, make_agent, saying
from tests.agent.asking import ask as ask_agent
from tests.conversation.conversations import Recorder, find, make_library
from tests.real_documents import PROJECT_DIR

CASES = PROJECT_DIR / "tests" / "cases" / "doubled_0_2"
"""Logs that version 0.2 wrote while `.newest` was a folder. It then resumed and continued `wenton`."""
ANSWERED = [
    ("First?", 'It costs "2 euros a day" [99a18bdd].'),
    ("How much is it?", 'It says "Open daily" [2413c5be].'),
    ("And after?", "Not found: nothing."),
]


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    store = ConversationStore(tmp_path / "conversations")
    for case in CASES.iterdir():
        shutil.copy(case, tmp_path / "conversations" / case.name)
    return store


def _list_answers(store: ConversationStore, name: str) -> list[tuple[str, str]]:
    return [(exchange.question, exchange.answer) for exchange in store.load(name).transcript.exchanges]


def _resume(store: ConversationStore, name: str) -> Session:
    return Session.resume(make_library(MANUAL), name, store=store)


def test_a_repeated_question_is_read_once(store: ConversationStore) -> None:
    assert _list_answers(store, "retried") == ANSWERED
    assert {summary.id: summary.questions for summary in store.list()} == {"retried": 3, "wenton": 4}
    assert store.read_search_texts()["retried"].count("How much is it?") == 1
    resumed = _resume(store, "retried").state
    assert [len(exchange.steps) for exchange in resumed.transcript.exchanges] == [1, 1, 0]
    assert len(resumed.open_sections) == 2
    assert all(len(section.deliveries) == 1 for section in resumed.open_sections)


async def test_a_rewind_by_the_numbers_of_0_2_is_translated(store: ConversationStore) -> None:
    later = ("Later, otherwise?", "Not found: no.")
    assert _list_answers(store, "wenton") == [*ANSWERED, later]
    session = _resume(store, "wenton")
    await session.rewind(4)
    assert _list_answers(store, "wenton") == ANSWERED
    await session.rewind(3)
    assert _list_answers(store, "wenton") == ANSWERED[:2]


@pytest.mark.parametrize("name", ["retried", "wenton"])
async def test_a_log_with_repeats_can_be_continued(store: ConversationStore, name: str) -> None:
    agent = make_agent([saying("Not found: no.")])
    agent.session.switch_to(_resume(store, name))
    before = _list_answers(store, name)
    await ask_agent(agent, "And now?")  # which checks what the model is sent
    assert _list_answers(store, name) == [*before, ("And now?", "Not found: no.")]
    resumed = _resume(store, name)
    assert resumed.state.transcript == agent.session.state.transcript
    await resumed.rewind(2)
    assert _list_answers(store, name) == ANSWERED[:1]


def test_real_repetitions_stay() -> None:
    played = Recorder()
    alpha = find(played.state, "Alpha")
    for _ in range(3):
        for command in (ExpandSections, CloseSections):
            played.adopt(update(played.state, command(section_ids=(alpha,), origin=Origin.PERSON)))
    for _ in range(3):
        played.ask("Why?")
        played.adopt(rewind(played.state, 1))
    for _ in range(3):
        played.ask("Why?")
    events, needs_mark = decode_log(encode_entries(played.log.events))
    assert events == played.log.events
    assert not needs_mark
