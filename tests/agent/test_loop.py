"""The loop: what goes to the model, what its calls do, how a question ends."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from roamtui.agent.prompt import LAST_STEP_NOTE, LIMIT_REACHED, SYSTEM
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    SectionsExpanded,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
    ToolResult,
)
from roamtui.conversation.transcript import Message, Role, Stopped, Usage
from roamtui.models.base import CallMade, ModelEvent, Request
from roamtui.outline.render import render_outline
from tests.agent.asking import FakeSearcher, answer, ask, expanding, ids, make_agent, model_of, results, saying
from tests.fakes.scripted_model import ScriptedReply

_TOOLS = ["expand_sections", "collapse_sections", "search_sections"]


def _kinds(events: list[ConversationEvent]) -> list[type[ConversationEvent]]:
    """Return the kinds of events, streamed text left out."""
    return [type(event) for event in events if not isinstance(event, AnswerStreamed)]


async def test_a_question_from_start_to_end() -> None:
    agent = make_agent()
    fees, lost = ids(agent, "Fees", "Lost books")
    model_of(agent).add_replies(expanding(fees, lost, text="Looking."), saying(f'It costs "2 euros a day" [{fees}].'))
    events = await ask(agent, "How much?")
    assert _kinds(events) == [
        QuestionAsked,
        StepStarted,
        NodesUnfolded,
        SectionsExpanded,
        ToolFinished,
        StepStarted,
        QuestionAnswered,
    ]
    assert events[0] == QuestionAsked(number=1, question="How much?", model="scripted", window_tokens=128_000)
    assert [event.number for event in events if isinstance(event, StepStarted)] == [1, 2]
    assert [event.origin for event in events if isinstance(event, SectionsExpanded)] == [Origin.AGENT]
    assert [event for event in events if isinstance(event, ToolFinished)] == [
        ToolFinished(
            tool="expand_sections",
            section_ids=(fees, lost),
            results=(ToolResult(id=fees, status="opened"), ToolResult(id=lost, status="opened")),
        )
    ]
    last = events[-1]
    assert isinstance(last, QuestionAnswered)
    assert (last.number, last.steps, last.stopped, last.error) == (1, 2, Stopped.ANSWERED, "")
    assert last.answer == f'It costs "2 euros a day" [{fees}].'
    assert [citation.is_verified for citation in last.citations] == [True]
    assert last.usage.input_tokens > 0


async def test_requests_hold_our_text_the_outline_and_all_that_was_said() -> None:
    agent = make_agent(searcher=FakeSearcher())
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(
        expanding(fees, text="Looking."), saying(f'"2 euros" [{fees}]'), saying("Not found: no.")
    )
    await ask(agent, "How much?")
    await ask(agent, "And now?")
    first, second, third = model_of(agent).requests
    outline = render_outline(agent.session.state.library)
    assert first.messages == (
        Message(role=Role.SYSTEM, text=SYSTEM),
        Message(role=Role.USER, text=f"{outline.rstrip()}\n\nQuestion: How much?"),
    )
    assert second.messages[:2] == first.messages
    assert second.messages[2].text == "Looking."
    assert "Late returns cost 2 euros a day." in second.messages[3].text
    assert third.messages[: len(second.messages)] == second.messages
    assert [tool.name for tool in first.tools] == _TOOLS
    assert first.tools == second.tools == third.tools
    assert all(request.allow_calls for request in (first, second, third))


async def test_text_and_thinking_are_streamed_and_thinking_goes_back_with_its_step() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    calls = (("expand_sections", {"section_ids": [fees]}),)
    model_of(agent).add_replies(
        ScriptedReply(text="Let me look.", thinking="Hm.", calls=calls, chunk_size=4),
        ScriptedReply(text="  Not found: it is not there. ", chunk_size=7),
    )
    events = await ask(agent)
    assert [event.text for event in events if isinstance(event, ThinkingStreamed)] == ["Hm."]
    text = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    assert text == "Let me look.  Not found: it is not there. "
    sent = model_of(agent).requests[1].messages[2]
    assert (sent.text, json.loads(sent.thinking)) == ("Let me look.", [{"type": "thinking", "thinking": "Hm."}])


async def test_usage_is_that_of_all_steps() -> None:
    agent = make_agent(
        [
            ScriptedReply(
                calls=(("expand_sections", {}),), usage=Usage(input_tokens=10, cost_usd=0.25, source="provider")
            ),
            ScriptedReply(text="So.", usage=Usage(input_tokens=20, output_tokens=3, cost_usd=0.5, source="provider")),
        ]
    )
    assert (await answer(agent)).usage == Usage(input_tokens=30, output_tokens=3, cost_usd=0.75, source="provider")


async def test_a_follow_up_finds_open_what_was_opened() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(
        expanding(fees), saying(f'"2 euros" [{fees}]'), expanding(fees), saying(f'"2" [{fees}]')
    )
    await ask(agent)
    events = await ask(agent)
    tool = next(event for event in events if isinstance(event, ToolFinished))
    assert tool.results == (ToolResult(id=fees, status="already_open"),)
    assert "is open already: its text stands above." in results(agent)[0]
    sent = "".join(message.text for message in model_of(agent).requests[-1].messages)
    assert sent.count("Late returns cost") == 2, "once in the outline's opening words, once as text"


async def test_several_calls_in_one_reply_are_run_in_order() -> None:
    agent = make_agent()
    fees, lost, lending = ids(agent, "Fees", "Lost books", "Lending")
    reply = ScriptedReply(
        calls=(
            ("expand_sections", {"section_ids": [fees]}),
            ("expand_sections", {"section_ids": [lending]}),
            ("collapse_sections", {"section_ids": [fees, lost]}),
        )
    )
    model_of(agent).add_replies(reply, saying(f'"2 euros" [{fees}]'))
    await ask(agent)
    first, second, third = results(agent)
    assert "Late returns" in first
    assert "Late returns" not in second
    assert third == f"[{fees}] closed after this question\n[{lost}] kept: not open"
    assert agent.session.state.open_ids == (lending,)


@pytest.mark.parametrize("ids_of_calls", [["", "", ""], ["x", "x", "x"], ["call_1_1", "", "x"]])
async def test_calls_that_share_an_id_or_have_none_get_their_own(ids_of_calls: list[str]) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model = model_of(agent)
    stream = model.stream

    async def renamed(request: Request) -> AsyncGenerator[ModelEvent, None]:
        names = iter(ids_of_calls)
        async for event in stream(request):
            yield CallMade(replace(event.call, id=next(names))) if isinstance(event, CallMade) else event

    model.stream = renamed  # type: ignore[method-assign]
    reply = ScriptedReply(calls=(("expand_sections", {"section_ids": [fees]}),) * 3)
    model.add_replies(reply, reply, saying("Not found: no."), reply, saying("Not found: no."))
    await ask(agent)
    await ask(agent)


async def test_calls_past_the_limit_of_a_step_are_answered_and_not_run() -> None:
    agent = make_agent()
    fees, lost = ids(agent, "Fees", "Lost books")
    calls = (("expand_sections", {"section_ids": [fees]}),) * 8 + (("expand_sections", {"section_ids": [lost]}),) * 2
    model_of(agent).add_replies(ScriptedReply(calls=calls), saying("Not found: no."))
    events = await ask(agent)
    assert len(results(agent)) == 10
    assert [result.startswith(LIMIT_REACHED) for result in results(agent)] == [False] * 8 + [True] * 2
    assert sum(isinstance(event, ToolFinished) for event in events) == 8
    assert agent.session.state.open_ids == (fees,)


async def test_a_model_that_never_stops_calling_is_stopped() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(*[expanding(fees)] * 12)
    last = await answer(agent)
    requests = model_of(agent).requests
    assert len(requests) == last.steps == 12
    assert [request.allow_calls for request in requests] == [True] * 11 + [False]
    assert requests[-1].tools == requests[0].tools != ()
    assert LAST_STEP_NOTE in requests[-1].messages[-1].text
    assert not any(LAST_STEP_NOTE in message.text for message in requests[-2].messages)
    assert (last.stopped, last.answer) == (Stopped.STEP_LIMIT, "")
    assert "used all its steps" in last.error
    assert results(agent)[-1] == LIMIT_REACHED
    model_of(agent).add_replies(saying("Not found: no."))
    assert (await answer(agent, "And?")).stopped is Stopped.NOT_FOUND


async def test_one_step_delivers_half_of_what_is_left() -> None:
    text = "# M\n\n" + "".join(f"## S{i}\n\n{' '.join(f'w{i}-{j}' for j in range(150))}\n\n" for i in range(60))
    agent = make_agent(text=text, window_tokens=20_000)
    wanted = ids(agent, *(f"S{i}" for i in range(60)))
    model_of(agent).add_replies(
        ScriptedReply(calls=tuple(("expand_sections", {"section_ids": wanted[i : i + 20]}) for i in (0, 20, 40))),
        saying("Not found: no."),
    )
    events = await ask(agent)
    statuses = [result.status for event in events if isinstance(event, ToolFinished) for result in event.results]
    assert len(statuses) == 60
    assert set(statuses) == {"opened", "no_room"}
    before, after = (event.input_tokens for event in events if isinstance(event, StepStarted))
    assert after - before < 0.5 * (20_000 - before) + 60 * 60, "half the room, and a line for each that had none"
    assert 0.25 * (20_000 - before) < agent.session.state.open_tokens <= 0.5 * (20_000 - before)
    assert "no room for its ~" in results(agent)[-1]
