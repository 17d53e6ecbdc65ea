"""`roamtui eval`, from arguments to output."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.evaluation.folders import CANOE, JACKET, TYRE, write_folder, write_questions
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply


@pytest.mark.usefixtures("forked_models")
def test_answers_of_a_model_are_measured_and_written(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    docs = write_folder(tmp_path / "docs")
    questions = write_questions(tmp_path / "questions.jsonl", CANOE, TYRE, JACKET)
    out = tmp_path / "a.jsonl"
    with FakeOpenAIServer() as server:
        # without ids, each is asked for once more
        server.reset(*[FakeReply(text='A canoe costs "9 crowns an hour".')] * 6)
        model = ("--model", "openai/test", "--api-base", server.url)
        result = run("eval", questions, "--docs", docs, *model, "--questions-out", out, "--json")
    assert result.code == 0, result.err
    assert (result.json["model"], result.json["questions"]) == ("openai/test", 3)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["canoe", "tyre", "jacket"]
    assert {"rank", "hits", "ms", "gold_opened", "gold_cited", "quotes", "verified", "tokens"} <= rows[0].keys()
    again = run("eval", questions, "--docs", docs, "--questions-out", out)
    assert (again.code, again.err) == (2, f"roamtui: {out} exists already. Name a new file for the results.\n")
    elsewhere = run("eval", questions, "--docs", docs, "--questions-out", tmp_path / "no" / "a.jsonl")
    assert (elsewhere.code, elsewhere.err.startswith("roamtui: There is no folder ")) == (1, True)
