"""A model that cannot call tools gets none, and a note says so."""

from __future__ import annotations

import pytest

from roamtui.conversation.events import ToolCall
from roamtui.models.base import RetryPending
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from tests.fakes.model_servers import FakeOllamaServer, FakeOpenAIServer, FakeReply
from tests.models.asking import EXPAND, OPTIONS, answer_calls, collect, join_text, make_request

REFUSAL = FakeReply(status=400, error={"error": "registry.ollama.ai/library/gemma3:latest does not support tools"})
NOTE = "{} cannot call tools, so it answers from what comes with each question."

pytestmark = pytest.mark.asyncio(loop_scope="session")


def make_model(worker: WorkerProcess, name: str, api_base: str) -> LitellmModel:
    return LitellmModel(name, api_base=api_base, options=OPTIONS, worker=worker)


async def test_a_model_that_is_known_to_have_none_gets_none(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    model = make_model(worker, "deepseek/deepseek-reasoner", openai_server.url)
    await model.start()
    assert model.note == NOTE.format(model.name)
    openai_server.reset(FakeReply(text="First."), FakeReply(text="Second."))
    assert join_text(await collect(model)) == "First."
    call = ToolCall(id="1", name=EXPAND.name, arguments="{}")
    assert join_text(await collect(model, answer_calls(make_request(), (call,)))) == "Second."
    for body in openai_server.bodies:  # no calls of an earlier model in the history either
        assert "tools" not in body
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"].endswith("answer from the texts and excerpts in these messages.")


async def test_a_server_that_refuses_tools_is_asked_once_more_without_them_and_from_then_on(
    worker: WorkerProcess, ollama_server: FakeOllamaServer
) -> None:
    ollama_server.reset(REFUSAL, FakeReply(text="First."), FakeReply(text="Second."))
    model = make_model(worker, "ollama_chat/llama3.1", ollama_server.url)
    await model.start()
    assert model.note == ""
    events = await collect(model)
    assert events[0] == RetryPending(NOTE.format(model.name), 0.0)
    assert join_text(events) == "First."
    again = await collect(model)
    assert join_text(again) == "Second."
    assert not any(isinstance(event, RetryPending) for event in again)
    assert ["tools" in body for body in ollama_server.bodies] == [True, False, False]
