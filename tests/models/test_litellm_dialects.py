"""The real litellm client, in its process, against servers that speak OpenAI's, Anthropic's and Ollama's dialects."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from typing_extensions import override

from roamtui.conversation.messages import ToolCall, Usage
from roamtui.models.base import ReplyFinished, UsageReported
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.usage import add_cost
from roamtui.models.worker_process import WorkerProcess
from tests.fakes.model_servers import Ending, FakeAnthropicServer, FakeOllamaServer, FakeOpenAIServer, FakeReply
from tests.models.asking import CALLS, OPTIONS, answer_calls, collect, join_text, list_calls, make_request

pytestmark = pytest.mark.asyncio(loop_scope="session")

CACHED = {"type": "ephemeral"}
SERVERS: dict[str, type[FakeOpenAIServer | FakeAnthropicServer | FakeOllamaServer]] = {
    "openai/gpt-4.1-mini": FakeOpenAIServer,
    "anthropic/claude-sonnet-4-5": FakeAnthropicServer,
    "ollama_chat/llama3.1": FakeOllamaServer,
}


@pytest.mark.parametrize("name", SERVERS)
async def test_a_reply_has_its_words_its_calls_and_the_usage_of_the_provider(worker: WorkerProcess, name: str) -> None:
    reply = FakeReply(text="I look.", calls=CALLS, input_tokens=900, output_tokens=30, cached_tokens=800)
    with SERVERS[name](reply) as server:
        model = LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker)
        events = await collect(model)
    assert join_text(events) == "I look."
    calls = list_calls(events)
    assert [(one.name, json.loads(one.arguments)) for one in calls] == [(one, json.loads(text)) for one, text in CALLS]
    assert len({call.id for call in calls}) == 2
    [usage] = [event.usage for event in events if isinstance(event, UsageReported)]
    cached = 0 if name.startswith("ollama") else 800
    assert usage == Usage(
        input_tokens=900, output_tokens=30, cached_tokens=cached, cost_usd=usage.cost_usd, source="provider"
    )
    full_usd = add_cost(replace(usage, cost_usd=None), model.facts.prices).cost_usd or 0.0
    spent_usd = usage.cost_usd or 0.0
    assert 0 < spent_usd < full_usd if cached else spent_usd == full_usd == 0, "cached text costs less"
    assert events[-1] == ReplyFinished("stop")


async def test_cancelling_the_task_closes_the_connection(
    model: LitellmModel, worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(ending=Ending.HANG, pieces_max=0), FakeReply(text="Still here."))
    await model.start()
    pid = worker.pid
    task = asyncio.create_task(collect(model))
    assert await asyncio.to_thread(openai_server.request_came.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(openai_server.client_closed.wait, 10)
    assert join_text(await collect(model)) == "Still here."
    assert worker.pid == pid


@pytest.fixture
def claude(worker: WorkerProcess, anthropic_server: FakeAnthropicServer) -> LitellmModel:
    return LitellmModel("anthropic/claude-sonnet-4-5", api_base=anthropic_server.url, options=OPTIONS, worker=worker)


@pytest.fixture
def llama(worker: WorkerProcess, ollama_server: FakeOllamaServer) -> LitellmModel:
    return LitellmModel("ollama_chat/llama3.1", api_base=ollama_server.url, options=OPTIONS, worker=worker)


async def test_anthropic_is_told_what_to_cache(claude: LitellmModel, anthropic_server: FakeAnthropicServer) -> None:
    anthropic_server.reset(FakeReply(calls=CALLS), FakeReply(text="Done."))
    first = make_request()
    calls = list_calls(await collect(claude, first))
    await collect(claude, answer_calls(first, calls))
    before, after = anthropic_server.bodies
    assert before["system"] == after["system"] == [{"type": "text", "text": "You roam.", "cache_control": CACHED}]
    assert before["messages"][-1]["content"][-1]["cache_control"] == CACHED
    results = after["messages"][-1]["content"]
    assert [(result["type"], result["tool_use_id"]) for result in results] == [
        ("tool_result", call.id) for call in calls
    ]
    assert results[-1]["cache_control"] == CACHED
    assert "cache_control" not in json.dumps(results[:-1])
    assert after["messages"][0] == before["messages"][0], "the end of the request before is marked again"
    assert json.dumps(after).count("cache_control") == 3
    uses = [block for block in after["messages"][1]["content"] if block["type"] == "tool_use"]
    assert [use["input"] for use in uses] == [json.loads(arguments) for _, arguments in CALLS]


@pytest.mark.parametrize("name", SERVERS)
async def test_whatever_a_model_said_can_be_sent_back(worker: WorkerProcess, name: str) -> None:
    broken = ("[" * 9_999, '{"limit": NaN}', '{"limit": 1e999}', '{"q": "\\ud83d"}', '{"q": "\ud83d"}', '{"a', "")
    calls = tuple(ToolCall(id=f"call_{i}", name="do it!" * i, arguments=text) for i, text in enumerate(broken))
    request = answer_calls(make_request("A \ud83d?"), calls)
    with SERVERS[name](FakeReply(text="Fine.")) as server:
        model = LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker)
        assert join_text(await collect(model, request)) == "Fine."


async def test_ollama_gets_results_and_its_window(llama: LitellmModel, ollama_server: FakeOllamaServer) -> None:
    ollama_server.reset(FakeReply(calls=CALLS), FakeReply(text="Done."))
    first = make_request()
    calls = list_calls(await collect(llama, first))
    assert join_text(await collect(llama, answer_calls(first, calls))) == "Done."
    assert [body["options"]["num_ctx"] for body in ollama_server.bodies] == [32_768, 32_768]
    results = [m["content"] for m in ollama_server.bodies[1]["messages"] if m["role"] == "tool"]
    assert results == [f"result of {call.id}" for call in calls]
    assert llama.facts.window_tokens == 32_768


@pytest.mark.parametrize(
    ("name", "is_noted"), [("openai/gpt-4.1-mini", False), ("openai/my-own-model", True), ("ollama_chat/gemma3", False)]
)
async def test_a_spending_limit_without_a_price_is_noted(worker: WorkerProcess, name: str, *, is_noted: bool) -> None:
    model = LitellmModel(name, options=ModelOptions(has_spending_limit=True), worker=worker)
    await model.start()
    note = f"The price of {name} is not known, so your spending limit does not apply."
    assert model.note == (note if is_noted else "")


class _NumberingServer(FakeOpenAIServer):
    """Numbers its calls."""

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        for piece in super().pieces(reply, body):
            yield re.sub(rb'"call_(\d+)_fake"', rb"\1", piece)


async def test_calls_whose_ids_are_numbers_are_taken(worker: WorkerProcess) -> None:
    with _NumberingServer(FakeReply(calls=CALLS)) as server:
        model = LitellmModel("openai/x", api_base=server.url, options=OPTIONS, worker=worker)
        assert [call.id for call in list_calls(await collect(model))] == ["0", "1"]


class TwoAnswers(FakeOpenAIServer):
    """Writes another answer at the same time."""

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        for piece in super().pieces(reply, body):
            yield piece
            yield piece.replace(b'"index": 0', b'"index": 1', 1)


async def test_of_two_answers_at_once_the_first_is_taken(worker: WorkerProcess) -> None:
    with TwoAnswers(FakeReply(text="A late fee is due.")) as server:
        model = LitellmModel("openai/x", api_base=server.url, options=OPTIONS, worker=worker)
        assert join_text(await collect(model)) == "A late fee is due."
