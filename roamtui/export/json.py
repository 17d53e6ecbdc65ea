"""Conversations as JSON."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from roamtui.answer_report import list_facts
from roamtui.conversation.citations import Citation
from roamtui.conversation.events import (
    EVENT_NAMES,
    ConversationEvent,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionDropped,
    QuestionReceived,
    SectionsClosed,
    SectionsOpened,
    SectionsSearched,
    ToolFinished,
    ToolUse,
)
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.quotes.wording import PASSAGE_LABEL
from roamtui.sanitiser import format_json
from roamtui.table.cells import Cell


def render_json(state: ConversationState, source: str) -> str:
    """Render a conversation as one JSON object and a line end."""
    conversation = {
        "id": state.id,
        "source": source,
        "added_sources": state.added_sources,
        "title": state.title,
        "model": state.model,
        "usage": asdict(state.spent),
        "open": [*state.open_sections],
        "exchanges": [_to_json_exchange(exchange, source) for exchange in state.exchanges],
    }
    return format_json(conversation, indent=2, to_json=to_json) + "\n"


def _to_json_exchange(exchange: Exchange, source: str) -> dict[str, Any]:
    """Convert a question and its answer to JSON values, with the other answers that it got."""
    return {
        "number": exchange.number,
        "question": exchange.question,
        "within": exchange.within,
        **to_json_answer(exchange, source),
        "error": exchange.error,
        "preface": exchange.preface,
        "steps": exchange.steps,
        "events": [
            {"kind": kind, **fields} for kind, fields in filter(None, map(to_json_event, exchange.events))
        ],
        "other_answers": [_to_json_exchange(other, source) for other in (*exchange.earlier, *exchange.later)],
    }


def to_json_answer(exchange: Exchange, source: str) -> dict[str, Any]:
    """Convert an answer to JSON values: who gave it, its text, how it ended, and its proof."""
    return {
        **msgspec.to_builtins(list_facts(exchange, source)),
        "answer": exchange.answer,
        "stopped": exchange.stopped,
        "citations": to_json_citations(exchange),
        "unsourced": [exchange.answer[start:end] for start, end in exchange.unsourced],
    }


def to_json(value: Struct) -> dict[str, Any]:
    """Convert a value for JSON. A citation loses its offsets, which mean nothing to a reader."""
    if isinstance(value, ToolUse):
        return {"call": value.call, "result": value.result}
    if not isinstance(value, Citation):
        return asdict(value)
    names = "section_id", "doc", "path", "quote", "state", "is_verified", "start_line", "end_line"
    shown = {name.removeprefix("is_"): getattr(value, name) for name in names}
    if value.page is not None:
        shown["page"] = value.page
    if value.page_label:
        shown["page_label"] = value.page_label
    if value.is_changed:
        shown["changed"] = True
    if (nearest := value.nearest) is not None:
        shown["nearest"] = {"text": nearest.text, "place": nearest.place, "read": nearest.is_read}
    if value.surroundings is not None:
        shown["sentence"] = value.surroundings.text
    return shown


def to_json_citations(answer: Exchange | Cell) -> list[dict[str, Any]]:
    """Convert the citations of an answer to JSON values, with their signs. Passages have no verdict."""
    if answer.has_passages:
        return [{**to_json(each), "state": PASSAGE_LABEL, "verified": False} for each in answer.citations]
    return [{**to_json(citation), "sign": citation.state.sign} for citation in answer.citations]


def to_json_passage(passage: Citation) -> dict[str, Any]:
    """Convert a passage to JSON values. It has no verdict."""
    shown = to_json(passage)
    del shown["doc"], shown["state"], shown["verified"]
    return {"text" if name == "quote" else name: value for name, value in shown.items()}


def to_json_event(event: ConversationEvent) -> tuple[str, dict[str, Any]] | None:
    """Convert an event to a name and JSON values.

    Return None for an event before the question is saved, and for the last one, because the answer is written
    instead.
    """
    fields: dict[str, Any]
    match event:
        case QuestionAnswered() | QuestionReceived() | QuestionDropped():
            return None
        case QuestionAsked(number=number, question=question):
            fields = {"number": number, "question": question}
        case SectionsSearched(query=query, hits=hits):
            found = [{"id": hit.section_id, "path": hit.path, "score": hit.score} for hit in hits]
            fields = {"query": query, "hits": found}
        case ToolFinished():
            fields = to_json_tool(event)
        case SectionsOpened(results=results):
            names = ("id", "section_id", "status", "tokens")
            shown = [{name: getattr(result, name) for name in names} for result in results]
            fields = {"results": shown, "origin": event.origin}
        case SectionsClosed(kept=kept):
            fields = {**msgspec.to_builtins(event), "kept": _reasons_to_json(kept)}
        case NodesLoaded(section_ids=section_ids, problems=problems, notes=notes):
            fields = {"section_ids": section_ids, "problems": _reasons_to_json(problems), "notes": notes}
        case _:
            fields = msgspec.to_builtins(event)
    return EVENT_NAMES[type(event)], fields


def to_json_tool(event: ToolFinished) -> dict[str, Any]:
    """Convert a tool call to JSON values."""
    request = {"section_ids": list(event.section_ids)} if event.query is None else {"query": event.query}
    results = [{"id": requested, "status": str(status)} for requested, status in event.results]
    return {"tool": event.tool, **request, "results": results}


def _reasons_to_json(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
