"""A model without tool calls is told of the tools in words, and asks for them in words."""

from __future__ import annotations

import json

from roamtui.agent.events import AnswerStreamed, QuestionAnswered
from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Message, Role, Stopped, ToolCall
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.models.base import CallMade, Model, ModelStopped, Request, TextDelta, ThinkingDelta, UsageReported
from roamtui.models.prompt_tools import PromptToolsModel, translate_request
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import DOCUMENT
from tests.models.asking import EXPAND, answer_calls, collect, join_text, list_calls, make_request

CALLS = (
    ToolCall(id="1", name="expand_sections", arguments='{"section_ids": ["a8a96034", "b9e8ef5c"]}'),
    ToolCall(id="2", name="search_sections", arguments='{"query": "late fees"}'),
)


def test_the_tools_are_told_in_the_system_text() -> None:
    request = translate_request(make_request())
    assert request.tools == ()
    system, question = request.messages
    assert system.text.startswith("You roam.\n\nHow to call tools\n")
    assert "expand_sections: Open sections.\n```open\na8a96034 b9e8ef5c\n```" in system.text
    assert "```search" not in system.text
    assert question == make_request().messages[1]


def test_without_tools_a_request_stays_as_it_is() -> None:
    request = Request(messages=make_request().messages)
    assert translate_request(request) == request


def test_calls_and_results_become_words() -> None:
    request = translate_request(answer_calls(make_request(), CALLS, thinking="[]"))
    assert request.messages[2:] == (
        Message(
            role=Role.ASSISTANT,
            text="I look.\n\n```open\na8a96034 b9e8ef5c\n```\n\n```search\nlate fees\n```",
            thinking="[]",
        ),
        Message(
            role=Role.USER,
            text="Result of open a8a96034 b9e8ef5c:\nresult of 1\n\nResult of search late fees:\nresult of 2",
        ),
    )


async def test_blocks_of_a_reply_are_calls_and_never_text() -> None:
    said = "I look.\n\n```open\na8a96034, b9e8ef5c\n```\n```search\nlate fees\n```\nResults: none."
    inner = ScriptedModel([ScriptedReply(text=said, chunk_size=2, thinking="Hm.")], window_tokens=4_000)
    model = PromptToolsModel(inner)
    assert isinstance(model, Model)
    assert (model.name, model.window_tokens) == ("scripted", 4_000)
    events = await collect(model)
    assert join_text(events) == "I look."
    assert [(call.name, json.loads(call.arguments)) for call in list_calls(events)] == [
        ("expand_sections", {"section_ids": ["a8a96034", "b9e8ef5c"]}),
        ("search_sections", {"query": "late fees"}),
    ]
    assert len({call.id for call in list_calls(events)}) == 2
    assert [type(event) for event in events if not isinstance(event, TextDelta)] == [
        ThinkingDelta,
        UsageReported,
        CallMade,
        CallMade,
        ModelStopped,
    ]
    assert isinstance(events[-1], ModelStopped)
    assert events[-1].reason == "tool_calls"
    assert events[-1].thinking
    await model.close()
    assert inner.is_closed


async def test_a_reply_without_blocks_is_an_answer() -> None:
    events = await collect(PromptToolsModel(ScriptedModel([ScriptedReply(text="Two euros.\n```")])))
    assert join_text(events) == "Two euros.\n```"
    assert events[-1] == ModelStopped("stop")


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
    inner = ScriptedModel(replies)
    searcher = KeywordSearcher(library)
    agent = Agent(Session.start(library), PromptToolsModel(inner), searcher)
    for question in ("How much does a heron eat?", "And owls?"):
        events = [event async for event in agent.ask(question)]
        last = events[-1]
        assert isinstance(last, QuestionAnswered)
        assert last.stopped is Stopped.ANSWERED
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
