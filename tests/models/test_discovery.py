"""Which models can be used here, and why, without a request to a provider."""

import pytest

from roamtui.models.discovery import list_usable_models, probe_server
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from tests.case_files import read_rows
from tests.fakes.hostile_server import HostileServer
from tests.fakes.site import FakeSite, SitePage, make_ollama


@pytest.mark.asyncio(loop_scope="session")
async def test_every_offer_is_a_model_that_litellm_knows(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "DEEPSEEK")
    for provider in providers:
        monkeypatch.setenv(f"{provider}_API_KEY".replace("GEMINI", "GOOGLE"), "k")
    offers = list_usable_models()[:-1]
    described = [await LitellmModel(offer.name, worker=worker).learn() for offer in offers]
    assert [description.provider.upper() for description in described] == list(providers)
    unknown = [d.provider for d in described if not d.can_call_tools or (d.window_tokens or 0) < 100_000]
    assert unknown == ["openrouter"]  # litellm has no list of what it resells


KEY = "sk-0123456789abcdef"


def test_nobody_is_sent_elsewhere() -> None:
    with make_ollama("secret") as target:
        pages = {"/v1/models": SitePage(status=302, location=target.url("/v1/models"))}
        with FakeSite(pages) as server:
            assert probe_server(server.origin).problem
        assert target.counts.paths == []


def test_a_server_whose_certificate_is_not_trusted_is_not_said_to_be_off() -> None:
    with HostileServer("site.pem") as server:
        problem = probe_server(server.origin, 60).problem
    assert "has no valid certificate (" in problem


@pytest.mark.parametrize("address", read_rows("models/discovery", "invalid_urls"))
def test_an_address_without_sense_is_not_asked_and_not_shown(address: str) -> None:
    report = probe_server(address)
    assert report.url == "?"
    assert report.problem.startswith("the URL is not valid")
    assert "hidden" not in str(report)
