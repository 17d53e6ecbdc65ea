"""What each command of the command line was asked for, as frozen values; `arguments` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.app_arguments import ModelArguments, WebArguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.app_arguments import ConversationArguments
    from roamtui.evaluation.options import EvalOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeArguments:
    """``roamtui serve``."""

    source: str
    port: int
    model: ModelArguments
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpArguments:
    """``roamtui mcp``."""

    sources: tuple[str, ...]
    is_http: bool
    """Whether it is served over HTTP in place of stdin and stdout."""
    port: int
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option; mode `off` leaves `search_sections` out."""
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineArguments:
    """``roamtui outline``."""

    sources: tuple[str, ...]
    as_json: bool
    budget_tokens: int | None
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowArguments:
    """``roamtui show``."""

    source: str
    section_ids: tuple[str, ...]
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskArguments:
    """``roamtui ask``."""

    source: str
    question: str
    model: ModelArguments
    conversation: ConversationArguments
    as_json: bool
    as_events: bool = False
    """Whether what happens is written as JSON lines, the answer last."""
    within: str | None = None
    """Id of the section that the question is about, None for the whole document."""
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option."""
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments:
    """``roamtui search``."""

    source: str
    query: str
    as_json: bool
    model: ModelArguments
    """Which model reranks, where one does."""
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option."""
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexArguments:
    """``roamtui index``."""

    sources: tuple[str, ...]
    is_deleted: bool
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option; `index` is where the index is kept."""
    summaries: str | None = None
    """Of what a model writes summaries, ``documents`` or ``sections`` too; None for none."""
    model: ModelArguments = field(default_factory=lambda: ModelArguments(model=None, api_base=None))
    """Who writes them."""
    is_agreed: bool = False
    """Whether what they cost was agreed to beforehand."""
    web: WebArguments = field(default_factory=WebArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationsArguments:
    """``roamtui conversations``."""

    action: str
    conversation_id: str | None
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheArguments:
    """``roamtui cache``."""

    action: str
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencesArguments:
    """``roamtui preferences``."""

    is_editing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorArguments:
    """``roamtui doctor``."""

    model: ModelArguments
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalArguments:
    """``roamtui eval``."""

    options: EvalOptions
    model: ModelArguments
    retrieval: Mapping[str, object] = field(default_factory=dict)
    """What is said about search, by option."""


CommandArguments = (
    EvalArguments
    | ServeArguments
    | McpArguments
    | OutlineArguments
    | ShowArguments
    | AskArguments
    | SearchArguments
    | IndexArguments
    | ConversationsArguments
    | CacheArguments
    | PreferencesArguments
    | DoctorArguments
)
