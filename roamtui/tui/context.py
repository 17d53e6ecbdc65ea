"""What the app needs for each open document: its agent, and how to reload, watch and save it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.sources.convert.converted import PageReport
from roamtui.sources.file_sources import SourceStamp
from roamtui.tui.image_mode import ImageMode

if TYPE_CHECKING:
    from roamtui.agent.loop import Agent
    from roamtui.models.base import Model
    from roamtui.models.registry import ModelOffer
    from roamtui.table.runner import TableJob


class OfferGroup(StrEnum):
    """The headings of the start screen, in this order. Each is above its offers; what was typed has none."""

    TYPED = ""
    OPEN = "Open"
    SOURCE = "Recent documents"
    FILE = "Files in this folder"
    CONVERSATION = "Recent conversations"
    EXAMPLE = "Examples"
    SITE = "Sites with an llms.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffer:
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


class ModelFactory(Protocol):
    """Makes a model that a person named."""

    def __call__(self, name: str, api_base: str | None, *, is_test: bool) -> Model:
        """Make the model. `api_base` is the URL of its server, or None for the default.

        With `is_test`, it may reply with only one token, and requests are not retried.

        Raises:
            UsageError: The name or URL is invalid.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TuiOptions:
    """Options of the app, such as its theme and keys."""

    theme: str | None = None
    """Name of the theme, or None for the default."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Keys by action id, which replace the default ones."""
    image_mode: ImageMode = ImageMode.AUTO
    """How the reader draws pictures."""
    themes_dirs: tuple[Path, ...] = ()
    """Folders with the person's own themes, in addition to the bundled themes."""
    examples: tuple[str, ...] = ()
    """Questions proposed in an empty conversation."""
    model_offers: tuple[ModelOffer, ...] = ()
    """Models to choose from."""
    discover_models: Callable[[], tuple[tuple[ModelOffer, ...], str]] | None = None
    """Looks for models on this machine, and returns them with a summary. Called in a thread, and only when a person
    chooses a model."""
    make_model: ModelFactory | None = None
    """Makes any model. None if only the offered models can be used."""
    fetch_picture: Callable[[str, str], bytes] | None = None
    """Fetches a picture by its URL, for a document from the given source, or raises `RoamtuiError`. Called in a thread,
    and only when a person wants it. None if nothing can be fetched."""
    save_settings: Callable[[Mapping[str, str]], None] | None = None
    """Saves settings, by name, for the next start, or raises `RoamtuiError`."""


@dataclass(slots=True)
class TriedModels:
    """What a person has found out about models since the start."""

    failures: dict[str, str] = field(default_factory=dict)
    """Why tested models cannot be used, by name. Empty for models that replied."""
    approved_providers: set[str] = field(default_factory=set)
    """Providers to which the person allowed questions and sections to be sent."""
    unsaved_url: str | None = None
    """URL of the current model, empty for the provider's own. None if there is nothing to save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """One open document: its agent, and how to reload and watch it."""

    agent: Agent
    options: TuiOptions = TuiOptions()
    reload_library: Callable[[Library, frozenset[str]], Library] | None = None
    """Reads the document again. Of several files, it reads only the changed ones, given by their keys. None if the
    document came from standard input, which cannot be read again."""
    read_stamps: Callable[[], Mapping[str, SourceStamp] | None] | None = None
    """Returns the stamps of all files. None if the document is a single file."""
    reload_on_change: bool = False
    """Whether to reload the document without asking when it changes on disk."""
    tried_models: TriedModels = field(default_factory=TriedModels)
    notices: tuple[str, ...] = ()
    """Sentences to show at the start, for example that characters of the document were replaced."""


@dataclass(frozen=True, kw_only=True)
class StartupContext:
    """What the first screen shows, and a function that makes the `AppContext` afterwards."""

    initial_state: ConversationState
    model_name: str
    """Name of the first model."""
    options: TuiOptions
    """Options that are known at the start. The others come with the `AppContext`."""
    make_app_context: Callable[[], AppContext]
    """Called once: after the first screen, or when its result is first needed."""

    @classmethod
    def from_app_context(cls, context: AppContext) -> StartupContext:
        """Return the startup context of an agent that exists already."""
        startup = cls(
            initial_state=context.agent.conversation.state,
            model_name=context.agent.model.name,
            options=context.options,
            make_app_context=lambda: context,
        )
        _ = startup.app_context  # fills the cache, so that `is_ready` is true
        return startup

    @cached_property
    def app_context(self) -> AppContext:
        """The context, made when it is first needed."""
        return self.make_app_context()

    @property
    def is_ready(self) -> bool:
        """Whether `app_context` was made."""
        return "app_context" in vars(self)  # the cache of `cached_property`; asking the property would make it

    def save(self) -> str:
        """Save the rest of the conversation. Return a sentence if that fails, otherwise an empty string."""
        if not self.is_ready:
            return ""
        self.app_context.agent.conversation.close()
        return self.app_context.agent.conversation.save_failure or ""

    @property
    def state(self) -> ConversationState:
        """The newest state of the conversation, or the initial one until `is_ready`."""
        return self.app_context.agent.conversation.state if self.is_ready else self.initial_state


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOpener:
    """Functions that list and open other documents."""

    list_offers: Callable[[], tuple[tuple[StartOffer, ...], str]]
    """Returns the offers, and a sentence if some cannot be listed. Called in a thread."""
    open_source: Callable[[str, str | None, Model | None, PageReport], StartupContext]
    """Opens a source.

    Takes the source, the id of a conversation to resume or None, a model or None for the model of the settings, and a
    function that receives the progress. Called in a thread. Raises `RoamtuiError`, and any error of that function.
    """
    suggest_url: Callable[[str], str | None]
    """Returns the URL that a name without ``https://`` may mean, if no file has that name."""
    save_settings: Callable[[Mapping[str, str]], None]
    """As in `TuiOptions`."""
    open_table: Callable[[tuple[str, ...]], TableJob] | None = None
    """Prepares the table about some sources, or the table in a folder. Called in a thread. Raises `RoamtuiError`."""
