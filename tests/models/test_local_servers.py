"""The window of a model on a person's own server, and the names by which such a model is asked."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roamtui.models.base import Model, ModelFacts
from roamtui.models.discovery import inspect_model
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.local_servers import read_ollama, read_openai
from roamtui.models.options import ModelOptions
from roamtui.models.worker_process import WorkerProcess
from roamtui.models.worker_protocol import ProviderError, ResolvedModel
from tests.fakes.model_servers import Ending, FakeOllamaServer, FakeOpenAIServer, FakeReply, FakeServer
from tests.models.asking import OPTIONS, collect, join_text

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVERS = {"llamafile": "llama_cpp", "lm_studio": "lm_studio", "hosted_vllm": "vllm", "ollama_chat": "ollama"}
"""File with the answers of each real server, by litellm's provider for it."""


def read_facts(provider: str) -> dict[str, Any]:
    path = Path(__file__).parents[1] / "fakes" / "servers" / f"{SERVERS[provider]}.json"
    facts: dict[str, Any] = json.loads(path.read_bytes())
    return facts


@pytest.fixture(params=SERVERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(provider: str) -> Iterator[FakeServer]:
    with FakeOllamaServer() if provider == "ollama_chat" else FakeOpenAIServer() as server:
        server.facts |= read_facts(provider)
        yield server


async def describe(
    worker: WorkerProcess, name: str, server: FakeServer, options: ModelOptions = OPTIONS
) -> ResolvedModel:
    return await LitellmModel(name, api_base=server.origin, options=options, worker=worker).learn()


async def test_every_server_is_asked_for_the_window_that_it_has_now_and_for_tools(
    worker: WorkerProcess, provider: str, server: FakeServer
) -> None:
    found = await describe(worker, f"{provider}/tiny", server)
    assert (found.window_tokens, found.window_note) == (8_192, "the server reports this size")
    assert found.can_call_tools is {"llamafile": False, "ollama_chat": True}.get(provider)
    named = await describe(worker, f"{provider}/tiny", server, ModelOptions(window_tokens=5_000))
    assert (named.window_tokens, named.window_note) == (5_000, "set by window_tokens")
    if provider != "ollama_chat":
        again = await describe(worker, "openai/tiny", server)
        assert again.window_tokens == 8_192


BAD = [0, 10**18, "8192", True, None, -1, 4096.5]


@pytest.mark.parametrize("bad", BAD)
async def test_numbers_without_sense_are_not_believed(bad: object) -> None:
    models = {"data": [{"id": "tiny", "max_model_len": bad, "meta": {"n_ctx": bad, "n_params": bad}}]}
    properties = {"default_generation_settings": {"n_ctx": bad}}
    studio = {"data": [{"id": "tiny", "loaded_context_length": bad, "other": bad}]}
    assert read_openai(models, properties, studio, name="tiny") == ModelFacts()
    loaded = {"models": [{"name": "tiny:latest", "context_length": bad}]}
    shown = {"model_info": {"llama.context_length": bad, "general.parameter_count": bad}}
    facts = read_ollama(loaded, shown, "tiny")
    assert (facts.window_tokens, facts.parameters) == (32_768, None)


@pytest.mark.parametrize(
    ("parameters", "window", "note", "choice", "is_small"),
    [
        (134_515_008, 32_768, "", None, True),
        (4_020_000_000, 32_768, "", None, True),
        (7_600_000_000, 8_192, "the server reports this size", None, False),
        (10**12, 8_192, "the server reports this size", None, False),
        (None, 8_192, "the server reports this size", None, True),
        (None, 8_192, "", None, False),  # from litellm's table, which knows the model
        (None, 16_384, "the server reports this size", None, False),
        (None, None, "", None, False),
        (10**12, 2_048, "", False, True),  # no room for tools
        (10**9, 8_192, "", False, False),
        (10**12, 128_000, "", True, True),
    ],
)
async def test_whether_a_model_is_small(
    *, parameters: int | None, window: int | None, note: str, choice: bool | None, is_small: bool
) -> None:
    model = Model()
    model.facts = ModelFacts(parameters=parameters, window_tokens=window, window_note=note)
    model.small_setting = choice
    assert bool(model.small_reason) is is_small


@pytest.mark.parametrize("reply", [None, [], {"data": [1]}, {"data": {"id": "tiny"}}, "tiny", 7])
async def test_a_server_that_does_not_say_its_window_has_an_assumed_one(worker: WorkerProcess, reply: object) -> None:
    with FakeOpenAIServer() as server:
        server.facts["/v1/models"] = reply
        model = LitellmModel("openai/tiny", api_base=server.url, options=OPTIONS, worker=worker)
        await model.start()
    assert (model.facts.window_tokens, model.small_reason) == (4_096, ""), "it may be a large one"
    assert model.facts.window_note.startswith("assumed")
    assert model.note == "", "the status line says it"


async def test_ollama_gets_as_its_window_what_the_model_can_have(worker: WorkerProcess) -> None:
    with FakeOllamaServer(FakeReply(text="Yes.")) as server:
        server.facts |= read_facts("ollama_chat") | {"/api/ps": {"models": []}}
        model = LitellmModel("ollama/tiny", api_base=server.url, options=OPTIONS, worker=worker)
        assert join_text(await collect(model)) == "Yes."
        assert model.facts.window_tokens == 16_384
        assert server.bodies[0]["options"]["num_ctx"] == 16_384


async def test_a_window_that_was_named_in_a_refusal_stays(worker: WorkerProcess) -> None:
    message = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
    error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
    with FakeOpenAIServer(FakeReply(status=400, error={"error": error})) as server:
        server.facts |= read_facts("llamafile")
        model = LitellmModel("llamafile/tiny", api_base=server.url, options=OPTIONS, worker=worker)
        with pytest.raises(ProviderError, match=r"window of 4,096 tokens.*--ctx-size.*window_tokens") as caught:
            await collect(model)
        assert caught.value.failure.is_overflow
        assert (caught.value.failure.window_tokens, caught.value.failure.request_tokens) == (4_096, 9_000)
        model.limit_window(4_096)
        await model.learn()
        assert model.facts.window_tokens == 4_096


@pytest.mark.parametrize("end", ["", "/", "/v1"])
async def test_every_name_works_with_an_address(
    worker: WorkerProcess, provider: str, server: FakeServer, end: str
) -> None:
    server.reset(FakeReply(text="Yes."))
    if provider == "ollama_chat" and end == "/v1":
        return  # Ollama's own interface has no such path
    model = LitellmModel(f"{provider}/tiny", api_base=f"{server.origin}{end}", options=OPTIONS, worker=worker)
    assert join_text(await collect(model)) == "Yes."


@pytest.mark.usefixtures("forked_models")
async def test_a_trial_says_what_answered(provider: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    server.reset(FakeReply(text="Y"))
    report = await inspect_model(f"{provider}/tiny", api_base=server.origin)
    assert report.is_usable
    assert server.address in report.reason
    assert report.reason.endswith("the model answered")
    assert report.resolved is not None
    assert report.resolved.can_call_tools is (provider != "llamafile")
    [body] = server.bodies
    assert body.get("max_tokens", body.get("options", {}).get("num_predict")) == 1


@pytest.mark.usefixtures("forked_models")
async def test_a_trial_does_not_read_an_endless_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeOpenAIServer(FakeReply(text="Y", ending=Ending.HANG)) as server:
        report = await inspect_model("openai/tiny", api_base=server.origin)
        assert report.reason.endswith("the model answered")
        await asyncio.to_thread(server.client_closed.wait, 60)


@pytest.mark.usefixtures("forked_models")
async def test_a_server_that_does_not_run_is_not_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9")
    report = await inspect_model("ollama_chat/tiny")
    assert not report.is_usable
    assert "127.0.0.1:9" in report.reason
