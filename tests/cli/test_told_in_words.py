"""A model without tool calls answers through the command line all the same, and the person is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from roamtui.locations import config_path
from tests.fakes.http_server import FakeReply
from tests.fakes.openai_server import FakeOpenAIServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand

NAME = "deepseek/deepseek-reasoner"


@pytest.mark.slow
def test_sections_are_opened_in_words_and_quoted(
    run: RunCommand, garden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-0123456789abcdef")
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('[agent]\nconfident_start = "off"\n', "utf-8")
    trace = tmp_path / "words.jsonl"
    tools = next(s["id"] for s in run("outline", garden, "--json").json["sections"] if s["title"] == "Tools")
    quote = "A late spade costs 50 cents a day."
    with FakeOpenAIServer() as server:
        server.reset(
            FakeReply(text="I search.\n```search\nlate spade\n```"),
            FakeReply(text=f"```open\n[{tools}]\n```\nResult: it costs nothing."),
            FakeReply(text=f'"{quote}" [{tools}]'),
        )
        asked = ("ask", garden, "What does a late spade cost?", "--json")
        result = run(*asked, "--model", NAME, "--api-base", server.url, "--trace", trace)
        assert len(server.requests) == 3
        assert all("tools" not in body for body in server.bodies)
        assert quote in server.bodies[2]["messages"][-1]["content"]
    assert result.code == 0
    note = f"{NAME} has no tool calls, so it is told in words how to open sections. Expect more wrong turns."
    assert result.err == f"{note}\n"
    assert [step["tool"] for step in result.json["steps"]] == ["search_sections", "expand_sections"]
    assert result.json["answer"] == f'"{quote}" [{tools}]'
    assert result.json["citations"][0]["verified"]
    monkeypatch.delenv("DEEPSEEK_API_KEY")
    replayed = run(*asked, "--model", f"recorded:{trace}")
    assert (replayed.code, replayed.err) == (0, "")
    assert replayed.json["steps"] == result.json["steps"]
    assert replayed.json["answer"] == result.json["answer"]
