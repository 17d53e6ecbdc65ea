"""What a provider's cache can pay for: each request begins with the one before it, rebuilds apart."""

from __future__ import annotations

from itertools import pairwise

from roamtui.conversation.commands import CollapseSections, Origin
from roamtui.conversation.transcript import Message
from roamtui.document.tokens import estimate_tokens
from tests.agent.asking import Desk, make_desk

TITLES = ("Herons", "Owls", "Swifts")
QUOTES = {"Herons": "forty grams", "Owls": "270 degrees", "Swifts": "while it flies"}


async def ask_about(desk: Desk, title: str) -> None:
    await desk.ask(f"What of {title}?", desk.opening(title), desk.quoting(title, QUOTES[title]))


def count(messages: tuple[Message, ...]) -> int:
    return sum(
        estimate_tokens(message.text) + sum(estimate_tokens(c.arguments) for c in message.tool_calls)
        for message in messages
    )


def count_uncached(desk: Desk) -> int:
    requests = [request.messages for request in desk.model.requests]
    uncached = count(requests[0])
    for before, after in pairwise(requests):
        shared = next(
            (i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(before)
        )
        uncached += count(after[shared:])
    return uncached


def count_distinct(desk: Desk) -> int:
    return count(tuple({message: None for request in desk.model.requests for message in request.messages}))


def count_rebuilds(desk: Desk) -> int:
    pairs = pairwise(request.messages for request in desk.model.requests)
    return sum(after[: len(before)] != before for before, after in pairs)


async def test_ten_questions_cost_little_more_than_their_distinct_text() -> None:
    desk = make_desk()
    for number in range(10):
        await ask_about(desk, TITLES[number % 3])
    assert count_rebuilds(desk) == 0
    assert count_uncached(desk) <= 1.15 * count_distinct(desk)


async def test_a_closing_costs_one_rebuild() -> None:
    desk = make_desk()
    for number in range(10):
        await ask_about(desk, TITLES[number % 3])
        if number == 4:
            command = CollapseSections(section_ids=(desk.ids["Owls"],), origin=Origin.PERSON)
            async for _ in desk.agent.session.dispatch(command):
                pass
    assert count_rebuilds(desk) == 1


async def test_tools_and_system_text_are_the_same_in_every_request() -> None:
    desk = make_desk()
    for title in TITLES:
        await ask_about(desk, title)
    first = desk.model.requests[0]
    assert all((r.tools, r.messages[0]) == (first.tools, first.messages[0]) for r in desk.model.requests)
