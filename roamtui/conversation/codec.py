"""A conversation's values to JSON and back. Unknown keys are ignored, so that an older program reads a newer file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

from roamtui.conversation.commands import Origin
from roamtui.conversation.pages import list_needed_links
from roamtui.conversation.plain_values import encode_value
from roamtui.conversation.state import Batch, ConversationState, OpenSection
from roamtui.conversation.transcript import (
    Citation,
    Exchange,
    QuoteState,
    Step,
    Stopped,
    ToolCall,
    ToolUse,
    Transcript,
    Usage,
)
from roamtui.document.node import Span

Json = Mapping[str, Any]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedConversation:
    """A conversation as it lies on disk, before it is matched with the document of today."""

    id: str
    title: str
    model: str
    content_hash: str
    """Digest of the document it was about, or of all files."""
    document_hashes: Mapping[str, str]
    """Digest of each document, by key, that text was delivered of."""
    transcript: Transcript
    open: tuple[OpenSection, ...]
    unfolded: frozenset[str]
    reading: str | None
    batches: tuple[Batch, ...]
    needs_rebuild: bool
    revision: int = 0
    """How often it was written."""
    links: tuple[str, ...] = ()
    """Links whose pages hold what is open, read or cited, each after those that lead to it."""
    approved_origins: frozenset[str] = frozenset()


def encode_state(state: ConversationState) -> dict[str, Any]:
    """Return everything of a state but its exchanges, as JSON values."""
    return {
        "system": state.transcript.system,
        "prologue": state.transcript.prologue,
        "rebuilt_at": state.transcript.rebuilt_at,
        "history_from": state.transcript.history_from,
        "open": encode_value(state.open),
        "unfolded": sorted(state.unfolded),
        "reading": state.reading,
        "batches": encode_value(state.batches),
        "needs_rebuild": state.needs_rebuild or state.is_asking,
        "content_hash": state.library.content_hash,
        "documents": _hash_delivered(state),
        "links": list(list_needed_links(state)),
        "approved_origins": sorted(state.approved_origins),
    }


def _hash_delivered(state: ConversationState) -> dict[str, str]:
    """Return a digest of each document, by key, that text was delivered of."""
    keys = dict.fromkeys(span.doc for section in state.open for span in section.deliveries)
    return {key: state.library.document(key).content_hash for key in keys}


def encode_exchange(exchange: Exchange) -> dict[str, Any]:
    """Return an exchange as JSON values."""
    return cast("dict[str, Any]", encode_value(exchange))


def decode_conversation(row: Json, state: Json, exchanges: tuple[Exchange, ...]) -> SavedConversation:
    """Return a saved conversation from its row, its state and its exchanges."""
    return SavedConversation(
        id=row["id"],
        title=row["title"],
        model=row["model"],
        content_hash=state.get("content_hash", ""),
        document_hashes=dict(state.get("documents", {})),
        transcript=Transcript(
            system=state["system"],
            prologue=state["prologue"],
            rebuilt_at=state["rebuilt_at"],
            history_from=state.get("history_from", 0),
            exchanges=exchanges,
        ),
        open=tuple(_decode_open(section) for section in state["open"]),
        unfolded=frozenset(state["unfolded"]),
        reading=state.get("reading"),
        batches=tuple(
            Batch(opened_ids=tuple(batch["opened_ids"]), unfolded_ids=tuple(batch["unfolded_ids"]))
            for batch in state["batches"]
        ),
        needs_rebuild=bool(state["needs_rebuild"]),
        revision=row.get("revision", 0),
        links=tuple(map(str, state.get("links", ()))),
        approved_origins=frozenset(map(str, state.get("approved_origins", ()))),
    )


def decode_exchange(data: Json) -> Exchange:
    """Return an exchange from JSON values; one that was under way when the program ended is marked cancelled."""
    stopped = data["stopped"]
    return Exchange(
        number=data["number"],
        question=data["question"],
        preface=data["preface"],
        within=data.get("within"),
        open_before=tuple(_decode_open(section) for section in data.get("open_before", ())),
        steps=tuple(_decode_step(step) for step in data["steps"]),
        answer=data["answer"],
        stopped=Stopped(stopped) if stopped else Stopped.CANCELLED,
        citations=tuple(_decode_citation(citation) for citation in data["citations"]),
        usage=_make(Usage, data["usage"]),
        model=data.get("model", ""),
        error=data.get("error", ""),
    )


def _decode_step(data: Json) -> Step:
    uses = tuple(ToolUse(call=_make(ToolCall, use["call"]), result=use["result"]) for use in data["uses"])
    return Step(text=data["text"], uses=uses, thinking=data.get("thinking", ""), reminder=data.get("reminder", ""))


def _decode_citation(data: Json) -> Citation:
    span = _make(Span, data["span"]) if data.get("span") else None
    values = {**data, "state": QuoteState(data["state"]), "path": tuple(data["path"]), "span": span}
    return _make(Citation, values)


def _decode_open(data: Json) -> OpenSection:
    closing_by = data.get("closing_by")
    values = {
        **data,
        "opened_by": Origin(data["opened_by"]),
        "closing_by": Origin(closing_by) if closing_by else None,
        "deliveries": tuple(_make(Span, span) for span in data["deliveries"]),
    }
    return _make(OpenSection, values)


def _make(kind: type[_Value], data: Json) -> _Value:
    """Return a value of a dataclass from those keys of `data` that it has."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in names})
