"""What search opens with a question is told like what the model opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.locations import config_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand

_QUESTION = "What does a late spade cost?"


def _set(value: str) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(f'[agent]\nconfident_start = "{value}"\n', "utf-8")


def test_what_search_opened_counts_as_opened(run: RunCommand, garden: Path) -> None:
    _set("always")
    answer = run("ask", garden, _QUESTION, "--json").json
    assert answer["steps"] == []
    assert answer["opened"] == answer["open"]
    assert [citation["section_id"] in answer["opened"] for citation in answer["citations"]] == [True]


def test_the_offline_model_searches_itself(run: RunCommand, garden: Path) -> None:
    _set("remote")
    steps = run("ask", garden, _QUESTION, "--json").json["steps"]
    assert [step["tool"] for step in steps] == ["search_sections", "expand_sections"]


def test_an_unknown_start_is_refused(run: RunCommand, garden: Path) -> None:
    _set("maybe")
    result = run("ask", garden, _QUESTION)
    assert result.code == 2
    assert result.err.endswith("agent.confident_start must be one of remote, always, off.\n")
