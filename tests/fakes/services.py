"""Services for the app that a test fills, and the app with them."""

from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.conversation.state import ConversationState
from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.models.base import Model
from roamtui.models.discovery import ModelOffer
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession, Services, StartOffer, TableSession, TuiOptions


class FakeServices(Services):
    """Offers nothing, refuses the rest, and saves nothing, except for the methods that a test gives."""

    def __init__(self, **methods: Callable[..., Any]) -> None:
        vars(self).update(methods)

    @override
    def list_models(self) -> tuple[ModelOffer, ...]:
        return ()

    @override
    def discover_models(self) -> tuple[tuple[ModelOffer, ...], str]:
        return (), ""

    @override
    def make_model(self, name: str = "", api_base: str | None = None, *, is_test: bool = False) -> Model:
        raise UsageError("There is no model here.")

    @override
    def save_settings(self, values: Mapping[str, str]) -> None:
        pass

    @override
    def list_offers(self) -> tuple[StartOffer, ...]:
        return ()

    @override
    def open_source(
        self, source: str, conversation_id: str | None, model: Model | None, on_progress: ProgressCallback
    ) -> DocumentSession:
        raise UsageError("Nothing else can be opened here.")

    @override
    def reopen(self, source: str, state: ConversationState) -> Library:
        raise SourceError("Nothing can be opened again here.")

    @override
    def open_table(self, sources: tuple[str, ...]) -> TableSession:
        raise UsageError("There is no table here.")


def make_options(**given: Any) -> TuiOptions:  # noqa: ANN401 - fields of `TuiOptions`, and methods of `Services`
    methods = {name: given.pop(name) for name in [*given] if hasattr(Services, name)}
    return TuiOptions(services=FakeServices(**methods), **given)


def session_of(agent: Agent, **given: Any) -> DocumentSession:  # noqa: ANN401 - fields of `DocumentSession`
    return DocumentSession(**{"agent": agent, "options": make_options(), **given})


def app_over(session: DocumentSession) -> RoamApp:
    return RoamApp(session.options, session)
