"""A model that searches, answers, and fails in every way that a provider does."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator

from typing_extensions import override

from roamtui.conversation.messages import Role, ToolCall
from roamtui.errors import ModelError
from roamtui.models.base import (
    ModelEvent,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
)
from roamtui.models.registry import NoModel
from tests.fakes.scripted_model import make_refusal

_FAULTS = (*["none"] * 5, "refused", "cut off", "overflow", "retried", "hanging", "defect", *["odd", "slow"] * 2)
ODD_WORDS = (
    "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m",
    "a\u202eb\u200f\u2028c\ufeff",
    "[/red][@click=app.quit]quit[/] $primary",
    "| a | b |\n|---|\n" * 30,
    "```python\nprint(1)\n\n",
    "<details><summary>more</summary>\n\nx\n\n</details>",
    '[a8a96034] "Nobody said that." [](#x) [x](javascript:alert(1)) ![x](http://127.0.0.1:1/)',
    "\ud800",
    "日本語🏳️‍🌈e\u0301" * 40,
    "x" * 3_000,
    "- a\n  - b\n    - c\n" * 20 + "\n" * 40,
)
"""What no terminal should obey, and what is hard to lay out."""
_ANSWER = 'It says "a late fee is charged" and nothing more of this, so ask the desk.'
_ODD_CALLS = ("{", "[]", '{"section_ids": [null, 7, "\\u001b[2J"]}', '{"section_ids": "all"}', '{"query": ["x"]}', "")


class FaultyModel(NoModel):
    """Draws a fault for each request."""

    name = "faulty"

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - a day that can be lived again
        self._gate = asyncio.Event()

    def go_on(self) -> None:
        """Let a reply that hangs come."""
        self._gate.set()
        self._gate = asyncio.Event()

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield a reply, or a part of one.

        Raises:
            ModelError: The fault is one that a model reports.
            ZeroDivisionError: The fault is a defect.
        """
        fault = self._chance.choice(_FAULTS)
        match fault:
            case "refused":
                raise ModelError("The provider refused the key. Check it.")
            case "overflow":
                raise make_refusal()
            case "defect":
                raise ZeroDivisionError("a defect in a model")
            case "retried":
                yield RetryPending("The provider is busy.", 0.0)
                yield ThinkingDelta("Let me see. ")
            case "hanging":
                yield TextDelta("It is ")
                await self._gate.wait()
            case "odd":
                name = self._chance.choice(("expand_sections", "search_sections", "collapse_sections", "\x1b[2J"))
                yield ThinkingDelta(self._chance.choice(ODD_WORDS))
                yield TextDelta(self._chance.choice(ODD_WORDS))
                yield ToolCallReceived(ToolCall(id="odd", name=name, arguments=self._chance.choice(_ODD_CALLS)))
            case _:
                pass
        if request.allows_calls and request.messages[-1].role is Role.USER:
            arguments = json.dumps({"query": request.messages[-1].text[-80:]})
            yield ToolCallReceived(ToolCall(id="search", name="search_sections", arguments=arguments))
        else:
            for number, word in enumerate(_ANSWER.split(" ")):
                if fault == "slow" and self._chance.random() < 0.2:
                    await self._gate.wait()
                yield TextDelta(f"{word} ")
                if fault == "cut off" and number > 3:
                    raise ModelError("The answer broke off. Ask again.")
        yield ReplyFinished("stop")
