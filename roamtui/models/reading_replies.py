"""One request to a model, and its reply as text: for what needs neither tools nor a conversation."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from roamtui.conversation.transcript import Message, Role
from roamtui.models.base import Request, TextDelta

if TYPE_CHECKING:
    from roamtui.models.base import Model


async def read_reply(model: Model, system: str, question: str) -> str:
    """Return all that a model says to one question.

    Raises:
        ModelError: It could not answer.
    """
    messages = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=question))
    pieces = []
    async with aclosing(model.stream(Request(messages=messages))) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, TextDelta):
                pieces.append(event.text)
    return "".join(pieces)
