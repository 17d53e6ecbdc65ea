"""One model for many questions: its pace and its spending limit."""

from __future__ import annotations

import asyncio

from roamtui.conversation.transcript import Message, Role, Usage
from roamtui.models.base import ModelEvent, ModelRequest, Prices, RetryPending
from roamtui.table.pace import SharedModel, SpendingLimitError
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.table.filling import wait_until

REQUEST = ModelRequest(messages=(Message(role=Role.USER, text="word " * 1000),))


async def _ask(model: SharedModel) -> list[ModelEvent]:
    return [event async for event in model.stream(REQUEST)]


async def test_a_rate_limit_of_one_request_holds_back_the_others() -> None:
    gate = asyncio.Event()
    limited = RetryPending("The provider is rate limiting (429)", 5.0)
    model = ScriptedModel([ScriptedReply(text="first", retries=(limited,), gate=gate), ScriptedReply(text="second")])
    shared = SharedModel(model)
    first = asyncio.create_task(_ask(shared))
    await wait_until(lambda: bool(shared.waiting_reason))
    second = asyncio.create_task(_ask(shared))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(model.requests) == 1
    assert shared.waiting_reason == "The provider is rate limiting (429)"
    gate.set()
    await asyncio.gather(first, second)
    assert (len(model.requests), shared.waiting_reason) == (2, "")


async def test_a_cancelled_request_holds_back_no_other() -> None:
    limited = RetryPending("The provider is rate limiting (429)", 5.0)
    model = ScriptedModel([ScriptedReply(retries=(limited,), gate=asyncio.Event()), ScriptedReply(text="second")])
    shared = SharedModel(model, limit_usd=1.0)
    first = asyncio.create_task(_ask(shared))
    await wait_until(lambda: bool(shared.waiting_reason))
    second = asyncio.create_task(_ask(shared))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert len(model.requests) == 2


async def test_no_request_is_sent_that_could_pass_the_limit() -> None:
    cheap, dear = (ScriptedReply(text="x", usage=Usage(cost_usd=cost)) for cost in (0.2, 0.4))
    model = ScriptedModel([cheap, dear, *[dear] * 5])
    model.prices = Prices(input_usd=0.0, output_usd=0.0001)  # 4,000 tokens are reserved for the reply
    shared = SharedModel(model, limit_usd=1.0)
    results = await asyncio.gather(*(_ask(shared) for _ in range(5)), return_exceptions=True)
    assert shared.spent_usd <= 1.0
    assert [type(result) for result in results if isinstance(result, BaseException)] == [SpendingLimitError] * 2
    assert shared.has_reached_limit


async def test_without_a_known_price_there_is_no_limit() -> None:
    model = ScriptedModel([ScriptedReply(text="x", usage=Usage(cost_usd=None))] * 5)
    shared = SharedModel(model, limit_usd=0.01)
    await asyncio.gather(*(_ask(shared) for _ in range(5)))
    assert len(model.requests) == 5
