"""One model for many questions: its spending limit."""

from __future__ import annotations

import asyncio

from roamtui.conversation.transcript import Message, Role, Usage
from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ModelRequest, Prices
from roamtui.table.pace import LimitedModel
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

REQUEST = ModelRequest(messages=(Message(role=Role.USER, text="word " * 1000),))


async def _ask(model: LimitedModel) -> list[ModelEvent]:
    return [event async for event in model.stream(REQUEST)]


async def test_no_request_is_sent_that_could_pass_the_limit() -> None:
    gate = asyncio.Event()
    model = ScriptedModel([ScriptedReply(text="x", usage=Usage(cost_usd=0.2), gate=gate)] * 5)
    model.prices = Prices(input_usd=0.0, output_usd=0.0001)  # 4,000 tokens are reserved for the reply
    limited = LimitedModel(model, limit_usd=1.0)
    tasks = [asyncio.create_task(_ask(limited)) for _ in range(5)]
    refused, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    assert {type(task.exception()) for task in refused} == {ModelError}
    assert len(refused) == 3
    gate.set()
    await asyncio.gather(*waiting)
    await _ask(limited)  # the two before cost less than was estimated
    assert (len(model.requests), limited.has_reached_limit) == (3, True)


async def test_without_a_known_price_there_is_no_limit() -> None:
    model = ScriptedModel([ScriptedReply(text="x", usage=Usage(cost_usd=None))] * 5)
    limited = LimitedModel(model, limit_usd=0.01)
    await asyncio.gather(*(_ask(limited) for _ in range(5)))
    assert len(model.requests) == 5
