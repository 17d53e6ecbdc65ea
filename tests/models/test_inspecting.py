"""Which models are usable and why not, without a request to any provider and without a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.models.choose import make_model
from roamtui.models.inspecting import inspect_model, inspect_providers
from roamtui.models.trace import TraceWriter
from tests.fakes.openai_server import FakeOpenAIServer
from tests.fakes.tags_server import FakeTagsServer

KEY = "sk-0123456789abcdef"


def test_each_provider_is_told_with_its_variable() -> None:
    reports = {report.name: report for report in inspect_providers({"GOOGLE_API_KEY": KEY, "OPENAI_API_KEY": " "})}
    assert len(reports) == 8
    assert reports["offline"].is_usable
    assert reports["gemini/gemini-2.5-flash"].is_usable
    assert reports["gemini/gemini-2.5-flash"].reason == "GOOGLE_API_KEY is set"
    assert not reports["openai/gpt-4.1-mini"].is_usable
    assert reports["openai/gpt-4.1-mini"].reason == "OPENAI_API_KEY is not set"
    assert sum(report.is_usable for report in reports.values()) == 2
    assert KEY not in str(reports)


async def test_a_model_that_needs_nothing_is_usable(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path, {})
    document = {"source": "a.md", "hash": "0123"}
    start = {"format": 1, "roamtui": "0", "document": document, "model": "m", "window_tokens": 9_000}
    writer.write("start", start)
    writer.close()
    for name, window in (("offline", 128_000), (f"recorded:{path}", 9_000)):
        report = await inspect_model(name)
        assert (report.is_usable, report.window_tokens) == (True, window)
        assert report.window_tokens == make_model(name).window_tokens


@pytest.mark.parametrize("name", ["two words", "recorded:/nowhere/t.jsonl", ""])
async def test_a_name_without_sense_is_explained(name: str) -> None:
    report = await inspect_model(name)
    assert not report.is_usable
    assert report.reason.endswith(".")


@pytest.mark.slow
async def test_litellm_is_asked_and_no_provider(model_environ: dict[str, str]) -> None:
    environ = {**model_environ, "OPENAI_API_KEY": KEY}
    with FakeOpenAIServer() as server:
        known = await inspect_model("openai/gpt-4.1-mini", environ=environ)
        own = await inspect_model("openai/my-own", api_base=server.url, environ=model_environ | {"OPENAI_API_KEY": ""})
        assert server.requests == []
    assert (known.is_usable, known.reason, known.can_call_tools) == (True, "OPENAI_API_KEY is set", True)
    assert (known.provider, known.window_tokens) == ("openai", 1_047_576)
    assert (own.is_usable, own.reason) == (True, f"it is asked at {server.address}")
    missing = await inspect_model("deepseek/deepseek-reasoner", environ=environ)
    assert (missing.is_usable, missing.reason) == (False, "DEEPSEEK_API_KEY is not set")
    assert missing.can_call_tools is False
    unknown = await inspect_model("nonsense-without-provider", environ=environ)
    assert not unknown.is_usable
    assert "names no provider that is known" in unknown.reason
    assert KEY not in f"{known}{own}{missing}{unknown}"


@pytest.mark.slow
async def test_a_local_model_is_looked_up_where_it_would_be_asked(model_environ: dict[str, str]) -> None:
    with FakeTagsServer("llama3.1:latest") as server:
        environ = {**model_environ, "OLLAMA_API_BASE": server.url}
        there = await inspect_model("ollama/llama3.1", environ=environ)
        absent = await inspect_model("ollama_chat/qwen3", api_base=server.url, environ=model_environ)
        assert set(server.paths) == {"/api/tags"}
    assert (there.is_usable, there.reason) == (True, f"Ollama at {server.url} has it")
    assert absent.reason == f'Ollama at {server.url} does not have it; run "ollama pull qwen3"'
    gone = await inspect_model("ollama/llama3.1", environ=environ)
    assert (gone.is_usable, gone.reason) == (False, f"Ollama at {server.url}: nothing answers there")
    assert not absent.is_usable
