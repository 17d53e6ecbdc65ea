"""What the app needs for each open document: its agent, and how to reload, watch and save it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct, field

from roamtui.document.library import Library
from roamtui.errors import UsageError
from roamtui.sources.convert.converted import PageReport
from roamtui.sources.listing import split_sources

if TYPE_CHECKING:
    from roamtui.agent.loop import Agent
    from roamtui.conversation.conversation import Conversation
    from roamtui.models.base import Model
    from roamtui.models.registry import ModelOffer
    from roamtui.table.runner import TablePlan
    from roamtui.table.store import Table


class ImageMode(StrEnum):
    """How pictures are drawn."""

    AUTO = "auto"
    """As kitty's placeholders where they are known to work, else as half cells if there are enough colours."""
    CELLS = "cells"
    """As half cells, each with one colour."""
    KITTY = "kitty"
    """As kitty's placeholders."""
    OFF = "off"


class OfferGroup(StrEnum):
    """The headings of the start screen, in this order. Each is above its offers; what was typed has none."""

    TYPED = ""
    SOURCE = "Recent documents"
    CONVERSATION = "Recent conversations"
    EXAMPLE = "Examples"
    FILE = "Files in this folder"
    SITE = "Sites with an llms.txt"


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
    """Answers in the place of the settings' model."""
    refusal: str = ""
    """A sentence that says why it cannot be opened, such as a damaged conversation. Empty if it can."""


def _refuse(*_given: object) -> NoReturn:
    raise UsageError("Nothing else can be opened here.")


class TuiOptions(Struct, frozen=True, kw_only=True):
    """How the app looks, and what it can do besides showing a document."""

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
    list_models: Callable[[], tuple[ModelOffer, ...]] = tuple
    """Returns the models to choose from."""
    typed_keys: dict[str, str] = field(default_factory=dict)
    """API keys that the person typed in this run, by environment variable. Only model processes get them."""
    discover_models: Callable[[], tuple[tuple[ModelOffer, ...], str]] | None = None
    """Looks for models on this machine, and returns them with a summary. Called in a thread, and only when a person
    chooses a model."""
    make_model: Callable[..., Model] | None = None
    """Makes any model from its name, the URL of its server or None, and `is_test`: then a reply has one token, and is
    not retried. Without a name, makes that of the settings. Raises `UsageError`. None if only the offered models can be
    used."""
    fetch_picture: Callable[[str, str], bytes] | None = None
    """Fetches a picture by its URL, for a document from the given source, or raises `RoamtuiError`. Called in a thread,
    and only when a person wants it. None if nothing can be fetched."""
    save_settings: Callable[[Mapping[str, str]], None] | None = None
    """Saves settings, by name, for the next start, or raises `RoamtuiError`."""
    list_offers: Callable[[], tuple[StartOffer, ...]] = tuple
    """Returns the offers of the start screen. Called in a thread."""
    open_source: Callable[[str, str | None, Model | None, PageReport], AppContext] = _refuse
    """Opens a source.

    Takes the source, the id of a conversation to resume or None, a model or None for the model of the settings, and a
    function that receives the progress. Called in a thread. Raises `RoamtuiError`, and any error of that function.
    """
    open_table: Callable[[tuple[str, ...]], tuple[Table, TablePlan]] = _refuse
    """Prepares the table about some sources, or the table in a folder. Called in a thread. Raises `RoamtuiError`."""


class AppContext(Struct, frozen=True, kw_only=True):
    """One open document: its agent, and how to reload and watch it."""

    agent: Agent
    first_question: str = ""
    """A question to ask at once, which only the first model answers. Empty for none."""
    options: TuiOptions = TuiOptions()
    reload_library: Callable[[Library, frozenset[str]], Library] | None = None
    """Reads the document again. Of several files, it reads only the changed ones, given by their keys. None if the
    document came from standard input, which cannot be read again."""
    reload_on_change: bool = False
    """Whether to reload the document without asking when it changes on disk."""
    notices: Sequence[str] = ()
    """Sentences to show at the start, for example that characters of the document were replaced."""

    @property
    def conversation(self) -> Conversation:
        """The conversation that the agent answers in."""
        return self.agent.conversation

    @property
    def source_names(self) -> tuple[str, ...]:
        """The names of the document's sources."""
        library = self.conversation.state.library
        return tuple(source.name for source in library.sources) or split_sources(library.source)

    def close(self) -> str:
        """Save the rest of the conversation. Return a sentence if that fails, otherwise an empty string."""
        self.conversation.close()
        source_loader = self.conversation.loader.source_loader
        if source_loader is not None:  # a closed screen is part of a cycle that is never collected
            source_loader.close()
        return self.conversation.save_failure
