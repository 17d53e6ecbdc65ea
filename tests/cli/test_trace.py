"""`--trace FILE`, and `--model recorded:FILE` in its place."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roamtui.app import check_recording, propose_examples
from roamtui.document.build import build_library
from roamtui.models.choose import make_model
from roamtui.sources.read import read_source
from tests.cli.conftest import RunCommand

QUESTION = "When is the tap locked?"
KEY = "sk-0123456789abcdef"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "bug report.jsonl"


def test_a_replay_gives_the_recorded_answer_without_anything_else(run: RunCommand, garden: Path, trace: Path) -> None:
    recorded = run("ask", garden, QUESTION, "--trace", trace, "--json").json
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    result = run("ask", garden, QUESTION, "--model", f"recorded:{trace}", "--json")
    assert result.code == 0
    assert result.json["model"] == f"recorded:{trace}"
    for key in ("answer", "stopped", "citations", "opened", "open", "steps", "usage"):
        assert result.json[key] == recorded[key]


def test_a_trace_is_written_for_an_answer_that_fails_too(run: RunCommand, garden: Path, trace: Path) -> None:
    run("ask", garden, QUESTION, "--model", "openai/gpt-4.1-mini", "--trace", trace)
    result = run("ask", garden, QUESTION, "--model", f"recorded:{trace}")
    assert result.code == 1
    assert "OPENAI_API_KEY is not set" in result.err


def test_a_key_is_in_no_trace(run: RunCommand, garden: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    garden.write_text(f"{garden.read_text('utf-8')}\nThe key to the shed is {KEY}.\n", "utf-8")
    answer = run("ask", garden, f"Is {KEY} the key to the shed?", "--trace", trace).out
    assert KEY in answer
    assert KEY not in trace.read_text("ascii")
    monkeypatch.delenv("SOME_API_KEY")
    result = run("ask", garden, f"Is {KEY} the key to the shed?", "--model", f"recorded:{trace}")
    assert result.code == 0
    assert "[redacted]" in result.out


def test_another_question_or_document_is_told(run: RunCommand, garden: Path, trace: Path) -> None:
    run("ask", garden, QUESTION, "--trace", trace)
    result = run("ask", garden, "Who turns the compost?", "--model", f"recorded:{trace}")
    assert result.code == 1
    assert result.err.startswith(f"roamtui: Request 1 is not the one in {trace}: another question was asked")
    garden.write_text(garden.read_text("utf-8").replace("November", "October"), "utf-8")
    result = run("ask", garden, QUESTION, "--model", f"recorded:{trace}")
    assert result.code == 1
    warning, refusal = result.err.splitlines()
    assert warning.endswith(f"was recorded over another text than {garden} has now. Its replies may not fit.")
    assert "so the document has changed" in refusal


def test_the_app_proposes_the_recorded_questions(run: RunCommand, garden: Path, trace: Path) -> None:
    run("ask", garden, QUESTION, "--trace", trace)
    library = build_library(read_source(str(garden)))
    recorded = make_model(f"recorded:{trace}")
    assert propose_examples(recorded, library) == (QUESTION,)
    assert QUESTION not in propose_examples(make_model("offline"), library)
    assert check_recording(recorded, library) == ()
    assert check_recording(make_model("offline"), library) == ()
