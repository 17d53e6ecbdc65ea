"""`roamtui ask --events`: the program itself, read line by line as another program would."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.http_server import Ending, FakeReply
from tests.fakes.openai_server import FakeOpenAIServer
from tests.real_documents import PROJECT_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import RunCommand

QUESTION = "How much does a late spade cost?"
WAIT_SECONDS = 60
EVENTS_PAGE = PROJECT_DIR / "docs" / "events.md"


@contextmanager
def start_program(*arguments: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "roamtui", *map(str, arguments)]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def read_events(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_events_come_line_by_line_and_the_answer_last(run: RunCommand, garden: Path) -> None:
    with start_program("ask", garden, QUESTION, "--events") as process:
        out, err = process.communicate(timeout=WAIT_SECONDS)
    events = read_events(out)
    assert (process.returncode, err) == (0, b"")
    assert {event["v"] for event in events} == {1}
    names = [event["event"] for event in events]
    assert names[0] == "question_asked"
    assert names.count("answer") == 1
    streamed = "".join(event["text"] for event in events if event["event"] == "answer_streamed")
    answer = events[-1]
    assert answer["event"] == "answer"
    assert streamed.strip() == answer["answer"]
    row = re.search(r"^\| `answer` \|.*\| ([^|]*) \|$", EVENTS_PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None
    assert set(re.findall(r"`(\w+)`", row[1])) == set(answer) - {"v", "event"}
    told = set(re.findall(r"`(\w+)`", EVENTS_PAGE.read_text("utf-8").rpartition("\n\n")[2]))
    assert {*answer["citations"][0], *answer["usage"]} <= told
    steps = [{**event} for event in events if event["event"] == "tool_finished"]
    assert [{key: step[key] for key in step if key not in ("v", "event")} for step in steps] == answer["steps"]
    whole = run("ask", garden, QUESTION, "--json").json
    assert {key: answer[key] for key in answer if key not in ("v", "event", "conversation")} == {
        key: whole[key] for key in whole if key != "conversation"
    }


def test_a_reader_that_leaves_ends_it_without_a_word(garden: Path) -> None:
    with start_program("ask", garden, QUESTION, "--events") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(timeout=WAIT_SECONDS)
    assert json.loads(first)["event"] == "question_asked"


def test_what_a_saved_conversation_lost_is_an_event(run: RunCommand, garden: Path) -> None:
    run("ask", garden, QUESTION)
    garden.write_text("# Garden manual\n\n## Plots\n\nA plot costs 24 euros.\n", "utf-8")
    result = run("ask", garden, "What does a plot cost?", "--continue", "--events")
    events = read_events(result.out.encode())
    assert (events[0]["event"], events[0]["reason"]) == ("sections_closed", "gone")
    assert events[-1]["event"] == "answer"


def test_events_and_json_are_two_forms_of_one_answer(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, QUESTION, "--events", "--json")
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert "not allowed" in result.err


@pytest.mark.slow
def test_a_question_that_is_interrupted_ends_with_what_was_answered_so_far(
    garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with FakeOpenAIServer() as server:
        server.reset(FakeReply(text="A late spade costs some cents.", ending=Ending.HANG))
        model = ("--model", "openai/some-model", "--api-base", server.url)
        with start_program("ask", garden, QUESTION, "--events", *model) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if json.loads(line)["event"] == "answer_streamed":
                    break
            process.send_signal(signal.SIGINT)
            *_, answer = read_events(process.communicate(timeout=WAIT_SECONDS)[0])
    assert process.returncode == 130
    assert (answer["event"], answer["stopped"]) == ("answer", "cancelled")
    assert answer["answer"]
    assert "A late spade costs some cents.".startswith(answer["answer"])
