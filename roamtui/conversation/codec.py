"""A conversation's values to JSON and back. Unknown keys are ignored, so that an older program reads a newer file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar, cast

from roamtui.conversation.commands import Origin
from roamtui.conversation.notes import decode_note, encode_note
from roamtui.conversation.pages import list_needed_links
from roamtui.conversation.plain_values import encode_value, expect_text, expect_texts
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
_PLAIN_TYPES: Mapping[str, frozenset[type]] = {
    "str": frozenset({str}),
    "int": frozenset({int}),
    "bool": frozenset({bool}),
    "str | None": frozenset({str, type(None)}),
    "int | None": frozenset({int, type(None)}),
    "float | None": frozenset({float, int, type(None)}),
}
"""By annotation, as `from __future__ import annotations` leaves it."""


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
    damage: Damage | None = None
    """What of it could not be read as it was written, None where all could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What of a conversation could not be read, and was replaced by what is left of it."""

    row_ids: tuple[int, ...] = ()
    """Rows of questions."""
    has_gap: bool = False
    """Whether a question is missing."""
    has_state: bool = False
    """Whether the state is damaged: what was open, and the text that the model was given."""

    @property
    def message(self) -> str:
        """What a person should know of it, a sentence or two."""
        count = len(self.row_ids)
        parts = [f"{count:,} question{'' if count == 1 else 's'} could not be read whole"] if count else []
        parts += ["a question is missing"] if self.has_gap else []
        parts += ["what was open had to be found anew"] if self.has_state else []
        return (
            f"This conversation was damaged on disk: {', '.join(parts)}. "
            "You can go on; what cannot be read stays in the file as it is."
        )


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
    plain = cast("dict[str, Any]", encode_value(exchange))
    return {**plain, "notes": [encode_note(note) for note in exchange.notes]}


def decode_conversation(
    row: Json, state: Json, exchanges: tuple[Exchange, ...], damage: Damage | None = None
) -> SavedConversation:
    """Return a saved conversation from its row, its state and its exchanges.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The state is damaged.
    """
    values = {
        "system": state["system"],
        "prologue": state["prologue"],
        "rebuilt_at": state["rebuilt_at"],
        "history_from": state.get("history_from", 0),
        "exchanges": exchanges,
    }
    return SavedConversation(
        id=row["id"],
        title=row["title"],
        model=row["model"],
        content_hash=str(state.get("content_hash", "")),
        document_hashes=dict(state.get("documents", {})),
        transcript=_make(Transcript, values),
        open=tuple(decode_open(section) for section in state["open"]),
        unfolded=frozenset(expect_texts(state["unfolded"])),
        reading=None if state.get("reading") is None else expect_text(state["reading"]),
        batches=tuple(
            Batch(opened_ids=expect_texts(batch["opened_ids"]), unfolded_ids=expect_texts(batch["unfolded_ids"]))
            for batch in state["batches"]
        ),
        needs_rebuild=bool(state["needs_rebuild"]),
        revision=row.get("revision", 0),
        links=expect_texts(state.get("links", ())),
        approved_origins=frozenset(expect_texts(state.get("approved_origins", ()))),
        damage=damage,
    )


def decode_exchange(data: Json) -> Exchange:
    """Return an exchange from JSON values; one that was under way when the program ended is marked cancelled.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: It is damaged.
    """
    stopped = data["stopped"]
    values = {
        **data,
        "preface": data["preface"],
        "answer": data["answer"],
        "open_before": tuple(decode_open(section) for section in data.get("open_before", ())),
        "steps": tuple(_decode_step(step) for step in data["steps"]),
        "stopped": Stopped(stopped) if stopped else Stopped.CANCELLED,
        "citations": tuple(_decode_citation(citation) for citation in data["citations"]),
        "usage": _make(Usage, data["usage"]),
        "notes": tuple(note for one in data.get("notes", ()) if (note := decode_note(one)) is not None),
    }
    return _make(Exchange, values)


def decode_open(data: Json) -> OpenSection:
    """Return an open section from JSON values.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: It is damaged.
    """
    closing_by = data.get("closing_by")
    values = {
        **data,
        "opened_by": Origin(data["opened_by"]),
        "closing_by": Origin(closing_by) if closing_by else None,
        "deliveries": tuple(_make(Span, span) for span in data["deliveries"]),
    }
    return _make(OpenSection, values)


def _decode_step(data: Json) -> Step:
    uses = tuple(_make(ToolUse, {**use, "call": _make(ToolCall, use["call"])}) for use in data["uses"])
    return _make(Step, {**data, "uses": uses})


def _decode_citation(data: Json) -> Citation:
    span = _make(Span, data["span"]) if data.get("span") else None
    values = {**data, "state": QuoteState(data["state"]), "path": expect_texts(data["path"]), "span": span}
    return _make(Citation, values)


def _make(kind: type[_Value], data: Json) -> _Value:
    """Return a value of a dataclass from those keys of `data` that it has.

    Raises:
        TypeError: A key is missing, or a plain value is of another type than it must be.
    """
    plain_kind: type = kind
    names, checks = _describe_fields(plain_kind)
    values = {name: value for name, value in data.items() if name in names}
    for name, types in checks:
        if name in values and type(values[name]) not in types:
            raise TypeError(name)
    return kind(**values)


@lru_cache(maxsize=64)
def _describe_fields(kind: type) -> tuple[frozenset[str], tuple[tuple[str, frozenset[type]], ...]]:
    """Return the names of a dataclass's fields, and for those that are plain the types that they may have."""
    found = fields(kind)
    checks = tuple((one.name, _PLAIN_TYPES[str(one.type)]) for one in found if str(one.type) in _PLAIN_TYPES)
    return frozenset(one.name for one in found), checks
