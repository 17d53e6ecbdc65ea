"""Which models can be used here, and why, without a request to a provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.conversation.events import ConversationStarted, QuestionAsked
from roamtui.conversation.log import ConversationLog
from roamtui.errors import UsageError
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.registry import (
    inspect_model,
    inspect_providers,
    is_loopback,
    list_usable_models,
    make_model,
    probe_server,
)
from tests.fakes.model_servers import FakeOpenAIServer
from tests.fakes.site import FakeSite, SitePage, make_ollama


@pytest.mark.parametrize(
    "name", ["", " ", "open ai/x", "openai/x ", "openai/x\n", "openai/\x1b[31mx", "a\u202eb", "a\u00a0b"]
)
def test_a_name_without_sense_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="Use provider/model") as caught:
        make_model(name)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("address", ["", "localhost:11434", "ftp://host/", "http://", "http://[::1", "http://h\n/"])
def test_an_address_without_sense_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not a server URL") as caught:
        make_model("openai/x", api_base=address)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:11434", True),
        ("http://LOCALHOST/v1", True),
        ("http://127.0.0.1:1234/v1", True),
        ("http://127.9.8.7", True),
        ("http://[::1]:8080", True),
        ("http://127.evil.example", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://localhost.evil.example", False),
        ("http://127.0.0.1@evil.example", False),
        ("http://192.168.0.1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_only_an_address_of_this_machine_is_this_machine(url: str, *, is_here: bool) -> None:
    assert is_loopback(url) is is_here


def test_a_key_offers_its_provider() -> None:
    offers = list_usable_models({"ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "k"})
    assert [(offer.name, offer.note) for offer in offers] == [
        ("openai/gpt-4.1-mini", "OPENAI_API_KEY is set"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY is set"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY is set"),
        ("offline", "no key, no network"),
    ]


@pytest.mark.asyncio(loop_scope="session")
async def test_every_offer_is_a_model_that_litellm_knows(worker: WorkerProcess) -> None:
    providers = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "DEEPSEEK")
    offers = list_usable_models({f"{provider}_API_KEY": "k" for provider in providers})[:-1]
    described = [await LitellmModel(offer.name, worker=worker).describe() for offer in offers]
    assert [description.provider.upper() for description in described] == list(providers)
    unknown = [d.provider for d in described if not d.can_call_tools or (d.window_tokens or 0) < 100_000]
    assert unknown == ["openrouter"]  # litellm has no list of what it resells


KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize("end", ["", "/"])
def test_its_models_are_listed(end: str) -> None:
    with make_ollama("qwen3:latest", "llama3.1:8b") as server:
        report = probe_server(server.origin + end)
        assert (report.url, report.models, report.problem) == (server.origin, ("llama3.1:8b", "qwen3:latest"), "")
        assert server.counts.paths == ["/v1/models"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"data": [1]}', b'{"data": 3}', b"[" * 100_000])
def test_another_program_is_told_apart(body: bytes) -> None:
    with FakeSite({"/v1/models": SitePage(body=body)}) as server:
        assert probe_server(server.origin).problem == "it does not list models"


def test_nobody_is_sent_elsewhere() -> None:
    with make_ollama("secret") as target:
        pages = {"/v1/models": SitePage(status=302, location=target.url("/v1/models"))}
        with FakeSite(pages) as server:
            assert probe_server(server.origin).problem == "it does not list models"
        assert target.counts.paths == []


def test_silence_is_not_waited_for() -> None:
    with FakeSite({}, before=lambda _: server.closing.wait()) as server:
        report = probe_server(server.origin, seconds=0.05)
        assert report.problem in ("no server", "no reply")
        assert server.counts.paths == ["/v1/models"]


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "file:///etc/passwd", "ftp://x/", "http://", "http://[::1", "http://me:hidden@127.0.0.1:9"],
)
def test_an_address_without_sense_is_not_asked_and_not_shown(address: str) -> None:
    report = probe_server(address)
    assert report.url == "?"
    assert report.problem.startswith("its address is invalid")
    assert "hidden" not in str(report)


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
    started, asked = (
        ConversationStarted(conversation_id="c0ffee"),
        QuestionAsked(number=1, question="Why?"),
    )
    ConversationLog(path, (started, asked)).save()
    for name, window in (("offline", 128_000), (f"recorded:{path}", None)):
        report = await inspect_model(name)
        assert (report.is_usable, report.window_tokens) == (True, window)
        assert report.window_tokens == make_model(name).window_tokens


@pytest.mark.usefixtures("forked_models")
@pytest.mark.slow
async def test_litellm_is_asked_and_no_provider(model_environ: dict[str, str]) -> None:
    with FakeOpenAIServer() as server:
        own = await inspect_model("openai/my-own", api_base=server.url, environ=model_environ | {"OPENAI_API_KEY": ""})
        assert server.requests == []
    assert (own.is_usable, own.reason) == (True, f"uses {server.address}")
    missing = await inspect_model("deepseek/deepseek-reasoner", environ=model_environ)
    assert (missing.is_usable, missing.reason) == (False, "DEEPSEEK_API_KEY is not set")
    assert missing.can_call_tools is False


@pytest.mark.usefixtures("forked_models")
@pytest.mark.slow
async def test_a_local_model_is_looked_up_where_it_would_be_asked(model_environ: dict[str, str]) -> None:
    with make_ollama("llama3.1:latest") as server:
        environ = {**model_environ, "OLLAMA_API_BASE": server.origin}
        there = await inspect_model("ollama/llama3.1", environ=environ)
        assert set(server.counts.paths) == {"/v1/models"}
    assert (there.is_usable, there.reason) == (True, f"Ollama at {server.origin} has it")
    gone = await inspect_model("ollama/llama3.1", environ=environ)
    assert (gone.is_usable, gone.reason) == (False, f"Ollama at {server.origin}: no server")


@pytest.mark.asyncio(loop_scope="session")
async def test_a_started_model_knows_its_prices(worker: WorkerProcess) -> None:
    model = LitellmModel("openai/gpt-4.1-mini", worker=worker)
    await model.start()
    assert model.prices is not None
    assert 0 < model.prices.input_usd < model.prices.output_usd < 1e-4
