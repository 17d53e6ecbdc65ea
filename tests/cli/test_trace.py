"""`--trace FILE`, and `--model recorded:FILE` in its place."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roamtui.document.source_loader import build_library
from roamtui.models.registry import make_model
from roamtui.sources.read import read_source
from roamtui.wiring import choose_example_questions, list_recording_warnings
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
    assert choose_example_questions(recorded, library) == (QUESTION,)
    assert QUESTION not in choose_example_questions(make_model("offline"), library)
    assert list_recording_warnings(recorded, library) == ()
    assert list_recording_warnings(make_model("offline"), library) == ()
