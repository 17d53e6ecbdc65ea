"""What the app is started with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.sources.convert.converted import PageReport
from roamtui.sources.file_sources import SourceStamp

if TYPE_CHECKING:
    from roamtui.agent.loop import Agent
    from roamtui.models.base import Model
    from roamtui.models.registry import ModelOffer


class OfferGroup(StrEnum):
    """Under which heading an offer stands, in this order."""

    OPEN = "Open now"
    CONVERSATION = "Go on with"
    FILE = "Files here"
    SOURCE = "Opened before"
    EXAMPLE = "Examples"
    SITE = "Sites with an llms.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffer:
    """Something to open."""

    group: OfferGroup
    name: str
    """Safe for the screen, as `note` is."""
    note: str
    source: str
    """What to open: a path, as it may be typed, or an address."""
    conversation_id: str | None = None
    """The conversation to go on with, None for a new one."""


ModelFactory = Callable[[str, "str | None", bool], "Model"]
"""Makes a model by its name and the address of its server; one that is tried says one token, and fails at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuiOptions:
    """How the app looks and which keys it has."""

    theme: str | None = None
    """Name of a theme, None for the default."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Keys by action id, in place of the default ones."""
    themes_dirs: tuple[Path, ...] = ()
    """Folders with a person's own themes; the bundled ones are always there."""
    examples: tuple[str, ...] = ()
    """Questions that the empty screen proposes."""
    model_offers: tuple[ModelOffer, ...] = ()
    discover_models: Callable[[], tuple[tuple[ModelOffer, ...], str]] | None = None
    """Looks for models that run on this machine, and says in a few words what came of it; called in a thread, and only
    when a person chooses a model."""
    make_model: ModelFactory | None = None
    """Makes any model; None where none but those on offer can be used."""
    save_setting: Callable[[str, str], None] | None = None
    """Keeps a choice, by the name of its setting, for the next start; raises `RoamtuiError` where it cannot."""
    places_path: Path | None = None
    """File of where the person was reading in each document; None where that is not kept."""
    may_save_model: bool = False
    """Whether the model may be kept: not where its settings belong to another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """Everything that the app shows and drives."""

    agent: Agent
    options: TuiOptions = TuiOptions()
    reload_library: Callable[[Library, frozenset[str]], Library] | None = None
    """Reads the document as it is now, of a library of many only the changed files, by their keys; None where it cannot
    be read again, as standard input."""
    read_stamps: Callable[[], Mapping[str, SourceStamp] | None] | None = None
    """Returns the stamps of the files of a library of many; None for a single document."""
    reload_on_change: bool = False
    """Whether it is read again by itself whenever it changes on disk."""
    notes: tuple[str, ...] = ()
    """Sentences to show at the start, such as what was replaced while reading the document."""


@dataclass(frozen=True, kw_only=True)
class StartupContext:
    """What the first screen shows, and how all else is made once it stands."""

    initial_state: ConversationState
    model_name: str
    """Of the model that answers at first."""
    options: TuiOptions
    """As far as they are known."""
    make_app_context: Callable[[], AppContext]
    """Called once: when the first screen stands, or when something of it is needed."""

    @classmethod
    def from_app_context(cls, context: AppContext) -> StartupContext:
        """Return what the first screen shows of an agent that is there already."""
        first = cls(
            initial_state=context.agent.session.state,
            model_name=context.agent.model.name,
            options=context.options,
            make_app_context=lambda: context,
        )
        _ = first.app_context
        return first

    @cached_property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self.make_app_context()

    @property
    def is_ready(self) -> bool:
        """Whether everything is there."""
        return "app_context" in vars(self)

    def save(self) -> str:
        """Save what of the conversation is not saved yet; return a sentence where that cannot be."""
        if not self.is_ready:
            return ""
        self.app_context.agent.session.flush()
        return self.app_context.agent.session.save_failure or ""

    @property
    def state(self) -> ConversationState:
        """The newest state of the conversation."""
        return self.app_context.agent.session.state if self.is_ready else self.initial_state


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOpener:
    """How another document is opened, given by whoever knows how."""

    list_offers: Callable[[], tuple[tuple[StartOffer, ...], str]]
    """Returns what is offered, and a sentence where some of it cannot be; called in a thread."""
    open_source: Callable[[str, str | None, Model | None, PageReport], StartupContext]
    """Opens a source, to go on with a conversation by its id or to begin one, with a model or the one of the settings.

    Called in a thread; raises `RoamtuiError`. It tells how far it is, and ends with what that raises.
    """
    suggest_address: Callable[[str], str | None]
    """Returns the address that a bare name that is no file may mean."""
    save_setting: Callable[[str, str], None]
    """As in `TuiOptions`."""
