"""Arguments of the app as frozen values. Imports little: the first screen of the app waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from roamtui.conversation.state import KeepOpen


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelArguments:
    """Which model answers, what it may cost, and where all of it is written down."""

    model: str | None
    api_base: str | None
    max_cost_usd: float | None = None
    trace: str | None = None
    """File of a trace to write, None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationArguments:
    """Which conversation goes on, and how."""

    is_continued: bool = False
    conversation_id: str | None = None
    keep_open: KeepOpen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebArguments:
    """What may be fetched from the web."""

    is_offline: bool = False
    """Whether only pages are shown that were fetched before."""
    allowed: tuple[str, ...] = ()
    """Addresses whose sites pages may be fetched from without asking, besides that of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppArguments:
    """``roamtui SOURCE``."""

    sources: tuple[str, ...]
    model: ModelArguments
    conversation: ConversationArguments
    is_plain: bool = False
    """Whether the person wants lines of text in place of the app."""
    is_watching: bool = False
    """Whether the app reads the document again whenever it changes on disk."""
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option."""
    web: WebArguments = WebArguments()


def read_path(words: Sequence[str]) -> AppArguments | None:
    """Return what to open where the command line is one path and nothing else, None where it must be parsed.

    Loading argparse takes longer than reading the document. No command has a dot or a slash in its name.
    """
    if len(words) != 1 or words[0].startswith("-") or not any(mark in words[0] for mark in "./"):
        return None
    model = ModelArguments(model=None, api_base=None)
    return AppArguments(sources=(words[0],), model=model, conversation=ConversationArguments())
