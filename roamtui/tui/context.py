"""What the app is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from roamtui.agent.loop import Agent
    from roamtui.document.library import Library
    from roamtui.models.base import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model that can be used here, and is not until a person chooses it."""

    name: str
    note: str
    """Why it is offered, such as ``OPENAI_API_KEY is set``."""
    choose: Callable[[], Model]
    """Makes the model; called once a person has said yes."""
    provider: str = ""
    """Who would get questions and sections unasked, so that a person must say yes first; empty where nobody would."""


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
    save_setting: Callable[[str, str], None] | None = None
    """Keeps a choice, by the name of its setting, for the next start; raises `RoamtuiError` where it cannot."""
    may_save_model: bool = False
    """Whether the model may be kept: not where its settings belong to another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """Everything that the app shows and drives."""

    agent: Agent
    options: TuiOptions = TuiOptions()
    read_again: Callable[[], Library] | None = None
    """Reads the document as it is now; None where that cannot be done, as for standard input."""
    is_watching: bool = False
    """Whether it is read again by itself whenever it changes on disk."""
    notes: tuple[str, ...] = ()
    """Sentences to show at the start, such as what was replaced while reading the document."""
