"""Requests for tests of models, and what comes back, in few words."""

from contextlib import aclosing

from roamtui.conversation.messages import Message, Role, ToolCall
from roamtui.models.base import Model, ModelEvent, ModelRequest, TextDelta, ToolCallReceived
from roamtui.models.options import ModelOptions
from roamtui.models.tool_spec import ToolSpec

OPTIONS = ModelOptions(retry_wait_seconds=0.01, cancel_seconds=5.0)
"""No waits between retries; a slow machine is not a process that hangs."""

EXPAND = ToolSpec(
    name="expand_sections",
    description="Open sections.",
    parameters={
        "type": "object",
        "properties": {"section_ids": {"type": "array", "items": {"type": "string"}}},
        "required": ["section_ids"],
    },
)
CALLS = (
    ("expand_sections", '{"section_ids": ["a8a96034", "b9e8ef5c"]}'),
    ("expand_sections", '{"section_ids": ["07f3277d"]}'),
)
"""Two calls of one reply, as the fake servers send them."""


def make_request(question: str = "What is a model?", *, allows_calls: bool = True) -> ModelRequest:
    """Return a first request, with a tool."""
    messages = (Message(role=Role.SYSTEM, text="You roam."), Message(role=Role.USER, text=question))
    return ModelRequest(messages=messages, tools=(EXPAND,), allows_calls=allows_calls)


def answer_calls(request: ModelRequest, calls: tuple[ToolCall, ...]) -> ModelRequest:
    """Return the request that follows when `calls` have their results."""
    results = tuple(Message(role=Role.TOOL, text=f"result of {call.id}", tool_call_id=call.id) for call in calls)
    step = Message(role=Role.ASSISTANT, text="I look.", tool_calls=calls)
    return ModelRequest(messages=(*request.messages, step, *results), tools=request.tools)


async def collect(model: Model, request: ModelRequest | None = None) -> list[ModelEvent]:
    """Return all events of one reply."""
    async with aclosing(model.stream(request or make_request())) as events:  # type: ignore[type-var]
        return [event async for event in events]


async def collect_into(events: list[ModelEvent], model: Model) -> None:
    """Add the events of a reply to a list, which has them even if the reply ends in an error."""
    async for event in model.stream(make_request()):
        events.append(event)


def join_text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def list_calls(events: list[ModelEvent]) -> tuple[ToolCall, ...]:
    return tuple(event.call for event in events if isinstance(event, ToolCallReceived))
