"""A conversation's values to JSON and back. Unknown keys are ignored, so that an older program reads a newer file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_type_hints

import msgspec

from roamtui.conversation.events import ConversationEvent, name_event
from roamtui.conversation.loading import list_needed_links
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.state import Batch, ConversationState, Exchange, Transcript
from roamtui.conversation.transcript import Stopped

Json = Mapping[str, Any]
_EVENTS = {name_event(kind): kind for kind in get_args(ConversationEvent)}
_EXCHANGE = get_type_hints(Exchange, localns={"ConversationEvent": object})
del _EXCHANGE["events"]
"""Types of its fields; events say themselves what they are."""
_OF_THE_STATE = ("deliveries", "used_ids", "unfolded_ids", "moved")
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError)
"""What decoding a damaged text raises."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _SavedState:
    """Everything of a conversation but its exchanges, as it lies on disk."""

    system: str
    prologue: str
    rebuilt_at: int
    open: tuple[OpenSection, ...]
    unfolded: frozenset[str]
    batches: tuple[Batch, ...]
    needs_rebuild: bool
    reading: str | None = None
    history_from: int = 0
    content_hash: str = ""
    documents: dict[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    approved_origins: frozenset[str] = frozenset()


def encode_state(state: ConversationState) -> dict[str, Any]:
    """Return everything of a state but its exchanges, as JSON values."""
    keys = dict.fromkeys(span.doc for section in state.open for span in section.deliveries)
    saved = {
        "system": state.transcript.system,
        "prologue": state.transcript.prologue,
        "rebuilt_at": state.transcript.rebuilt_at,
        "history_from": state.transcript.history_from,
        "open": state.open,
        "unfolded": sorted(state.unfolded),
        "reading": state.reading,
        "batches": state.batches,
        "needs_rebuild": state.needs_rebuild or state.is_asking,
        "content_hash": state.library.content_hash,
        "documents": {key: state.library.document(key).content_hash for key in keys},
        "links": list_needed_links(state),
        "approved_origins": sorted(state.approved_origins),
    }
    plain: dict[str, Any] = msgspec.to_builtins(saved)
    return plain


def encode_exchange(exchange: Exchange) -> dict[str, Any]:
    """Return an exchange as JSON values."""
    events = [{"kind": name_event(type(event)), **_describe(event)} for event in exchange.events]
    return {**msgspec.to_builtins(exchange), "events": events}


def _describe(event: ConversationEvent) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(event)
    return {key: value for key, value in fields.items() if value or key not in _OF_THE_STATE}


def decode_conversation(
    row: Json, state: Json, exchanges: tuple[Exchange, ...], damage: Damage | None = None
) -> SavedConversation:
    """Return a saved conversation from its row, its state and its exchanges.

    Raises:
        One of `DAMAGE`: The state is damaged.
    """
    saved = msgspec.convert(state, _SavedState)
    return SavedConversation(
        id=row["id"],
        title=row["title"],
        model=row["model"],
        content_hash=saved.content_hash,
        document_hashes=saved.documents,
        transcript=Transcript(
            system=saved.system,
            prologue=saved.prologue,
            exchanges=exchanges,
            rebuilt_at=saved.rebuilt_at,
            history_from=saved.history_from,
        ),
        open=saved.open,
        unfolded=saved.unfolded,
        reading=saved.reading,
        batches=saved.batches,
        needs_rebuild=saved.needs_rebuild,
        revision=row.get("revision", 0),
        links=saved.links,
        approved_origins=saved.approved_origins,
        damage=damage,
    )


def decode_exchange(data: Json) -> Exchange:
    """Return an exchange from JSON values; one that was under way when the program ended is marked cancelled.

    Raises:
        One of `DAMAGE`: It is damaged.
    """
    values = {name: msgspec.convert(data[name], hint) for name, hint in _EXCHANGE.items() if name in data}
    kept = (*map(_read_note, data.get("notes", ())), *data.get("events", ()))
    values["events"] = tuple(msgspec.convert(one, _EVENTS[one["kind"]]) for one in kept if one["kind"] in _EVENTS)
    values["stopped"] = values["stopped"] or Stopped.CANCELLED
    return Exchange(**values)


def _read_note(note: Json) -> Json:
    """Return the event that version 0.1 kept as a note; what a newer version alone knows stays as it is."""
    event: dict[str, Any]
    match note["kind"]:
        case "draft":
            event = {"kind": "answer_streamed", "text": note["text"]}
        case "search":
            event = {"kind": "sections_searched", "query": note["query"], "hits": note["found"]}
        case "expansion":
            results = [
                {**one, "section_id": None if one["status"] == "unknown" else one["id"]} for one in note["tried"]
            ]
            event = {"kind": "sections_expanded", "origin": "agent", "results": results}
        case "kept":
            event = {"kind": "sections_kept", "origin": "agent", "reasons": note["reasons"]}
        case "reminder":
            event = {"kind": "reminder_sent", "text": ""}
        case "retry":
            event = {**note, "kind": "retry_scheduled"}
        case "closing":
            event = {**note, "kind": "sections_closed", "origin": "agent"}
        case "page":
            told = {"problems": [("", note["text"])]} if note["is_problem"] else {"notes": [note["text"]]}
            event = {"kind": "nodes_loaded", "section_ids": (), **told}
        case _:
            event = {**note}
    return event
