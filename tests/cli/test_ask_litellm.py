"""`roamtui ask` with a model through litellm, against a server on loopback, as `config.toml` says how it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, RunCommand
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply

MODEL = "openai/some-model"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with FakeOpenAIServer() as fake:
        yield fake


def find_ids(run: RunCommand, garden: Path) -> dict[str, str]:
    return {section["title"]: section["id"] for section in run("outline", garden, "--json").json["sections"]}


@pytest.mark.slow
def test_parallel_calls_open_sections_and_the_answer_is_verified(
    run: RunCommand, garden: Path, server: FakeOpenAIServer
) -> None:
    ids = find_ids(run, garden)
    calls = (
        ("expand_sections", json.dumps({"section_ids": [ids["Tools"], ids["Watering"]]})),
        ("search_sections", json.dumps({"query": "compost"})),
    )
    answer = (
        f'A late spade costs "50 cents a day" [{ids["Tools"]}], the tap is locked "in May" [{ids["Watering"]}].\n\n'
        f'"Tools … cost 50 cents a day" and "Tools are lent … 50 cents a day" [{ids["Tools"]}].'
    )
    server.reset(
        FakeReply(text="Let me look.", calls=calls, chunk_size=7),
        FakeReply(text=answer, chunk_size=5, input_tokens=900, output_tokens=40, cached_tokens=600),
    )
    garden.write_text(f"{garden.read_text('utf-8')}\n## Weeds\n\n{'Weeds are pulled. ' * 800}\n", "utf-8")
    result = run("ask", garden, "What costs what?", "--model", MODEL, "--api-base", server.url, "--json")
    data = result.json
    assert (result.code, data["stopped"], data["model"]) == (0, "answered", MODEL)
    assert data["answer"] == answer
    states = [(citation["state"], citation["verified"]) for citation in data["citations"]]
    assert states == [("found", True), *[("not_found", False)] * 3]
    assert data["opened"] == [ids["Tools"], ids["Watering"]]
    assert [step["tool"] for step in data["steps"]] == ["expand_sections", "search_sections"]
    assert data["usage"]["source"] == "provider"
    assert data["usage"]["cached_tokens"] == 600
    first, second = server.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert {tool["function"]["name"] for tool in second["tools"]} == {
        "expand_sections",
        "collapse_sections",
        "search_sections",
    }
    assert "sk-test" not in result.out + result.err


def ask(run: RunCommand, document: Path, server: FakeOpenAIServer, *replies: FakeReply) -> Run:
    server.reset(*replies)
    return run("ask", document, "What is here?", "--model", MODEL, "--api-base", server.url, "--json")
