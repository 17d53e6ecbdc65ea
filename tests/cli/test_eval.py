"""`roamtui eval`, from arguments to output."""

from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.evaluation.folders import CANOE, JACKET, TYRE, write_folder, write_questions
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply


@pytest.mark.usefixtures("forked_models")
def test_answers_of_a_model_are_measured(run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    docs = write_folder(tmp_path / "docs")
    questions = write_questions(tmp_path / "questions.jsonl", CANOE, TYRE, JACKET)
    with FakeOpenAIServer() as server:
        # without ids, each is asked for once more
        server.reset(*[FakeReply(text='A canoe costs "9 crowns an hour".')] * 6)
        model = ("--model", "openai/test", "--api-base", server.url)
        result = run("eval", questions, "--docs", docs, *model, "--json")
    assert result.code == 0, result.err
    assert (result.json["model"], result.json["questions"]) == ("openai/test", 3)
    assert {"gold_opened", "gold_cited", "quotes_verified", "tokens_per_question"} <= result.json.keys()
