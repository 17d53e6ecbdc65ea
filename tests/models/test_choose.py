from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from roamtui.errors import UsageError
from roamtui.models.base import Model, start_model
from roamtui.models.choose import find_usable_models, make_model
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.prompt_tools import ToolFallbackModel

if TYPE_CHECKING:
    from roamtui.models.worker.process import WorkerProcess


@pytest.mark.parametrize("name", ["openai/gpt-4.1-mini", "gpt-4.1-mini", "ollama_chat/llama3.1:8b"])
def test_any_name_is_left_to_litellm(name: str) -> None:
    model = make_model(name, api_base="http://localhost:1234/v1", options=ModelOptions(window_tokens=9_000))
    assert isinstance(model, ToolFallbackModel)
    assert isinstance(model, Model)
    assert (model.name, model.window_tokens) == (name, 9_000)


def test_ollamas_window_is_ours_to_set() -> None:
    assert make_model("ollama/llama3.1").window_tokens == 32_768


async def test_offline_needs_no_address_and_no_start() -> None:
    model = make_model("offline", api_base="http://localhost:1234")
    assert model.name == "offline"
    await start_model(model)


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


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as caught:
        make_model("openai/x", api_base="https://me:hidden@host/v1")
    assert "hidden" not in str(caught.value)


def test_without_keys_only_offline_is_offered() -> None:
    [offer] = find_usable_models({"OPENAI_API_KEY": "", "GROQ_API_KEY": " ", "PATH": "/bin"})
    assert offer.name == "offline"
    assert find_usable_models()[-1].name == "offline"


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
