"""`roamtui ask --events`: each event as one JSON line. What a line holds is a contract that other programs use.

A field may be added within a version. One that goes or changes its meaning makes the next version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from roamtui.conversation.events import (
    ConversationChanged,
    ConversationEvent,
    DeedUndone,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    SavingReported,
    SectionsExpanded,
    SectionsKept,
    SectionsPinned,
    SectionsSearched,
    ToolFinished,
    name_event,
)
from roamtui.headless.output import write_json_line

VERSION = 1
"""Of the lines, not of the program."""
ANSWER = "answer"
"""Name of the last line."""
_EXPANDED = ("id", "section_id", "status", "tokens")


def print_event(event: ConversationEvent) -> None:
    """Write an event as one line, at once; the end of a question is told by what `ask --json` gives of its answer."""
    described = describe_event(event)
    if described is not None:
        print_line(*described)


def print_line(name: str, fields: Mapping[str, Any]) -> None:
    """Write what has a name as one line."""
    write_json_line({"v": VERSION, "event": name, **fields})


def describe_event(  # noqa: C901, PLR0912 - one case an event
    event: ConversationEvent,
) -> tuple[str, dict[str, Any]] | None:
    """Return an event's name and fields as JSON values, None for the end of a question."""
    fields: dict[str, Any] = msgspec.to_builtins(event)
    match event:
        case QuestionAnswered():
            return None
        case QuestionAsked(number=number, question=question):
            fields = {"number": number, "question": question}
        case SectionsSearched(hits=hits):
            fields["hits"] = [
                {"id": hit.section_id, "path": list(hit.path), "score": hit.score, "snippet": hit.snippet}
                for hit in hits
            ]
        case ToolFinished():
            fields = describe_tool(event)
        case SectionsExpanded(results=results):
            told = [{name: getattr(result, name) for name in _EXPANDED} for result in results]
            fields = {"results": told, "origin": event.origin.value}
        case SectionsKept(reasons=reasons, origin=origin):
            fields = {"kept": _describe_reasons(reasons), "origin": origin.value}
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            fields = {"section_ids": list(ids), "pinned": is_pinned}
        case LoadingProgressed():
            del fields["are_pages"]
        case DeedUndone(deed=deed, is_redo=is_redo):
            fields = {"section_ids": list(deed.section_ids), "again": is_redo}
        case NodesLoaded(problems=problems):
            fields["problems"] = _describe_reasons(problems)
            del fields["moved"]
        case SavingReported(message=message, conversation_id=conversation_id):
            fields = {"message": message, "conversation": conversation_id}
        case ConversationChanged(conversation_id=conversation_id):
            fields = {"conversation": conversation_id}
        case _:
            pass
    return name_event(type(event)), fields


def describe_tool(event: ToolFinished) -> dict[str, Any]:
    """Return a finished call as `steps` of an answer has it."""
    asked = {"section_ids": list(event.section_ids)} if event.query is None else {"query": event.query}
    results = [{"id": result.id, "status": str(result.status)} for result in event.results]
    return {"tool": event.tool, **asked, "results": results}


def _describe_reasons(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
