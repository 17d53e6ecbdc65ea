"""The services that the app needs from outside, and its open documents and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from time import time_ns
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library

if TYPE_CHECKING:
    from roamtui.agent.agent import Agent
    from roamtui.conversation.conversation import Conversation
    from roamtui.conversation.state import ConversationState
    from roamtui.models.base import Model
    from roamtui.models.discovery import ModelOffer
    from roamtui.table.runner import TablePlan
    from roamtui.table.store import ResultTable


class OfferGroup(StrEnum):
    """The groups of offers on the start screen, in this order, by heading. A typed source has no heading."""

    TYPED = ""
    TABLE = "A table of"
    OPEN = "Open documents"
    SOURCE = "Recent documents"
    CONVERSATION = "Recent conversations"
    EXAMPLE = "Examples"
    FILE = "Files in this folder"


class StartOffer(Struct, frozen=True, kw_only=True):
    """A source that the start screen offers."""

    group: OfferGroup
    name: str
    """Title of the document or conversation. Sanitised, as `note` is."""
    note: str
    """More about it, such as the folder or the number of questions."""
    source: str
    """A path, as a person may type it, or a URL."""
    conversation_id: str | None = None
    """The conversation to resume, or None for a new one."""
    model: Model | None = None
    """The model that answers, or None for the one in the settings."""
    is_missing: bool = False
    """Whether the conversation's document is gone, so that the person is asked where it is now."""
    refusal: str = ""
    """A sentence that says why it cannot be opened, for example because it is damaged. Empty if it can."""


class Services(Protocol):
    """Everything that the app asks of other layers. A method that can fail raises `RoamtuiError`."""

    def list_models(self) -> tuple[ModelOffer, ...]:
        """List the models to choose from."""

    def discover_models(self) -> tuple[tuple[ModelOffer, ...], str]:
        """Look for models on this machine, and return them with a summary. Called in a thread."""

    def make_model(self, name: str = "", api_base: str | None = None, *, is_test: bool = False) -> Model:
        """Make a model, by default the one in the settings.

        With `is_test`, a reply has one token and a failed request is not repeated.
        """

    def save_settings(self, values: Mapping[str, str]) -> None:
        """Save settings, by name, for the next start."""

    def list_offers(self) -> tuple[StartOffer, ...]:
        """List the offers of the start screen. Called in a thread."""

    def open_source(
        self, source: str, conversation_id: str | None, model: Model | None, on_progress: ProgressCallback
    ) -> DocumentSession:
        """Open a path, as a person may type it, or a URL. Resume the conversation, if an id is given.

        `model` replaces the model of the settings. Called in a thread. Raises what `on_progress` raises.
        """

    def reopen(self, source: str, state: ConversationState) -> Library:
        """Open the source of a saved conversation, with all that was added to it. Called in a thread."""

    def open_table(self, sources: tuple[str, ...]) -> TableSession:
        """Prepare the table about some sources, or the table in a folder. Called in a thread."""


class TuiOptions(Struct, frozen=True, kw_only=True):
    """The app's services and its settings."""

    services: Services
    theme: str | None = None
    keys: Mapping[str, str] = {}
    """By action id: the key that replaces the default ones. If empty, the action has no key."""
    api_base: str = ""
    """The server for models whose name is typed, from the command line. Empty for the provider's own."""


class Inbox:
    """Sentences for the person, from any thread. They wait until a screen receives them."""

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self._waiting = [*sentences]
        self._receiver: Callable[[str], object] = self._waiting.append

    def add(self, sentence: str) -> None:
        """Give a sentence to the receiver, or keep it for the first one."""
        self._receiver(sentence)

    def deliver_to(self, receiver: Callable[[str], object]) -> None:
        """Give `receiver` the sentences that wait, and later ones in the thread in which they come."""
        self._receiver = receiver
        while self._waiting:
            receiver(self._waiting.pop(0))


class DocumentSession(Struct, frozen=True, kw_only=True):
    """One open document: its agent, and how to reload and watch it."""

    agent: Agent
    options: TuiOptions
    examples: tuple[str, ...] = ()
    """Questions proposed in an empty conversation."""
    first_question: str = ""
    """A question to ask at once, which only the first model answers. Empty for none."""
    reload_library: Callable[[Library, frozenset[str]], Library] | None = None
    """Reads the document again. Of several files, it reads only the changed ones, given by their keys. None
    if the document came from standard input, which cannot be read again."""
    opened_at: int = field(default_factory=time_ns)
    """A time before its files were read, in nanoseconds. It tells which files were written since."""
    reloads_on_change: bool = False
    """Whether to reload the document without asking when it changes on disk."""
    notices: Inbox = field(default_factory=Inbox)
    """Sentences about the document and about search, for example that characters were replaced."""

    @property
    def conversation(self) -> Conversation:
        """The conversation that the agent answers in."""
        return self.agent.conversation

    def close(self) -> str:
        """Save the rest of the conversation. Return a sentence if that fails, otherwise an empty string."""
        failure = self.conversation.close()
        source_loader = self.conversation.source_loader
        if source_loader is not None:  # closed screens are never garbage-collected, so their loaders are not
            source_loader.close()
        return failure


class TableSession(Struct, frozen=True):
    """One open table, and how to fill it."""

    table: ResultTable
    plan: TablePlan
    notices: Inbox = field(default_factory=Inbox)
    """Sentences about its documents and about search, for example that it goes by words only."""
