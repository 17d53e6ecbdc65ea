from __future__ import annotations

import asyncio

import pytest

from roamtui.models.base import ModelEvent, ModelStopped, Request, TextDelta
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from tests.models.asking import collect, join_text, make_request


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel([ScriptedReply(text="one"), lambda request: ScriptedReply(text=request.messages[-1].text)])
    requests = [make_request("first"), make_request("second", allow_calls=False)]
    assert [join_text(await collect(model, request)) for request in requests] == ["one", "second"]
    assert model.requests == requests
    assert model.replies_left == 0
    model.add_replies(ScriptedReply(text="more"))
    assert model.replies_left == 1
    assert join_text(await collect(model)) == "more"


async def _fill(events: list[ModelEvent], model: ScriptedModel, request: Request) -> None:
    async for event in model.stream(request):
        events.append(event)


@pytest.mark.parametrize(("gate_after", "before"), [(0, []), (1, ["on"]), (2, ["on", "e"]), (9, ["on", "e"])])
async def test_a_gate_holds_back_the_rest(gate_after: int, before: list[str]) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([ScriptedReply(text="one", chunk_size=2, gate=gate, gate_after=gate_after)])
    events: list[ModelEvent] = []
    task = asyncio.create_task(_fill(events, model, make_request()))
    for _ in range(9):
        await asyncio.sleep(0)
    assert events == [TextDelta(text) for text in before]
    gate.set()
    await task
    assert join_text(events) == "one"
    assert isinstance(events[-1], ModelStopped)
