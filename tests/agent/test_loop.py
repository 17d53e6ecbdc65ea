"""The loop: requests, tool calls, costs, how a question ends, and requests that fit the window."""

import re
from itertools import cycle, islice, pairwise

import pytest
from msgspec.structs import replace

from roamtui.agent.options import AgentOptions
from roamtui.agent.prompt import LAST_STEP_NOTE, LIMIT_REACHED, REPEATED_CALL
from roamtui.conversation.events import CloseReason, Origin, QuestionAnswered, SectionsClosed, StopReason, ToolFinished
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Message, Usage
from roamtui.conversation.update import CloseSections
from roamtui.models.base import ModelRequest
from roamtui.paths import get_resource_dir
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.search.searcher import Searcher
from roamtui.text import estimate_tokens
from tests.agent.asking import (
    DOCUMENT,
    MANUAL,
    NO_HITS,
    WORDS,
    answer,
    ask,
    expanding,
    ids,
    make_agent,
    model_of,
    results,
    saying,
    sent,
)
from tests.conversation.conversations import FakeApprover, make_library
from tests.fakes.scripted_model import ScriptedReply, estimate_request_tokens, make_refusal


async def test_sections_stay_open_for_a_follow_up() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    await ask(agent, "How much?", expanding("Fees"), saying('"2 euros" [{Fees}]'))
    events = await ask(agent, "And now?", expanding("Fees"), saying('"2" [{Fees}]'))
    tool = next(event for event in events if isinstance(event, ToolFinished))
    assert tool.results == ((fees, "already_open"),)
    assert "Fees: its text stands above." in results(agent)[0]
    text = "".join(message.text for message in sent(agent))
    assert text.count("Late returns cost") == 1


async def test_a_model_that_never_stops_calling_is_stopped() -> None:
    agent = make_agent([expanding("Fees", *["x"] * number, text="Two euros a day.") for number in range(12)])
    last = await answer(agent)
    requests = model_of(agent).requests
    assert len(requests) == last.step_count == 12
    assert [request.allows_calls for request in requests] == [True] * 11 + [False]
    assert requests[-1].tools == requests[0].tools != ()
    assert LAST_STEP_NOTE in requests[-1].messages[-1].text
    assert not any(LAST_STEP_NOTE in message.text for message in requests[-2].messages)
    assert (last.stopped, last.answer) == (StopReason.STEP_LIMIT, "Two euros a day.")
    assert results(agent)[-1] == LIMIT_REACHED
    assert (await answer(agent, "And?", saying("Not found: no."))).stopped is StopReason.NOT_FOUND


QUOTES = {"Herons": "forty grams", "Owls": "270 degrees", "Swifts": "while it flies"}


def count(messages: tuple[Message, ...]) -> int:
    texts = [text for m in messages for text in (m.text, *(call.arguments for call in m.tool_calls))]
    return sum(map(estimate_tokens, texts))


async def test_ten_questions_cost_little_more_than_their_distinct_text() -> None:
    agent = make_agent(text=DOCUMENT)
    for title, quote in islice(cycle(QUOTES.items()), 10):
        await ask(agent, f"What of {title}?", expanding(title), saying(f'It says "{quote}" [{{{title}}}].'))
    requests = [request.messages for request in model_of(agent).requests]
    assert all(after[: len(before)] == before for before, after in pairwise(requests)), "nothing is rebuilt"
    # without a rebuild, each request adds to the one before it, which the provider has cached
    distinct = tuple({message: None for messages in requests for message in messages})
    assert count(sent(agent)) <= 1.15 * count(distinct)


EXPENSIVE = ScriptedReply(
    text="An answer.", usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.4, source="provider")
)


async def test_not_even_the_first_request_may_cost_more_than_the_limit() -> None:
    agent = make_agent(text=DOCUMENT, options=AgentOptions(cost_usd_max=0.1, sends_hits=False))
    model_of(agent).facts = replace(model_of(agent).facts, prices=(0.001, 0.0))
    assert (await answer(agent, "Why?", EXPENSIVE)).stopped is StopReason.COST
    assert not model_of(agent).requests


async def test_a_yes_at_the_spending_limit_holds_for_one_question() -> None:
    approver = FakeApprover(answer=True)
    agent = make_agent(text=DOCUMENT, options=AgentOptions(cost_usd_max=0.1, sends_hits=False), approver=approver)
    for number in range(3):
        opening = ScriptedReply(calls=expanding("Herons").calls, usage=EXPENSIVE.usage)
        assert (await answer(agent, "Why?", opening, EXPENSIVE, EXPENSIVE)).stopped is StopReason.ANSWERED
        assert len(approver.asked) == number + 1


async def test_a_question_whose_answer_cannot_be_judged_is_closed_with_its_paid_reply(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> tuple[()]:
        raise ZeroDivisionError

    agent = make_agent(store=store)
    monkeypatch.setattr(QuoteChecker, "list_citations", fail)
    with pytest.raises(ZeroDivisionError):
        await ask(agent, "How much?", saying("It is two euros a day [1 ✓]."))
    agent.conversation.close()
    [exchange] = store.load(agent.conversation.state.id).exchanges
    assert not agent.conversation.state.is_asking
    assert exchange.answer.startswith("It is two euros a day")
    assert "✓" not in exchange.answer
    assert exchange.stopped is StopReason.ERROR
    assert "ZeroDivisionError" in exchange.error


async def test_what_is_found_and_opened_in_one_step_is_sent_once() -> None:
    library = make_library(MANUAL)
    agent = make_agent(searcher=Searcher(library), options=NO_HITS)
    calls = (("search_sections", {"query": "late returns"}), ("expand_sections", {"section_ids": ["Fees"]}))
    await ask(agent, "How much?", ScriptedReply(calls=calls), saying('It is "2 euros a day" [{Fees}].'))
    assert "".join(message.text for message in sent(agent)).count("Late returns cost 2 euros a day.") == 1


async def test_what_an_excerpt_or_a_section_has_is_named_and_not_sent_again() -> None:
    handbook = get_resource_dir("examples").joinpath("handbook.md").read_text("utf-8")
    agent = make_agent(text=handbook, searcher=Searcher(make_library(handbook)), options=AgentOptions())
    quoted = saying('It "counts as returned from the moment of the scan" [{Returns locker}].')
    await ask(agent, "Where do I return a tool?", expanding("Returns locker", "About the library"), quoted)
    (locker,) = ids(agent, "Returns locker")
    await ask(agent, "And where a bike?", expanding("Bicycles and cargo bikes", "Cargo bike fleet"), quoted)
    text = "\n".join(message.text for message in sent(agent))
    paragraphs = [part for part in handbook.split("\n\n") if len(part) > 200]
    assert sum(part in text for part in paragraphs) > 15
    assert [part for part in paragraphs if text.count(part) > 1] == []
    assert f"(Given above: [{locker}] Returns locker" in text
    # a rebuilt transcript has no excerpts, so it has all text of what is open
    closing = CloseSections(section_ids=tuple(ids(agent, "Cargo bike fleet")), origin=Origin.PERSON)
    await agent.conversation.execute(closing)
    await ask(agent, "Where do I return a tool?", saying("Not found: no."))
    assert "The item counts as returned from the moment of the scan." in sent(agent)[1].text
    text = "\n".join(message.text for message in sent(agent))
    given = re.findall(r"^\(Given above: .*\)$", text, re.MULTILINE)
    known = re.findall(r"\[(\w+)\]", "".join(given))
    assert locker in known
    library = agent.conversation.state.library
    assert all(library.text_at(library.node(each).own_span).split("\n\n")[1].strip() in text for each in known)


def refuse(request: ModelRequest) -> ScriptedReply:
    """Refuse a request that is a little too long."""
    window = int(estimate_request_tokens(request) / 0.7) - 50
    return ScriptedReply(error=make_refusal(window_tokens=window))


async def test_an_overflow_drops_sections_of_earlier_questions_and_retries() -> None:
    agent = make_agent(text=DOCUMENT.replace(WORDS, WORDS * 5))
    (herons,) = ids(agent, "Herons")
    await ask(agent, "Herons?", expanding("Herons"), saying('It says "forty grams of fish a day" [{Herons}].'))
    owls_answer = saying('It says "turns its head by 270 degrees" [{Owls}].')
    *events, last = await ask(agent, "Owls?", expanding("Owls"), refuse, owls_answer)
    assert isinstance(last, QuestionAnswered)
    assert last.stopped is StopReason.ANSWERED
    assert last.citations[0].is_verified
    closed = [event for event in events if isinstance(event, SectionsClosed) and event.reason is CloseReason.OVERFLOW]
    assert [event.section_ids for event in closed] == [(herons,)]
    text = "\n".join(message.text for message in sent(agent))
    assert f"forty grams of fish a day. {WORDS * 3}" not in text
    assert "An owl turns its head" in text
    assert "Herons?" in text


async def test_a_call_may_be_made_again_after_its_result_has_left_the_transcript() -> None:
    agent = make_agent(text=DOCUMENT)
    await answer(agent, "Herons?", expanding("Herons"), refuse, expanding("Herons"), saying("Not found: no."))
    assert REPEATED_CALL not in "".join(results(agent))
    assert "forty grams of fish a day" in "\n".join(message.text for message in sent(agent))


async def test_a_window_of_unknown_size_is_shared_as_if_it_had_64_000_tokens() -> None:
    last = await answer(make_agent([saying("x")], window_tokens=None), "word " * 70_000)
    assert "does not fit in the context window of 64,000 tokens" in last.error
