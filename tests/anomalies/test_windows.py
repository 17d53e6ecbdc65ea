"""Without the modules and calls that only Unix has, every command works (`tests/fakes/windows`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roamtui.table.store import TableStore
from tests.cli.conftest import GARDEN
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply
from tests.real_documents import PROJECT_DIR

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="The fake Windows looks at open files as Linux has them."),
]

_FAKE = PROJECT_DIR / "tests" / "fakes" / "windows"
_QUESTION = "What does a plot cost?"
_IMPORT_ALL = """
import importlib, sys
from pathlib import Path
sys.path.insert(0, "")
for path in sorted(Path("roamtui").rglob("*.py")):
    if path.stem != "__main__":
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
"""
_IN_TURN = """
import json, os, sys
from roamtui import api, bootstrap
from roamtui.cli import main
for arguments in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
        os._exit(code)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f"{arguments}: {code}")
    os.write(1, bytes(1))
"""
"""Forks for each command, which takes a tenth of a start. Only modules of roamtui lack `fork`."""
RunOnWindows = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run() -> RunOnWindows:
    def run(*command: object, given: bytes | None = None, code: int = 0) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            cwd=PROJECT_DIR,
            env=os.environ | {"PYTHONPATH": str(_FAKE), "PYTHONIOENCODING": "cp1252"},
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stderr.decode()
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return run


@pytest.fixture
def roamtui(run: RunOnWindows) -> Callable[..., str]:
    return lambda *arguments, **given: run("-m", "roamtui", *arguments, **given).stdout.decode("utf-8")


@pytest.fixture
def in_turn(run: RunOnWindows) -> Callable[..., list[str]]:
    """Return a function that runs commands one after the other, and returns what each of them printed."""

    def in_turn(*commands: tuple[object, ...]) -> list[str]:
        done = run("-c", _IN_TURN, json.dumps([[*map(str, command)] for command in commands]))
        return done.stdout.decode("utf-8").split("\0")[:-1]

    return in_turn


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    path = tmp_path / "garden.md"
    path.write_text(GARDEN, "utf-8")
    return path


def test_every_module_can_be_imported(run: RunOnWindows) -> None:
    run("-c", _IMPORT_ALL)


def test_a_conversation_is_asked_resumed_exported_and_deleted(
    roamtui: Callable[..., str], in_turn: Callable[..., list[str]], garden: Path, home_dir: Path
) -> None:
    listing = ("conversations", "list", "--all", "--format", "json")
    going_on = ("ask", garden, "How long is a plot?", "--continue", "--json")
    answer, first, asked, later = in_turn(("ask", garden, _QUESTION), listing, going_on, listing)
    assert "24 euros" in answer
    (listed,) = json.loads(later)
    assert (listed["id"], listed["questions"]) == (json.loads(first)[0]["id"], 2)
    assert json.loads(asked)["conversation"] == listed["id"]
    (log,) = home_dir.rglob("*.jsonl")
    assert b"\r" not in log.read_bytes(), "no line end of Windows counts among the bytes"
    assert _QUESTION in roamtui("conversations", "export", listed["id"])
    assert "ten metres" in roamtui(garden, "--plain", given=b"How long is a plot?\n")
    roamtui("conversations", "delete", listed["id"])
    assert not log.exists()


def test_the_process_of_a_model_answers(
    roamtui: Callable[..., str], garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with FakeOpenAIServer() as server:
        server.reset(FakeReply(text="Not found."))
        place = ("--model", "openai/some-model", "--api-base", server.url)
        assert json.loads(roamtui("ask", garden, _QUESTION, *place, "--json"))["answer"].startswith("Not found.")


def test_two_runs_never_write_one_table(run: RunOnWindows, garden: Path, tmp_path: Path) -> None:
    table = ("-m", "roamtui", "table", garden, "-q", _QUESTION, "--folder", tmp_path / "table")
    with TableStore(tmp_path / "table").start_run():
        assert b"If another run fills it" in run(*table, code=1).stderr
    run(*table)
