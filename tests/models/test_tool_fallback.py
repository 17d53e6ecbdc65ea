"""A model without tool calls, asked through the real litellm client: known beforehand, or told by its server."""

from __future__ import annotations

import pytest

from roamtui.errors import ModelError
from roamtui.models.base import Model, Request, Retrying
from roamtui.models.choose import find_note, start_model
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.models.tool_fallback import ToolFallbackModel
from roamtui.models.worker.process import WorkerProcess
from tests.fakes.http_server import FakeReply
from tests.fakes.ollama_server import FakeOllamaServer
from tests.fakes.openai_server import FakeOpenAIServer, openai_error
from tests.models.asking import CALLS, OPTIONS, answer_calls, collect, join_text, list_calls, make_request

pytestmark = pytest.mark.asyncio(loop_scope="session")

FENCED = "I look.\n\n```open\na8a96034 b9e8ef5c\n```\n```open\n07f3277d\n```"
REFUSAL = FakeReply(status=400, error={"error": "registry.ollama.ai/library/gemma3:latest does not support tools"})


def make_model(worker: WorkerProcess, name: str, api_base: str | None = None) -> ToolFallbackModel:
    return ToolFallbackModel(LitellmModel(name, api_base=api_base, options=OPTIONS, worker=worker))


@pytest.mark.parametrize(
    ("name", "can_call_tools"),
    [
        ("openai/gpt-4.1-mini", True),
        ("deepseek/deepseek-reasoner", False),
        ("perplexity/sonar", False),
        ("openai/my-own-model", None),
        ("ollama_chat/gemma3", None),
    ],
)
async def test_litellm_knows_of_some_that_they_have_none(
    worker: WorkerProcess, name: str, *, can_call_tools: bool | None
) -> None:
    model = make_model(worker, name)
    assert find_note(model) == ""
    assert (await model.describe()).can_call_tools is can_call_tools
    note = f"{name} has no tool calls, so it is told in words how to open sections. Expect more wrong turns."
    assert find_note(model) == (note if can_call_tools is False else "")


@pytest.mark.parametrize(
    ("name", "is_told"), [("openai/gpt-4.1-mini", False), ("openai/my-own-model", True), ("ollama_chat/gemma3", False)]
)
async def test_a_cap_that_cannot_hold_is_told(worker: WorkerProcess, name: str, *, is_told: bool) -> None:
    options = ModelOptions(has_spending_cap=True)
    model = ToolFallbackModel(LitellmModel(name, options=options, worker=worker))
    await start_model(model)
    told = f"The price of {name} is not known here, so the spending cap cannot hold it."
    assert find_note(model) == (told if is_told else "")


async def test_a_model_that_is_known_to_have_none_is_asked_in_words(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text=FENCED), FakeReply(text="Done."))
    model = make_model(worker, "deepseek/deepseek-reasoner", openai_server.url)
    assert isinstance(model, Model)
    await start_model(model)
    events = await collect(model)
    assert join_text(events) == "I look."
    calls = list_calls(events)
    assert [(call.name, call.arguments) for call in calls] == list(CALLS)
    assert join_text(await collect(model, answer_calls(make_request(), calls))) == "Done."
    first, second = openai_server.bodies
    assert "tools" not in first
    assert "```open\n" in first["messages"][0]["content"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert second["messages"][2]["content"] == FENCED.replace("```\n```open", "```\n\n```open")


async def test_a_server_that_refuses_tools_is_asked_again_in_words_and_from_then_on(
    worker: WorkerProcess, ollama_server: FakeOllamaServer
) -> None:
    ollama_server.reset(REFUSAL, FakeReply(text=FENCED), FakeReply(text="Done."))
    model = make_model(worker, "ollama_chat/llama3.1", ollama_server.url)
    await start_model(model)
    events = await collect(model)
    note = "ollama_chat/llama3.1 refuses tool calls, so it is told in words how to open sections."
    assert events[0] == Retrying(note, 0.0)
    assert [(call.name, call.arguments) for call in list_calls(events)] == list(CALLS)
    again = await collect(model, answer_calls(make_request(), list_calls(events)))
    assert join_text(again) == "Done."
    assert not any(isinstance(event, Retrying) for event in again)
    assert ["tools" in body for body in ollama_server.bodies] == [True, False, False]
    assert find_note(model) == ""


async def test_a_model_with_tool_calls_is_asked_with_them(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text=FENCED, calls=CALLS))
    events = await collect(make_model(worker, "openai/gpt-4.1-mini", openai_server.url))
    assert join_text(events) == FENCED
    assert [(call.name, call.arguments) for call in list_calls(events)] == list(CALLS)
    assert openai_server.bodies[0]["tools"]


@pytest.mark.parametrize(
    ("message", "is_refusal"),
    [
        ("this model does not support function calling", True),
        ("Function calling is not enabled for models/x", True),
        ("`tools` is not supported with this model", True),
        ("tool use isn't supported here", True),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', True),
        ("Unsupported parameter: 'tools'", True),
        ("Invalid schema for function 'x'", False),
        ("this model does not support streaming", False),
    ],
)
async def test_a_refusal_of_tools_is_told_from_others(
    worker: WorkerProcess, openai_server: FakeOpenAIServer, message: str, *, is_refusal: bool
) -> None:
    openai_server.reset(FakeReply(status=400, error=openai_error(message)), FakeReply(text="In words."))
    model = make_model(worker, "openai/my-own-model", openai_server.url)
    if is_refusal:
        assert join_text(await collect(model)) == "In words."
    else:
        with pytest.raises(ModelError, match="refused the request"):
            await collect(model)
    assert len(openai_server.bodies) == 1 + is_refusal


class UnknownModel(ScriptedModel):
    """A model of which nobody knows whether it has tool calls."""

    can_call_tools = None


async def test_what_was_said_already_is_not_asked_for_again() -> None:
    error = ModelError("It does not support tools.")
    inner = UnknownModel([ScriptedReply(text="But", error=error), ScriptedReply(error=error)])
    model = ToolFallbackModel(inner)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="does not support tools"):
        await collect(model)
    without_tools = Request(messages=make_request().messages)
    with pytest.raises(ModelError, match="does not support tools"):
        await collect(model, without_tools)
    assert len(inner.requests) == 2
    await model.close()
    assert inner.is_closed


async def test_most_models_have_no_note() -> None:
    assert find_note(ScriptedModel()) == ""
    await start_model(ScriptedModel())
