from __future__ import annotations

import pytest

from roamtui.errors import UsageError
from roamtui.models.choose import find_usable_models, make_model
from roamtui.models.litellm_model import LitellmModel, WorkerProcess


@pytest.mark.parametrize(
    "name", ["", " ", "open ai/x", "openai/x ", "openai/x\n", "openai/\x1b[31mx", "a\u202eb", "a\u00a0b"]
)
def test_a_name_without_sense_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a model; write provider/model") as caught:
        make_model(name)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("address", ["", "localhost:11434", "ftp://host/", "http://", "http://[::1", "http://h\n/"])
def test_an_address_without_sense_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is no address of a server; write --api-base like") as caught:
        make_model("openai/x", api_base=address)
    assert str(caught.value).isprintable()


def test_a_key_offers_its_provider() -> None:
    offers = find_usable_models({"ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "k"})
    assert [(offer.name, offer.note) for offer in offers] == [
        ("openai/gpt-4.1-mini", "OPENAI_API_KEY is set"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY is set"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY is set"),
        ("offline", "it needs no key and no network"),
    ]


@pytest.mark.asyncio(loop_scope="session")
async def test_every_offer_is_a_model_that_litellm_knows(worker: WorkerProcess) -> None:
    providers = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER", "DEEPSEEK")
    offers = find_usable_models({f"{provider}_API_KEY": "k" for provider in providers})[:-1]
    described = [await LitellmModel(offer.name, worker=worker).describe() for offer in offers]
    assert [description.provider.upper() for description in described] == list(providers)
    unknown = [d.provider for d in described if not d.can_call_tools or (d.window_tokens or 0) < 100_000]
    assert unknown == ["openrouter"]  # litellm has no list of what it resells
