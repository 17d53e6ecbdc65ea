"""The real litellm client, in its process, against a server that speaks OpenAI's dialect."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest

from roamtui.conversation.transcript import Usage
from roamtui.models.base import TextDelta, UsageReported
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from tests.fakes.http_server import Ending, FakeReply
from tests.fakes.openai_server import FakeOpenAIServer
from tests.models.asking import CALLS, OPTIONS, answer_calls, collect, join_text, list_calls, make_request

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def model(worker: WorkerProcess, openai_server: FakeOpenAIServer) -> LitellmModel:
    return LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)


async def test_text_arrives_before_the_reply_is_whole(model: LitellmModel, openai_server: FakeOpenAIServer) -> None:
    gate = threading.Event()
    openai_server.reset(FakeReply(text="first and last", chunk_size=5, gate=gate, gate_after=2))
    async with aclosing(model.stream(make_request())) as events:
        assert await anext(events) == TextDelta("first")
        gate.set()
        assert join_text([event async for event in events]) == " and last"


async def test_usage_is_the_providers(model: LitellmModel, openai_server: FakeOpenAIServer) -> None:
    openai_server.reset(FakeReply(text="Yes.", input_tokens=1_000, output_tokens=50, cached_tokens=400))
    usages = [event.usage for event in await collect(model) if isinstance(event, UsageReported)]
    [usage] = usages
    assert usage == Usage(
        input_tokens=1_000, output_tokens=50, cached_tokens=400, cost_usd=usage.cost_usd, source="provider"
    )
    assert usage.cost_usd is not None
    assert 0 < usage.cost_usd < 0.01


async def test_usage_that_no_server_counted_is_an_estimate(
    model: LitellmModel, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text="Yes.", counts_tokens=False))
    usages = [event.usage for event in await collect(model) if isinstance(event, UsageReported)]
    assert [usage.source for usage in usages] == ["estimate"]


async def test_ids_that_a_server_uses_again_are_made_new(model: LitellmModel, openai_server: FakeOpenAIServer) -> None:
    openai_server.reset(FakeReply(calls=CALLS), FakeReply(calls=CALLS))
    first = make_request()
    calls = list_calls(await collect(model, first))
    again = list_calls(await collect(model, answer_calls(first, calls)))
    assert len({call.id for call in (*calls, *again)}) == 4


async def test_tools_stay_declared_when_no_call_is_allowed(
    model: LitellmModel, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text="Yes."))
    await collect(model, make_request(allow_calls=False))
    [body] = openai_server.bodies
    assert body["tool_choice"] == "none"
    assert len(body["tools"]) == 1


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


async def test_what_is_known_of_a_model(model: LitellmModel, worker: WorkerProcess) -> None:
    sizes = [model.window_tokens]
    await model.start()
    sizes.append(model.window_tokens)
    assert sizes == [None, 1_047_576]
    description = await model.describe()
    assert (description.provider, description.can_call_tools, description.missing_keys) == ("openai", True, ())
    unknown = await LitellmModel("groq/never-heard-of", worker=worker).describe()
    assert (unknown.window_tokens, unknown.missing_keys) == (None, ("GROQ_API_KEY",))
