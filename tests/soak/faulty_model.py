"""A model that answers like the offline one, and fails in every way that a provider does."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator

from typing_extensions import override

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, Request, Retrying, TextDelta, ThinkingDelta
from roamtui.models.offline.model import OfflineModel

FAULTS = ("none", "none", "none", "none", "none", "refused", "cut off", "overflow", "retried", "hanging", "defect")


class FaultyModel(OfflineModel):
    """Draws a fault for each request."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - a day that can be lived again
        self.faults: Counter[str] = Counter()
        self.is_hanging = False

    @override
    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield a reply, or a part of one.

        Raises:
            ModelError: The fault is one that a model reports.
            ZeroDivisionError: The fault is a defect.
        """
        fault = self._chance.choice(FAULTS)
        self.faults[fault] += 1
        match fault:
            case "refused":
                raise ModelError("The provider refused the key. Check it.")
            case "overflow":
                raise ModelError("The context is full.", overflow=True)
            case "defect":
                raise ZeroDivisionError("a defect in a model")
            case "retried":
                yield Retrying("The provider is busy.", 0.0)
                yield ThinkingDelta("Let me see. ")
            case "hanging":
                yield TextDelta("It is ")
                self.is_hanging = True
                try:
                    await asyncio.Event().wait()
                finally:
                    self.is_hanging = False
            case _:
                pass
        pieces = 0
        async for event in super().stream(request):
            yield event
            pieces += 1
            if fault == "cut off" and pieces > 3:
                raise ModelError("The answer broke off. Ask again.")
