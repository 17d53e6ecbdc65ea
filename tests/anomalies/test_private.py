"""What must not be readable afterwards is in no file: secrets never, a deleted conversation no longer."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation.damage import list_damaged
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store
from tests.anomalies.mortal_programs import MortalPrograms
from tests.cli.conftest import GARDEN
from tests.conversation.conversations import begin, finish, make_state
from tests.conversation.test_database import write_first
from tests.fakes.http_server import FakeReply
from tests.fakes.openai_server import FakeOpenAIServer, openai_error

SECRET = "sk-a-secret-0123456789abcdef"  # noqa: S105 - no real one


def _find(folder: Path, words: str) -> list[str]:
    """Return the files below a folder whose bytes hold some words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if words.encode() in path.read_bytes()]


def _play(state: ConversationState, question: str, answer: str) -> ConversationState:
    return finish(begin(state, question), answer)


def test_a_deleted_conversation_is_in_no_byte_of_any_file(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - a test that can be run again
    folder = tmp_path / "data"
    states: dict[str, ConversationState] = {}
    deleted = 0
    with closing(Store(folder / "conversations.sqlite3")) as store:
        for number in range(90):
            if states and chance.random() < 0.35:
                gone = chance.choice(sorted(states))
                store.delete(gone)
                del states[gone]
                deleted += 1
                assert _find(folder, gone) == _find(folder, f"words-of-{gone} ") == []
                continue
            name = chance.choice(sorted(states)) if states and chance.random() < 0.5 else f"id-{number:04}"
            state = states.get(name) or make_state(conversation_id=name)
            size = chance.choice([1, 60, 1_000, 4_000])
            states[name] = _play(state, f"words-of-{name} " * size, "Because.")
            store.save(states[name])
            assert _find(folder, f"words-of-{name} ")
    assert deleted > 20


def test_what_is_taken_back_is_in_no_byte_either(tmp_path: Path) -> None:
    state = _play(make_state(), "First?", "Yes.")
    longer = _play(state, "taken-back " * 500, "No.")
    with closing(Store(tmp_path / "conversations.sqlite3")) as store:
        store.save(longer)
        assert _find(tmp_path, "taken-back ")
        store.save(state)
        assert _find(tmp_path, "taken-back ") == []


def test_copies_of_older_versions_forget_too(tmp_path: Path) -> None:
    state = _play(make_state(), "to-be-forgotten " * 300, "Because.")
    write_first(tmp_path / "conversations.sqlite3", [state, make_state(conversation_id="other")])
    with closing(Store(tmp_path / "conversations.sqlite3")) as store:
        assert len(_find(tmp_path, "to-be-forgotten")) == 2
        store.delete(state.id)
        assert _find(tmp_path, "to-be-forgotten") == _find(tmp_path, state.id) == []
        assert store.take_reports() == ()


def test_where_a_deleted_conversation_may_still_be_is_told(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite3"
    with closing(Store(path)) as store:
        store.save(_play(make_state(), "Why?", "Because."))
    content = bytearray(path.read_bytes())
    content[:100] = b"\xff" * 100
    path.write_bytes(content)
    with closing(Store(path)) as store:
        store.take_reports()
        store.delete("c0ffee")
        (aside,) = list_damaged(path)
        assert store.take_reports() == (
            f"The deleted conversation may still be read in {aside}. Delete that file too.",
        )
        assert _find(tmp_path, "c0ffee") == [aside.name]


@pytest.mark.slow
def test_all_that_the_program_writes_is_its_owners_alone(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "docs"
    home.mkdir()
    folder.mkdir()
    (folder / "garden.md").write_text(GARDEN, "utf-8")
    (folder / "page.html").write_text("<h1>Shed</h1><p>The shed is red.</p>", "utf-8")
    commands = (
        ("ask", str(folder), "What does a plot cost?", "--trace", str(home / "trace.jsonl")),
        ("search", str(folder), "shed"),
        ("outline", str(folder / "page.html")),
        ("conversations",),
    )
    with closing(MortalPrograms(tmp_path)) as programs:
        for command in commands:
            run = programs.run(*command, home=home, umask=0)
            assert run.code == 0, run.errors
    loose = {
        str(path.relative_to(home)): oct(path.stat().st_mode) for path in home.rglob("*") if path.stat().st_mode & 0o077
    }
    assert loose == {}
    assert len([path for path in home.rglob("*") if path.is_file()]) >= 2


@pytest.mark.slow
def test_a_key_is_in_no_file_although_the_provider_repeats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    document = tmp_path / "garden.md"
    document.write_text(GARDEN, "utf-8")
    home = tmp_path / "home"
    with FakeOpenAIServer() as server, closing(MortalPrograms(tmp_path)) as programs:
        server.reset(FakeReply(status=401, error=openai_error(f"Incorrect API key provided: {SECRET}.")))
        run = programs.run(
            *("ask", str(document), "Which key?", "--model", "openai/some-model", "--api-base", server.url),
            *("--trace", str(home / "trace.jsonl"), "--events"),
            home=home,
        )
    assert len(server.bodies) == 1
    assert run.find("answer")[0]["stopped"] == "error"
    assert SECRET not in run.errors + repr(run.events)
    assert _find(home, SECRET) == []
    assert len(_find(home, "Which key?")) == 2
