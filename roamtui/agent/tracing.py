"""`TracedAgent`: an agent whose questions, requests and events go to a trace."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from typing_extensions import override

import roamtui
from roamtui.agent.loop import Agent
from roamtui.conversation.events import ConversationEvent, QuestionAnswered, SaveFailed
from roamtui.models.trace import FORMAT, TracedModel, TraceWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from roamtui.agent.options import AgentOptions
    from roamtui.conversation.session import Session
    from roamtui.models.base import Model
    from roamtui.search.base import Searcher


class TracedAgent(Agent):
    """Answers like any agent, and writes down what happens, whichever model it is given meanwhile."""

    def __init__(
        self,
        session: Session,
        model: Model,
        searcher: Searcher | None = None,
        options: AgentOptions | None = None,
        *,
        writer: TraceWriter,
    ) -> None:
        """Begin a run in `writer`, whose file stays open for the life of the program."""
        self._writer = writer
        self._has_told_failure = False
        super().__init__(session, model, searcher, options)
        self._write_start()

    @property  # type: ignore[explicit-override]  # mypy sees no mark on a property with a setter
    def model(self) -> Model:
        """The model that answers, traced."""
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = model if isinstance(model, TracedModel) else TracedModel(model, self._writer)

    @override
    async def ask(self, question: str, *, within: str | None = None) -> AsyncIterator[ConversationEvent]:
        state = self.session.state
        fields = {
            "number": state.question_number + 1,
            "question": question,
            "within": within,
            "conversation": state.id,
            "open": state.open,
            "reading": state.reading,
        }
        self._writer.write("question", fields)
        is_answered = False
        try:
            async with aclosing(super().ask(question, within=within)) as events:  # type: ignore[type-var]
                async for event in events:
                    is_answered = isinstance(event, QuestionAnswered)
                    self._writer.write("agent", {"event": type(event).__name__, "data": event})
                    if self._writer.failure and not self._has_told_failure:
                        self._has_told_failure = True
                        yield SaveFailed(message=self._writer.failure)
                    yield event
        finally:
            if not is_answered:
                self._writer.write("abandoned", {"number": fields["number"]})

    def _write_start(self) -> None:
        state = self.session.state
        library = state.library
        document = {"source": library.source, "hash": library.content_hash, "sections": len(library)}
        options = {"agent": self.options, "keep_open": state.options, "can_search": self.searcher is not None}
        fields = {
            "format": FORMAT,
            "roamtui": roamtui.__version__,
            "document": document,
            "conversation": state.id,
            "model": self.model.name,
            "window_tokens": self.model.window_tokens,
            "options": options,
        }
        self._writer.write("start", fields)
