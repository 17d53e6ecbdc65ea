"""`TracedModel`: any model, with what it is asked and what it says written to a trace."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelEvent, ModelStopped, Request
from roamtui.models.choose import find_note, start_model
from roamtui.models.worker.jobs import encode_event

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from roamtui.models.trace import TraceWriter


class TracedModel:
    """Passes everything on to a model, and writes it down."""

    def __init__(self, model: Model, writer: TraceWriter) -> None:
        self._model = model
        self._writer = writer

    @property
    def name(self) -> str:
        """The name under which a person chose the model."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """Size of the model's context window, None where unknown."""
        return self._model.window_tokens

    @property
    def note(self) -> str:
        """What a person should know of the model."""
        return find_note(self._model)

    async def start(self) -> None:
        """Start the model."""
        await start_model(self._model)

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; each is in the trace before.

        Raises:
            ModelError: The model could not answer.
        """
        number = self._writer.write_request(request, self.name, self.window_tokens)
        is_whole = False
        try:
            async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    is_whole = isinstance(event, ModelStopped)
                    self._writer.write("model", {"request": number, **encode_event(event)})
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            if not is_whole:
                self._writer.write("cancelled", {"request": number})
            raise
        except ModelError as error:
            fields = {"message": str(error), "retryable": error.retryable, "overflow": error.overflow}
            self._writer.write("error", {"request": number, **fields})
            raise
        except Exception as error:
            self._writer.write("error", {"request": number, "message": str(error), "defect": type(error).__name__})
            raise

    async def close(self) -> None:
        """Let go of what the model holds."""
        await self._model.close()
