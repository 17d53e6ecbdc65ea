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


def test_the_app_proposes_the_recorded_questions(run: RunCommand, garden: Path, trace: Path) -> None:
    run("ask", garden, QUESTION, "--trace", trace)
    library = build_library(read_source(str(garden)))
    recorded = make_model(f"recorded:{trace}")
    assert propose_examples(recorded, library) == (QUESTION,)
    assert QUESTION not in propose_examples(make_model("offline"), library)
    assert check_recording(recorded, library) == ()
    assert check_recording(make_model("offline"), library) == ()
