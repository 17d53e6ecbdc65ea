"""Which models can be used here, and why, without a request to a provider."""

import pytest

from roamtui.models.discovery import list_usable_models, probe_server
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from tests.fakes.site import FakeSite, SitePage, make_ollama


def test_a_key_offers_its_provider() -> None:
    offers = list_usable_models({"ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "k"})
    assert [(offer.name, offer.note) for offer in offers] == [
        ("openai/gpt-4.1-mini", "the key OPENAI_API_KEY is set"),
        ("anthropic/claude-sonnet-4-5", "the key ANTHROPIC_API_KEY is set"),
        ("gemini/gemini-2.5-flash", "the key GOOGLE_API_KEY is set"),
        ("offline", "finds passages without a model, a key or a network"),
    ]


@pytest.mark.asyncio(loop_scope="session")
async def test_every_offer_is_a_model_that_litellm_knows(worker: WorkerProcess) -> None:
    providers = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "DEEPSEEK")
    offers = list_usable_models({f"{provider}_API_KEY": "k" for provider in providers})[:-1]
    described = [await LitellmModel(offer.name, worker=worker).learn() for offer in offers]
    assert [description.provider.upper() for description in described] == list(providers)
    unknown = [d.provider for d in described if not d.can_call_tools or (d.window_tokens or 0) < 100_000]
    assert unknown == ["openrouter"]  # litellm has no list of what it resells


KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize("end", ["", "/"])
def test_its_models_are_listed(end: str) -> None:
    with make_ollama("qwen3:latest", "llama3.1:8b") as server:
        report = probe_server(server.origin + end)
        assert (report.url, [*report.models], report.problem) == (server.origin, ["llama3.1:8b", "qwen3:latest"], "")
        assert server.counts.paths == ["/v1/models"]


def test_nobody_is_sent_elsewhere() -> None:
    with make_ollama("secret") as target:
        pages = {"/v1/models": SitePage(status=302, location=target.url("/v1/models"))}
        with FakeSite(pages) as server:
            assert probe_server(server.origin).problem == "the server at this URL does not list its models"
        assert target.counts.paths == []


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "file:///etc/passwd", "ftp://x/", "http://", "http://[::1", "http://me:hidden@127.0.0.1:9"],
)
def test_an_address_without_sense_is_not_asked_and_not_shown(address: str) -> None:
    report = probe_server(address)
    assert report.url == "?"
    assert report.problem.startswith("the URL is not valid")
    assert "hidden" not in str(report)
