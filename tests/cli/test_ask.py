"""`roamtui ask`: the offline model in the same loop as any other, and resuming its conversations."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from roamtui.paths import conversations_path
from tests.cli.conftest import RunCommand
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply
from tests.real_documents import PROJECT_DIR


def test_what_is_not_found_is_said_with_the_nearest_sections(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "Which zebra plays the xylophone with a spade at midnight?")
    assert result.code == 1
    missing, nearest = result.out.splitlines()
    assert missing.startswith("Not found: no passage")
    assert re.fullmatch(r"Nearest sections: Garden manual > Tools \[[0-9a-f]{8}\].*", nearest)


@pytest.mark.usefixtures("forked_models")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ('It costs "50 cents a day" [{id}].', 0),
        ('It costs "50 cents a day" [{id}], or "2 euros" [{id}].', 1),
        ("It costs 50 cents [{id}].", 1),
    ],
)
def test_a_strict_answer_without_proof_fails(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    tools = {section["title"]: section["id"] for section in run("outline", garden, "--json").json["sections"]}["Tools"]
    with FakeOpenAIServer() as server:
        server.reset(*[FakeReply(text=answer.format(id=tools))] * 2)
        model = ("--model", "openai/test", "--api-base", server.url)
        assert run("ask", garden, QUESTION, "--strict", *model).code == code
        server.reset(*[FakeReply(text=answer.format(id=tools))] * 2)
        assert run("ask", garden, QUESTION, *model).code == 0
    assert run("ask", garden, QUESTION, "--strict").code == 0


def test_a_config_beside_the_document_is_never_read(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (garden.parent / "config.toml").write_text('model = "openai/evil"\napi_base = "http://127.0.0.1:9"\n', "utf-8")
    monkeypatch.chdir(garden.parent)
    assert run("ask", garden, "How long is a plot?", "--json").json["model"] == "offline"


QUESTION = "How much does a late spade cost?"
WAIT_SECONDS = 180
EVENTS_PAGE = PROJECT_DIR / "docs" / "command-line.md"


@contextmanager
def start_program(
    *arguments: str | Path, program: tuple[str, ...] = ("-m", "roamtui")
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, *program, *map(str, arguments)]
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
    fields = EVENTS_PAGE.read_text("utf-8").partition("The fields of the event `answer`:\n\n")[2].partition("\n\n")[0]
    documented = set(re.findall(r"`(\w+)`", fields))
    assert {*answer["citations"][0], *answer["usage"]} <= documented
    steps = [{**event} for event in events if event["event"] == "tool_finished"]
    assert [{key: step[key] for key in step if key not in ("v", "event")} for step in steps] == answer["steps"]
    whole = run("ask", garden, QUESTION, "--json").json
    assert {key: answer[key] for key in answer if key not in ("v", "event", "conversation")} == {
        key: whole[key] for key in whole if key != "conversation"
    }


@pytest.mark.slow
def test_a_question_that_is_interrupted_ends_with_what_was_answered_so_far(
    garden: Path, monkeypatch: pytest.MonkeyPatch, forking_program: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with FakeOpenAIServer() as server:
        server.reset(FakeReply(text="A late spade costs some cents.", ending=Ending.HANG))
        model = ("--model", "openai/some-model", "--api-base", server.url)
        with start_program("ask", garden, QUESTION, "--events", *model, program=forking_program) as process:
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


def test_the_newest_conversation_that_is_not_damaged_is_continued(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "What does a plot cost?", "--json").json["conversation"]
    newest = run("ask", garden, "When is the tap locked?", "--json").json["conversation"]
    log = conversations_path() / f"{newest}.jsonl"
    log.write_bytes(log.read_bytes().replace(b'{"event": "question_answered"', b'{"event": "question_\xffnswered"'))
    continued = run("ask", garden, "And a spade?", "--continue", "--json")
    assert continued.json["conversation"] == first
    assert f"The newest conversation, {newest}, is damaged" in continued.err
    copied = run("ask", garden, "And a spade?", "--conversation", newest, "--json")
    assert copied.json["conversation"] not in (first, newest)
    assert "An entry of this conversation cannot be read, so you are now in a copy" in copied.err
    assert "It is damaged" in run("conversations").out
