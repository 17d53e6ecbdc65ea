"""A model without tool calls gets the tools in the prompt, and calls them in its text."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.events import AnswerStreamed, QuestionAnswered
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Role, StopReason, ToolCall
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelEvent, ModelRequest, RetryPending, get_startup_note, warm_up_model
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.options import ModelOptions
from roamtui.models.text_tool_calls import TextCallReader, format_fence, stream_with_text_tools, translate_request
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import DOCUMENT
from tests.fakes.model_servers import FakeOllamaServer, FakeOpenAIServer, FakeReply, openai_error
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.models.asking import CALLS, EXPAND, OPTIONS, answer_calls, collect, join_text, list_calls, make_request

A, B = "a8a96034", "b9e8ef5c"
OPEN, SEARCH, CLOSE = "expand_sections", "search_sections", "collapse_sections"
one_loop = pytest.mark.asyncio(loop_scope="session")

FENCED = "I look.\n\n```open\na8a96034 b9e8ef5c\n```\n```open\n07f3277d\n```"
REFUSAL = FakeReply(status=400, error={"error": "registry.ollama.ai/library/gemma3:latest does not support tools"})


def read(reply: str, size: int = 1_000) -> tuple[str, list[tuple[str, dict[str, object]]]]:
    """Return the text of a reply that comes in pieces, and its calls."""
    reader = TextCallReader()
    shown = "".join(reader.feed(reply[start : start + size]) for start in range(0, len(reply), size))
    shown += reader.finish()
    return shown, [(tool, dict(arguments)) for tool, arguments in reader.calls]


def opening(*ids: str) -> tuple[str, dict[str, object]]:
    return OPEN, {"section_ids": list(ids)}


def searching(query: str) -> tuple[str, dict[str, object]]:
    return SEARCH, {"query": query}


@pytest.mark.parametrize(
    ("reply", "text", "calls"),
    [
        (f"I look.\n\n```open\n{A} {B}\n```\n", "I look.", [opening(A, B)]),
        (f"```open\n{A}\n```\n```close\n{B}\n```", "", [opening(A), (CLOSE, {"section_ids": [B]})]),
        (f"Two.\n```open\n{A}\n```\nand\n```search\nlate fees\n```", "Two.", [opening(A), searching("late fees")]),
        ("```search\nlate fees\n\nswap a shift\n```", "", [searching("late fees"), searching("swap a shift")]),
        (f'```open\n["{A}", "{B}"]\n```', "", [opening(A, B)]),
        (f"```open\n- **{A}** Herons\n- {B}: Owls\n```", "", [opening(A, B)]),
        (f"```open\n{A}:2 {B}:c2\n```", "", [opening(f"{A}:2", f"{B}:c2")]),
        (f"```open\n{A} b9e8ef5\n```", "", [opening(A, "b9e8ef5")]),
        ("```open\nthe herons\n```", "", [opening("the", "herons")]),
        ("```open\n```", "", [opening()]),
        ("```search\n```", "", [searching("")]),
        (f"I look.\n```open\n{A}", "I look.", [opening(A)]),
        (f"```open\n{A}\n```search\nfees\n```", "", [opening(A), searching("fees")]),
        (f"```open {A}, {B}\n```", "", [opening(A, B)]),
        (f"```open {A}```\nDone.", "", [opening(A)]),
        (f"```open\n{A}```", "", [opening(A)]),
        (f"```open\n{A}\n``` and then", "", [opening(A)]),
        (f"  ```Open  \n{A}\n  ```", "", [opening(A)]),
        (f"```expand_sections\n{A}\n```", "", [opening(A)]),
        (f'I look.\n\nexpand_sections(["{A}", "{B}"])', "I look.", [opening(A, B)]),
        (f'`expand_sections(section_ids=["{A}"])`;\nDone.', "", [opening(A)]),
        (f'expand_sections({{"section_ids": ["{A}"]}})', "", [opening(A)]),
        (
            "search_sections(\"late fees\", limit=5)\nsearch_sections(query='a shift')",
            "",
            [searching("late fees"), searching("a shift")],
        ),
        (f"collapse_sections({A})", "", [(CLOSE, {"section_ids": [A]})]),
        (f'Use expand_sections(["{A}"]) here.', f'Use expand_sections(["{A}"]) here.', []),
        ("expand_sections is a tool.\nexpand", "expand_sections is a tool.\nexpand", []),
        (f'```open\n{{"section_ids": ["{A}"]}}\n```', "", [opening(A)]),
        ('```search\n{"query": "fees", "limit": 3}\n```', "", [(SEARCH, {"query": "fees", "limit": 3})]),
        (f"I look.\n```open\n{A}\n```\nResult of open: it is two euros.", "I look.", [opening(A)]),
        (f"I look.\r\n```open\r\n{A}\r\n```\r\n", "I look.", [opening(A)]),
        (f'expand_sections(["{A}"])\r\nDone.', "", [opening(A)]),
    ],
)
def test_a_block_is_a_call_whatever_the_pieces(
    reply: str, text: str, calls: list[tuple[str, dict[str, object]]]
) -> None:
    assert [read(reply, size) for size in (1, 3, 1_000)] == [(text, calls)] * 3


@pytest.mark.parametrize(
    "reply",
    [
        "Plain words.",
        "A line.\n\nAnother `code` and ``more``.",
        "```python\nprint(1)\n```\nThat prints.",
        "```\nopen\n```",
        "```openapi\nget: /\n```",
        "In `open` mode, ```open is no block",
        "A ```open\na8a96034\n``` in a line is none.",
        "`open`\n``close``",
        "open\na8a96034",
        "```",
        "```op",
    ],
)
def test_anything_else_is_text(reply: str) -> None:
    assert [read(reply, size) for size in (1, 3, 1_000)] == [(reply, [])] * 3


def test_text_is_let_through_as_it_comes() -> None:
    reader = TextCallReader()
    assert [reader.feed(piece) for piece in ("Late ", "returns", "\n", "`x", "` cost", "\n", "a")] == [
        "Late",
        " returns",
        "",
        "",
        "",
        "\n`x` cost",
        "\na",
    ]


@pytest.mark.parametrize("arguments", ["{broken", "[1]", '"a"', "[" * 100_000])
def test_arguments_without_sense_are_written_as_they_are(arguments: str) -> None:
    assert format_fence(ToolCall(id="1", name=OPEN, arguments=arguments)) == f"```open\n{arguments}\n```"


@given(
    st.lists(st.lists(st.from_regex(r"[0-9a-f]{8}", fullmatch=True), min_size=1, max_size=4), max_size=3),
    st.text("ab `\n\t.", max_size=30),
    st.integers(1, 9),
)
def test_what_is_written_is_read_whatever_the_pieces(batches: list[list[str]], text: str, size: int) -> None:
    calls = [ToolCall(id="1", name=OPEN, arguments=json.dumps({"section_ids": ids})) for ids in batches]
    reply = "\n".join([text, *(format_fence(call) for call in calls)])
    shown, found = read(reply, size)
    assert found == [opening(*ids) for ids in batches]
    assert shown == text.rstrip()


@given(st.text("open`search\n 12af", max_size=60), st.integers(1, 9))
def test_pieces_make_no_difference(reply: str, size: int) -> None:
    assert read(reply, size) == read(reply)


class InWords(ScriptedModel):
    """A scripted model that is asked in words."""

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in stream_with_text_tools(super().stream(translate_request(request)), request):
            yield event


@one_loop
async def test_a_whole_conversation_in_words_opens_quotes_and_only_grows() -> None:
    library = Library(source="birds.md", root=parse_document(DOCUMENT, name="birds.md"))
    ids = {library.title_of(section_id): section_id for section_id in library.walk()}
    replies = [
        ScriptedReply(text="First I search.\n```search\nfish\n```"),
        ScriptedReply(text=f"```open\n{ids['Herons']} nonsense1\n```\nHere it says nothing."),
        ScriptedReply(text="About forty grams."),
        ScriptedReply(text=f'It eats "forty grams of fish a day" [{ids["Herons"]}].'),
        ScriptedReply(text=f"```open\n{ids['Owls']}\n```\n```close\n{ids['Herons']}"),
        ScriptedReply(text=f'It turns "by 270 degrees" [{ids["Owls"]}].'),
    ]
    inner = InWords(replies)
    searcher = KeywordSearcher(library)
    agent = Agent(Session.start(library), inner, searcher)
    for question in ("How much does a heron eat?", "And owls?"):
        events = [event async for event in agent.ask(question)]
        last = events[-1]
        assert isinstance(last, QuestionAnswered)
        assert last.stopped is StopReason.ANSWERED
        assert [citation.is_verified for citation in last.citations] == [True]
        assert "```" not in "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    assert inner.replies_left == 0
    for before, after in zip(inner.requests, inner.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == ()
        roles = [message.role for message in after.messages[1:]]
        assert roles == [Role.USER, Role.ASSISTANT] * (len(roles) // 2) + [Role.USER]
    assert "A heron eats forty grams" in inner.requests[2].messages[-1].text
    assert '"nonsense1" is no section id' in inner.requests[2].messages[-1].text
    assert EXPAND.name in inner.requests[0].messages[0].text


def make_model(worker: WorkerProcess, name: str, api_base: str | None = None) -> LitellmModel:
    return LitellmModel(name, api_base=api_base, options=OPTIONS, worker=worker)


@one_loop
@pytest.mark.parametrize(
    ("name", "is_noted"), [("openai/gpt-4.1-mini", False), ("openai/my-own-model", True), ("ollama_chat/gemma3", False)]
)
async def test_a_cap_that_cannot_hold_is_told(worker: WorkerProcess, name: str, *, is_noted: bool) -> None:
    options = ModelOptions(has_spending_cap=True)
    model = LitellmModel(name, options=options, worker=worker)
    await warm_up_model(model)
    note = f"No price known for {name}; the spending limit does not apply."
    assert get_startup_note(model) == (note if is_noted else "")


@one_loop
async def test_a_model_that_is_known_to_have_none_is_asked_in_words(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text=FENCED), FakeReply(text="Done."))
    model = make_model(worker, "deepseek/deepseek-reasoner", openai_server.url)
    assert isinstance(model, Model)
    await warm_up_model(model)
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


@one_loop
async def test_a_server_that_refuses_tools_is_asked_again_in_words_and_from_then_on(
    worker: WorkerProcess, ollama_server: FakeOllamaServer
) -> None:
    ollama_server.reset(REFUSAL, FakeReply(text=FENCED), FakeReply(text="Done."))
    model = make_model(worker, "ollama_chat/llama3.1", ollama_server.url)
    await warm_up_model(model)
    events = await collect(model)
    note = "ollama_chat/llama3.1 refuses tool calls, so they are described in the prompt."
    assert events[0] == RetryPending(note, 0.0)
    assert [(call.name, call.arguments) for call in list_calls(events)] == list(CALLS)
    again = await collect(model, answer_calls(make_request(), list_calls(events)))
    assert join_text(again) == "Done."
    assert not any(isinstance(event, RetryPending) for event in again)
    assert ["tools" in body for body in ollama_server.bodies] == [True, False, False]
    assert get_startup_note(model) == ""


@one_loop
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


@one_loop
async def test_a_request_without_tools_is_not_sent_again(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(status=400, error=openai_error("this model does not support tools")))
    model = make_model(worker, "openai/my-own-model", openai_server.url)
    with pytest.raises(ModelError, match="does not support tools"):
        await collect(model, ModelRequest(messages=make_request().messages))
    assert len(openai_server.bodies) == 1
