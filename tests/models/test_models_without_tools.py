"""A model that cannot call tools gets none, and names the sections that it wants to read in a line."""

import asyncio

import pytest
from msgspec.structs import replace

from roamtui.conversation.messages import ToolCall
from roamtui.models.base import RetryPending
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from tests.fakes.model_servers import FakeOllamaServer, FakeOpenAIServer, FakeReply
from tests.models.asking import EXPAND, OPTIONS, answer_calls, collect, join_text, make_request

REFUSAL = FakeReply(status=400, error={"error": "registry.ollama.ai/library/gemma3:latest does not support tools"})
NOTE = "{} cannot call tools. Instead, roamtui opens the sections that the model names in its replies."

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
    calls = (
        ToolCall(id="1", name=EXPAND.name, arguments='{"section_ids": ["a8a96034", "b9e8ef5c:2"]}'),
        ToolCall(id="2", name="search_sections", arguments='{"query": "x"}'),
    )
    last = replace(answer_calls(make_request(), calls), allows_calls=False)
    assert join_text(await collect(model, last)) == "Second."
    first_body, second_body = openai_server.bodies
    assert "READ: " in first_body["messages"][0]["content"]
    assert "READ: " not in second_body["messages"][0]["content"]
    assert "tools" not in first_body
    assert "tools" not in second_body
    assert second_body["messages"][1:] == [
        {"role": "user", "content": "What is a model?"},
        {"role": "assistant", "content": "READ: a8a96034, b9e8ef5c:2"},
        {"role": "user", "content": "result of 1"},
    ]


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


async def test_nobody_but_the_server_of_the_model_is_asked(
    model_environ: dict[str, str], forking_command: tuple[str, ...], openai_server: FakeOpenAIServer
) -> None:
    others: list[str] = []

    def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        others.append("a connection")
        writer.close()

    proxy = await asyncio.start_server(note, "127.0.0.1", 0)
    address = "http://127.0.0.1:{1}".format(*proxy.sockets[0].getsockname())
    environ = {**model_environ, "HTTPS_PROXY": address, "ALL_PROXY": address}
    process = WorkerProcess(environ, command=forking_command)
    openai_server.reset(FakeReply(text="First."))
    model = make_model(process, "openrouter/meta-llama/llama-3-8b-instruct", openai_server.url)
    assert join_text(await collect(model)) == "First."
    assert others == []
    await process.close()
    proxy.close()
