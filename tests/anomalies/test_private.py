"""What must not be readable afterwards is in no file: secrets never, a deleted conversation no longer."""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation.question_flow import rewind
from roamtui.conversation.store import ConversationStore
from tests.anomalies.mortal_programs import MortalPrograms
from tests.cli.conftest import GARDEN
from tests.conversation.conversations import Recorder
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, openai_error

SECRET = "sk-a-secret-0123456789abcdef"  # noqa: S105 - no real one


def _find(folder: Path, words: str) -> list[str]:
    """Return the files below a folder whose bytes hold some words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if words.encode() in path.read_bytes()]


def test_a_deleted_conversation_is_in_no_byte_of_any_file(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - a test that can be run again
    folder = tmp_path / "data"
    played: dict[str, Recorder] = {}
    deleted = 0
    store = ConversationStore(folder / "conversations")
    for number in range(90):
        if played and chance.random() < 0.35:
            gone = chance.choice(sorted(played))
            store.delete(gone)
            del played[gone]
            deleted += 1
            assert _find(folder, gone) == _find(folder, f"words-of-{gone} ") == []
            continue
        name = chance.choice(sorted(played)) if played and chance.random() < 0.5 else f"id{number:04}"
        one = played.setdefault(name, Recorder(name))
        store.write(one.ask(f"words-of-{name} " * chance.choice([1, 60, 1_000, 4_000])).log)
        assert _find(folder, f"words-of-{name} ")
        store.list()
    assert deleted > 20


def test_its_bytes_are_overwritten_before_the_file_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "ftruncate", lambda *_: None)  # else the other name of the file shows nothing
    store = ConversationStore(tmp_path / "conversations")
    store.write(Recorder().ask("to-be-forgotten " * 300).log)
    [log] = (tmp_path / "conversations").glob("*.jsonl")
    (tmp_path / "same").hardlink_to(log)
    store.delete("c0ffee")
    assert set((tmp_path / "same").read_bytes()) == {0}


def test_what_is_taken_back_stays_until_the_conversation_is_deleted(tmp_path: Path) -> None:
    played = Recorder().ask("First?").ask("taken-back " * 500)
    played.adopt(rewind(played.state, 2))
    store = ConversationStore(tmp_path / "conversations")
    store.write(played.log)
    assert [one.question for one in store.load("c0ffee").transcript.exchanges] == ["First?"]
    assert "taken-back" not in store.read_search_texts()["c0ffee"]
    assert _find(tmp_path, "taken-back ") == ["conversations/c0ffee.jsonl"]
    store.delete("c0ffee")
    assert _find(tmp_path, "taken-back ") == []


@pytest.mark.slow
def test_all_that_the_program_writes_is_its_owners_alone(programs: MortalPrograms, tmp_path: Path) -> None:
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
