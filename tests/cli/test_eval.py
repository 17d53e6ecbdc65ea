"""`roamtui eval`, from arguments to output."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.evaluation.folders import CANOE, JACKET, TYRE, write_folder, write_questions
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "docs")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "questions.jsonl", CANOE, TYRE, JACKET)


def test_results_of_questions_are_written(run: RunCommand, tmp_path: Path, questions: Path, docs: Path) -> None:
    out = tmp_path / "a.jsonl"
    first = run("eval", questions, "--docs", docs, "--questions-out", out)
    again = run("eval", questions, "--docs", docs, "--questions-out", out)

    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert (first.code, again.code) == (0, 1)
    assert again.err == f"roamtui: could not read or write {out}: File exists.\n"
    assert [row["id"] for row in rows] == ["canoe", "tyre", "jacket"]
    assert {"id", "rank", "hits", "ms"} <= rows[0].keys()


@pytest.mark.usefixtures("forked_models")
def test_answers_of_a_model_are_measured_and_written(
    run: RunCommand, tmp_path: Path, questions: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    out = tmp_path / "a.jsonl"
    with FakeOpenAIServer() as server:
        server.reset(
            *[FakeReply(text='A canoe costs "9 crowns an hour".')] * 6
        )  # without ids, each is asked for once more
        model = ("--model", "openai/test", "--api-base", server.url)
        result = run("eval", questions, "--docs", docs, *model, "--questions-out", out, "--json")
    assert result.code == 0, result.err
    assert (result.json["model"], result.json["questions"]) == ("openai/test", 3)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["canoe", "tyre", "jacket"]
    assert {"rank", "gold_opened", "gold_cited", "quotes", "verified", "tokens", "steps"} <= rows[0].keys()
