"""`roamtui ask`: the offline model in the same loop as any other, and resuming its conversations."""

import json
import re
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import pytest

from roamtui.paths import get_conversations_path
from tests.cli.conftest import RunCommand
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply
from tests.real_documents import PROJECT_DIR


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
    assert run("ask", garden, QUESTION).code == 0
    assert run("ask", garden, QUESTION, "--strict", "--json").code == 1, "no model has read the passages"


def test_passages_in_a_pipe_are_apart_and_can_be_rechecked(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    printed = run("ask", garden, QUESTION).out
    _, *passages, _ = printed.split("\n\n")
    assert [passage.splitlines()[0] for passage in passages][:1] == ["Garden manual > Tools, line 19"]
    assert [passage.count("[") for passage in passages] == [1] * len(passages)
    saved = tmp_path / "answer.txt"
    saved.write_text(printed, "utf-8")
    assert run("recheck", saved).code == 0


def test_a_config_beside_the_document_is_never_read(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (garden.parent / "config.toml").write_text('model = "openai/evil"\napi_base = "http://127.0.0.1:9"\n', "utf-8")
    monkeypatch.chdir(garden.parent)
    assert run("ask", garden, "How long is a plot?", "--json").json["model"] == "offline"


QUESTION = "How much does a late spade cost?"
WAIT_SECONDS = 180
EVENTS_PAGE = PROJECT_DIR / "docs" / "command-line.md"


def test_events_come_line_by_line_and_the_answer_last(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, QUESTION, "--events")
    assert (result.code, result.err) == (0, "")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert {event.pop("v") for event in events} == {1}
    *names, last_name = [event.pop("event") for event in events]
    assert (names[0], names.count("answer"), last_name) == ("question_asked", 0, "answer")
    *earlier, answer = events
    of_name = defaultdict(list)
    for name, event in zip(names, earlier, strict=True):
        of_name[name].append(event)
    assert "".join(event["text"] for event in of_name["answer_streamed"]).strip() == answer["answer"]
    assert of_name["tool_finished"] == answer["steps"]
    page = EVENTS_PAGE.read_text("utf-8")
    row = re.search(r"^\| `answer` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    assert row is not None
    assert set(re.findall(r"`(\w+)`", row[1])) == set(answer)
    fields = page.partition("The fields of the event `answer`:\n\n")[2].partition("\n\n")[0]
    assert {*answer["citations"][0], *answer["usage"]} <= set(re.findall(r"`(\w+)`", fields))
    whole = run("ask", garden, QUESTION, "--json").json
    assert {**answer, "conversation": "", "asked_at": ""} == {**whole, "conversation": "", "asked_at": ""}


@pytest.mark.slow
def test_a_question_that_is_interrupted_ends_with_what_was_answered_so_far(
    garden: Path, monkeypatch: pytest.MonkeyPatch, forking_program: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with FakeOpenAIServer() as server:
        server.reset(FakeReply(text="A late spade costs some cents.", ending=Ending.HANG))
        model = ("--model", "openai/some-model", "--api-base", server.url)
        command = [sys.executable, *forking_program, "ask", str(garden), QUESTION, "--events", *model]
        with subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE) as process, ExitStack() as end:
            end.callback(process.kill)  # also if the test has waited too long
            assert process.stdout is not None
            for line in process.stdout:
                if json.loads(line)["event"] == "answer_streamed":
                    break
            process.send_signal(signal.SIGINT)
            answer = json.loads(process.communicate(timeout=WAIT_SECONDS)[0].splitlines()[-1])
    assert process.returncode == 130
    assert (answer["event"], answer["stopped"]) == ("answer", "cancelled")
    assert answer["answer"]
    assert "A late spade costs some cents.".startswith(answer["answer"])


def test_if_no_log_can_be_read_continuing_says_so(run: RunCommand, garden: Path) -> None:
    conversation = run("ask", garden, "What does a plot cost?", "--json").json["conversation"]
    (get_conversations_path() / f"{conversation}.jsonl").write_text("garbage\n", "utf-8")
    for line in (("ask", garden, "And a spade?", "--continue"), ("--continue", "--plain")):
        refused = run(*line)
        assert refused.code == 1
        assert "can be continued." in refused.err


def test_the_newest_conversation_that_is_not_damaged_is_continued(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "What does a plot cost?", "--json").json["conversation"]
    newest = run("ask", garden, "When is the tap locked?", "--json").json["conversation"]
    log = get_conversations_path() / f"{newest}.jsonl"
    log.write_bytes(log.read_bytes().replace(b'{"event": "question_answered"', b'{"event": "question_\xffnswered"'))
    continued = run("ask", garden, "And a spade?", "--continue", "--json")
    assert continued.json["conversation"] == first
    copied = run("ask", garden, "And a spade?", "--conversation", newest, "--json")
    assert copied.json["conversation"] not in (first, newest)
    assert "An entry of this conversation cannot be read, so you are now in a copy" in copied.err
    listed = {line.split()[0]: line for line in run("conversations", "--all").out.splitlines()}
    assert re.search(r"When is the tap locked\?  \(1 question.*\)  It is damaged: the rest", listed[newest])
    exported = run("conversations", "export", newest)
    assert "When is the tap locked?" in exported.out
    assert exported.err == f"roamtui: conversation {newest}: It is damaged: the rest cannot be read.\n"
    log.write_bytes(b"\xff" + log.read_bytes())
    assert "  It is damaged, or is not a roamtui conversation.\n" in run("conversations", "--all").out
