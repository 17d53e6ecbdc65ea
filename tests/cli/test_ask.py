"""`roamtui ask`: the offline model through the same loop as any other, and what goes on after it."""

from __future__ import annotations

import os
import sqlite3
import stat
from typing import TYPE_CHECKING

import pytest

from roamtui.locations import config_path, data_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand

KEYS = {"conversation", "model", "answer", "stopped", "citations", "opened", "open", "steps", "usage"}
CITATION_KEYS = {"section_id", "doc", "path", "quote", "state", "verified", "start_line", "end_line"}


def test_an_answer_is_quoted_cited_and_verified(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "How much does a late spade cost?", "--json")
    data = result.json
    assert result.code == 0
    assert set(data) == KEYS
    assert (data["model"], data["stopped"]) == ("offline", "answered")
    citation = data["citations"][0]
    assert set(citation) == CITATION_KEYS
    assert citation["quote"] == "A late spade costs 50 cents a day."
    assert (citation["state"], citation["verified"], citation["start_line"]) == ("exact", True, 19)
    assert citation["path"] == ["Garden manual", "Tools"]
    assert citation["section_id"] in data["opened"]
    assert set(data["opened"]) <= set(data["open"])


def test_the_steps_name_tools_ids_and_status(run: RunCommand, garden: Path) -> None:
    steps = run("ask", garden, "When is the tap locked?", "--json").json["steps"]
    assert [step["tool"] for step in steps] == ["search_sections", "expand_sections"]
    assert set(steps[0]) == {"tool", "query", "results"}
    assert set(steps[1]) == {"tool", "section_ids", "results"}
    assert [result["id"] for result in steps[1]["results"]] == steps[1]["section_ids"]
    assert {result["status"] for result in steps[1]["results"]} == {"opened"}


def test_a_follow_up_finds_the_section_still_open(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "When is the tap locked?", "--json").json
    second = run("ask", garden, "And when should I water the beds?", "--continue", "--json").json
    assert second["conversation"] == first["conversation"]
    assert set(first["open"]) <= set(second["open"])
    assert not set(first["open"]) & set(second["opened"])
    assert "before nine in the morning" in second["answer"]


def test_a_named_conversation_goes_on(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "When is the tap locked?", "--json").json
    run("ask", garden, "How long is a plot?", "--json")
    third = run("ask", garden, "Who turns the compost?", "--conversation", first["conversation"], "--json").json
    assert third["conversation"] == first["conversation"]


def test_keep_open_fresh_closes_everything_at_each_question(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "When is the tap locked?", "--json").json
    second = run("ask", garden, "How much is a late spade?", "--continue", "--keep-open", "fresh", "--json").json
    assert set(second["open"]) == set(second["opened"])
    assert set(first["open"]) - set(second["opened"]) == set(first["open"]) - set(second["open"])


def test_nothing_found_is_said_and_no_failure(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "What is the capital of Mongolia?", "--json")
    assert result.code == 0
    assert result.json["stopped"] == "not_found"
    assert result.json["answer"].startswith("Not found:")
    assert result.json["citations"] == []


def test_the_plain_answer_shows_sources_and_model(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "How much does a late spade cost?")
    assert '"A late spade costs 50 cents a day."' in result.out
    assert "Garden manual > Tools, line 19: quote found in the text" in result.out
    assert "found in the text" in result.out
    assert "no quotes" not in result.out
    assert "  no quotes, so nothing was checked\n" in run("ask", garden, "?!").out
    assert "(offline;" in result.out


def test_the_same_question_gives_the_same_answer(run: RunCommand, garden: Path) -> None:
    first = run("ask", garden, "How much does a plot cost?", "--json").json
    second = run("ask", garden, "How much does a plot cost?", "--json").json
    assert first["answer"] == second["answer"]
    assert first["opened"] == second["opened"]


def test_the_store_is_for_its_owner_alone(run: RunCommand, garden: Path) -> None:
    before = os.umask(0)
    try:
        run("ask", garden, "How long is a plot?")
    finally:
        os.umask(before)
    assert stat.S_IMODE(data_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(data_path().parent.stat().st_mode) == 0o700


def test_a_store_that_cannot_be_used_does_not_stop_the_answer(run: RunCommand, garden: Path) -> None:
    data_path().parent.parent.mkdir(parents=True, exist_ok=True)
    data_path().parent.write_text("a file where the folder should be", "utf-8")
    result = run("ask", garden, "How long is a plot?")
    assert result.code == 0
    assert "ten metres" in result.out
    assert "will not be saved" in result.err
    assert "Traceback" not in result.err


def test_a_store_of_a_newer_program_is_left_alone(run: RunCommand, garden: Path) -> None:
    run("ask", garden, "How long is a plot?")
    with sqlite3.connect(data_path()) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    result = run("ask", garden, "How long is a plot?", "--continue")
    assert result.code == 2
    assert "newer roamtui" in result.err


def test_an_unknown_model_is_one_sentence(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "How long is a plot?", "--model", "nonsense-without-provider")
    assert result.code in (1, 2)
    assert result.err.startswith("roamtui: ")
    assert result.err.count("\n") == 1
    assert "--model" in result.err


def test_a_missing_key_names_the_variable(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "How long is a plot?", "--model", "openai/gpt-4.1-mini", "--json")
    assert result.code == 1
    assert "OPENAI_API_KEY" in result.err
    assert result.json["stopped"] == "error"


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question_is_refused(run: RunCommand, garden: Path, question: str) -> None:
    result = run("ask", garden, question)
    assert (result.code, result.err) == (2, "roamtui: the question is empty.\n")


def test_settings_choose_the_model(run: RunCommand, garden: Path) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text('model = "offline"\n[retrieval]\nmode = "off"\n', "utf-8")
    steps = run("ask", garden, "How much does a late spade from the tools cost?", "--json").json["steps"]
    assert [step["tool"] for step in steps] == ["expand_sections"]


def test_a_config_beside_the_document_is_never_read(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (garden.parent / "config.toml").write_text('model = "openai/evil"\napi_base = "http://127.0.0.1:9"\n', "utf-8")
    monkeypatch.chdir(garden.parent)
    assert run("ask", garden, "How long is a plot?", "--json").json["model"] == "offline"
