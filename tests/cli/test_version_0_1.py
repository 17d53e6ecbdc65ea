"""What a person has from version 0.1 opens: conversations, settings, keys, a search index, a trace.

`tests/cases/version_0_1` was written by 0.1 itself: by `ask`, by the plain chat (opened, pinned, closed) and by the app
(pinned, closed, taken back, read, renamed, an error, an answer that was stopped, one that was killed);
`conversations.json` is what it showed of them. It stays as it is.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.library_loader import open_library
from roamtui.paths import cache_path, config_path, conversations_path, indexes_path
from roamtui.settings import load_settings
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions
from tests.cli.conftest import RunCommand
from tests.fakes.scripted_model import ScriptedModel
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import screen_text, wait_until

FIXTURE = PROJECT_DIR / "tests" / "cases" / "version_0_1"
CONVERSATIONS: list[dict[str, Any]] = json.loads((FIXTURE / "conversations.json").read_text("utf-8"))
WRITTEN_IN = "/tmp/roamtui-0.1/documents"  # noqa: S108 - a name in the fixture, no folder that is used
_VERDICTS = re.compile(r"\[[\d,]+(?: [✓!✗])?\]|\[[0-9a-f]{8}\]|~~")
"""What an export adds to quotes and writes for ids."""
EACH = pytest.mark.parametrize("saved", CONVERSATIONS, ids=[saved["title"] for saved in CONVERSATIONS])


@pytest.fixture(autouse=True)
def documents(home_dir: Path) -> Path:
    """Return the folder of the documents, in a home that version 0.1 left behind."""
    documents = home_dir / "documents"
    shutil.copytree(FIXTURE / "documents", documents)
    for name, folder in (
        ("config", config_path().parent),
        ("data", conversations_path().parent),
        ("cache", cache_path()),
    ):
        shutil.copytree(FIXTURE / name, folder)
    with closing(sqlite3.connect(conversations_path().with_suffix(".sqlite3"))) as connection, connection:
        for change in (
            "UPDATE conversations SET source = replace(source, :old, :new)",
            "UPDATE conversations SET state = replace(state, :old, :new)",
        ):
            connection.execute(change, {"old": WRITTEN_IN, "new": str(documents)})
    return documents


def test_every_conversation_is_listed(run: RunCommand, documents: Path) -> None:
    listed = run("conversations", "list", "--format", "json").json
    assert [(entry["id"], entry["title"], entry["model"], entry["source"], entry["questions"]) for entry in listed] == [
        (saved["id"], saved["title"], saved["model"], str(documents / saved["document"]), len(saved["exchanges"]))
        for saved in CONVERSATIONS
    ]


@EACH
def test_it_is_shown_and_exported(run: RunCommand, saved: dict[str, Any]) -> None:
    shown = run("conversations", "show", saved["id"], "--format", "json").json
    assert shown["open"] == saved["open"]
    assert [
        {key: exchange[key] for key in ("question", "answer", "stopped")}
        | {"states": [citation["state"] for citation in exchange["citations"]]}
        for exchange in shown["exchanges"]
    ] == saved["exchanges"]
    exported = run("conversations", "export", saved["id"])
    assert exported.code == 0
    for exchange in saved["exchanges"]:
        assert f"## {exchange['question']}\n" in exported.out
        assert _VERDICTS.sub("", exchange["answer"]) in _VERDICTS.sub("", exported.out)


@EACH
def test_it_goes_on(run: RunCommand, documents: Path, saved: dict[str, Any]) -> None:
    source = documents / saved["document"]
    result = run("ask", source, "What never happens?", "--conversation", saved["id"], "--json")
    assert (result.code, result.json["conversation"]) == (0, saved["id"])
    assert "Traceback" not in result.err
    if source.suffix != ".pdf":  # a later version may convert it otherwise
        assert set(saved["open"]) <= set(result.json["open"])
    again = run("ask", source, "And what else?", "--continue", "--json")
    assert again.json["conversation"] == saved["id"]
    exchanges = run("conversations", "show", saved["id"], "--format", "json").json["exchanges"]
    questions = [exchange["question"] for exchange in saved["exchanges"]]
    assert [exchange["question"] for exchange in exchanges] == [*questions, "What never happens?", "And what else?"]


@EACH
async def test_the_app_shows_it_with_the_settings_and_keys(documents: Path, saved: dict[str, Any]) -> None:
    settings = load_settings()
    library = open_library((str(documents / saved["document"]),))
    session = Session.resume(library, saved["id"], store=ConversationStore(conversations_path()))
    keys = {action: (key,) for action, key in settings.keys.items()}
    app = RoamApp(
        AppContext(agent=Agent(session, ScriptedModel()), options=TuiOptions(theme=settings.theme, keys=keys))
    )
    async with app.run_test(size=(160, 120)) as pilot:
        await wait_until(pilot, lambda: saved["exchanges"][-1]["question"] in screen_text(app))
        assert session.state.question_number == len(saved["exchanges"])
        assert len(app.main_screen.query("QuestionView")) == len(saved["exchanges"])


def test_no_setting_or_key_is_an_error(run: RunCommand, documents: Path) -> None:
    for command in (("search", documents / "garden.md", "compost"), ("doctor",), ("outline", documents / "garden.md")):
        result = run(*command)
        assert result.code == 0, result.err
        assert "Traceback" not in result.err


def test_the_index_is_used_or_made_anew(run: RunCommand, documents: Path, home_dir: Path) -> None:
    [left] = indexes_path().glob("*.sqlite3")
    kept = left.read_bytes()
    first = run("index", documents / "bakery")
    for path in indexes_path().iterdir():  # its name tells where the source lies, which is another place here
        path.write_bytes(kept)
    searched = [run("search", documents / "bakery", "night shift", "--json") for _ in range(2)]
    again = run("index", documents / "bakery")
    assert [first.code, again.code, *(result.code for result in searched)] == [0, 0, 0, 0]
    assert [result.json["hits"][0]["path"][1] for result in searched] == ["Shifts", "Shifts"]
    assert str(home_dir) in again.out


def test_the_trace_is_played(run: RunCommand, documents: Path) -> None:
    trace = FIXTURE / "trace.jsonl"
    for question, answer in (
        ("When is the tap locked?", 'Watering: "The tap is locked from November to March." [437eabde].'),
        ("And what does a late spade cost?", 'Tools: "A late spade costs 50 cents a day." [8421b37d].'),
    ):
        played = run("ask", documents / "garden.md", question, "--model", f"recorded:{trace}", "--json")
        assert played.code == 0, played.err
        assert played.json["answer"].startswith(answer)
        assert [citation["verified"] for citation in played.json["citations"]] == [True]
        assert [step["tool"] for step in played.json["steps"]] == ["search_sections", "expand_sections"]
        assert "another text" not in played.err
