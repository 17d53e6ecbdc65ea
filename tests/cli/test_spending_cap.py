"""`--max-cost` and `max_cost_usd`: on the command line nobody can be asked, so the cap is never passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from roamtui.agent.loop import Agent
from roamtui.app import open_agent
from roamtui.arguments import ConversationArguments
from roamtui.conversation.state import begin_conversation
from roamtui.document.build import build_library
from roamtui.locations import config_path
from roamtui.models.trace import TracedModel
from roamtui.settings import Settings, load_settings
from roamtui.sources.read import read_source

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand


def write_settings(text: str) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text, "utf-8")


def make(garden: Path, settings: Settings, trace: str | None = None) -> Agent:
    first = begin_conversation(build_library(read_source(str(garden))), settings.keep_options())
    return open_agent(first, None, settings, ConversationArguments(trace=trace))


@pytest.mark.parametrize(
    ("text", "cap"),
    [("", None), ("[limits]\nmax_cost_usd = 2\n", 2.0), ("[limits]\nmax_cost_usd = 0.25\n", 0.25)],
)
def test_the_settings_hold_a_cap(text: str, cap: float | None, garden: Path) -> None:
    write_settings(text)
    assert load_settings().max_cost_usd == cap
    assert make(garden, load_settings()).options.cost_usd_max == cap


def test_the_flag_goes_before_the_file() -> None:
    write_settings("[limits]\nmax_cost_usd = 2\n")
    assert load_settings({"max_cost_usd": 0.5}).max_cost_usd == 0.5


def test_an_agent_that_is_traced_has_the_cap_too(garden: Path, tmp_path: Path) -> None:
    agent = make(garden, Settings(max_cost_usd=0.5), str(tmp_path / "t.jsonl"))
    assert agent.options.cost_usd_max == 0.5
    assert isinstance(agent.model, TracedModel)


@pytest.mark.parametrize("value", ["0", "-1", "'2'", "true", "inf", "nan"])
def test_a_cap_without_sense_is_refused(run: RunCommand, garden: Path, value: str) -> None:
    write_settings(f"[limits]\nmax_cost_usd = {value}\n")
    result = run("ask", garden, "Why?")
    assert result.code == 2
    assert result.err == f"roamtui: {config_path()}: limits.max_cost_usd must be a number above 0.\n"


@pytest.mark.parametrize("value", ["0", "-2", "much", "inf", "nan", "1e999"])
def test_an_option_without_sense_is_refused(run: RunCommand, garden: Path, value: str) -> None:
    result = run("ask", garden, "Why?", f"--max-cost={value}")
    assert result.code == 2
    assert result.err.startswith("roamtui: argument --max-cost: must be a number above 0")
    assert result.err.count("\n") == 1


def test_a_model_that_costs_nothing_is_never_stopped(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "When is the tap locked?", "--max-cost", "0.000001", "--json")
    assert (result.code, result.json["stopped"]) == (0, "answered")


def test_past_the_cap_the_question_is_not_sent(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    """A replayed answer costs what it cost; with a cap below that, the next question is stopped."""
    trace = tmp_path / "dear.jsonl"
    run("ask", garden, "When is the tap locked?", "--trace", trace)
    trace.write_text(trace.read_text("ascii").replace('"cost_usd": 0.0', '"cost_usd": 0.4'), "ascii")
    first = run("ask", garden, "When is the tap locked?", "--model", f"recorded:{trace}", "--json")
    assert first.json["usage"]["cost_usd"] == pytest.approx(1.2)
    result = run("ask", garden, "And then?", "--continue", "--max-cost", "1", "--json")
    assert (result.code, result.json["stopped"]) == (1, "cost")
    assert "spending cap" in result.err
