"""`roamtui ask --events`: each event as one JSON line. What a line holds is a contract that other programs use.

A field may be added within a version. One that goes or changes its meaning makes the next version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from roamtui.conversation.events import (
    AnswerStreamed,
    BatchUndone,
    ConversationEvent,
    ExpandResult,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    ReadingChanged,
    ReminderSent,
    RetryScheduled,
    SaveFailed,
    SavingReported,
    SearchHit,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.headless.output import write_json_line

VERSION = 1
"""Of the lines, not of the program."""
ANSWER = "answer"
"""Name of the last line."""


def print_event(event: ConversationEvent) -> None:
    """Write an event as one line, at once; the end of a question is told by `print_answer_event`."""
    described = describe_event(event)
    if described is not None:
        _print_line(*described)


def print_answer_event(answer: Mapping[str, Any]) -> None:
    """Write the last line: what `ask --json` gives of an answer."""
    _print_line(ANSWER, answer)


def _print_line(name: str, fields: Mapping[str, Any]) -> None:
    write_json_line({"v": VERSION, "event": name, **fields})


def describe_event(  # noqa: C901, PLR0911, PLR0912 - one case an event
    event: ConversationEvent,
) -> tuple[str, dict[str, Any]] | None:
    """Return an event's name and fields as JSON values, None for the end of a question."""
    match event:
        case QuestionAsked(number=number, question=question):
            return "question_asked", {"number": number, "question": question}
        case StepStarted(number=number, input_tokens=input_tokens):
            return "step_started", {"number": number, "input_tokens": input_tokens}
        case AnswerStreamed(text=text):
            return "answer_streamed", {"text": text}
        case ThinkingStreamed(text=text):
            return "thinking_streamed", {"text": text}
        case SectionsSearched(query=query, hits=hits):
            return "sections_searched", {"query": query, "hits": [_describe_hit(hit) for hit in hits]}
        case ToolFinished():
            return "tool_finished", describe_tool(event)
        case ReminderSent(text=text):
            return "reminder_sent", {"text": text}
        case RetryScheduled(reason=reason, wait_seconds=wait_seconds):
            return "retry_scheduled", {"reason": reason, "wait_seconds": wait_seconds}
        case SectionsExpanded(results=results, origin=origin):
            described = [_describe_expansion(result) for result in results]
            return "sections_expanded", {"results": described, "origin": origin.value}
        case SectionsClosed(section_ids=ids, origin=origin, reason=reason):
            return "sections_closed", {"section_ids": list(ids), "origin": origin.value, "reason": reason.value}
        case SectionsMarked(section_ids=ids, origin=origin):
            return "sections_marked", {"section_ids": list(ids), "origin": origin.value}
        case SectionsKept(reasons=reasons, origin=origin):
            return "sections_kept", {"kept": _describe_reasons(reasons), "origin": origin.value}
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            return "sections_pinned", {"section_ids": list(ids), "pinned": is_pinned}
        case NodesUnfolded(section_ids=ids, origin=origin):
            return "nodes_unfolded", {"section_ids": list(ids), "origin": origin.value}
        case NodesFolded(section_ids=ids, origin=origin):
            return "nodes_folded", {"section_ids": list(ids), "origin": origin.value}
        case ReadingChanged(section_id=section_id):
            return "reading_changed", {"section_id": section_id}
        case BatchUndone(section_ids=ids):
            return "batch_undone", {"section_ids": list(ids)}
        case LoadingProgressed(done=done, total=total, bytes_received=received):
            return "loading_progressed", {"done": done, "total": total, "bytes_received": received}
        case NodesLoaded(section_ids=ids, problems=problems, notes=notes):
            described = _describe_reasons(problems)
            return "nodes_loaded", {"section_ids": list(ids), "problems": described, "notes": list(notes)}
        case SaveFailed(message=message):
            return "save_failed", {"message": message}
        case SavingReported(message=message, conversation_id=conversation_id):
            return "saving_reported", {"message": message, "conversation": conversation_id}
        case QuestionAnswered():
            return None
        case _:
            assert_never(event)


def describe_tool(event: ToolFinished) -> dict[str, Any]:
    """Return a finished call as `steps` of an answer has it."""
    asked = {"section_ids": list(event.section_ids)} if event.query is None else {"query": event.query}
    results = [{"id": result.id, "status": str(result.status)} for result in event.results]
    return {"tool": event.tool, **asked, "results": results}


def _describe_hit(hit: SearchHit) -> dict[str, Any]:
    return {"id": hit.section_id, "path": list(hit.path), "score": hit.score, "snippet": hit.snippet}


def _describe_expansion(result: ExpandResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "section_id": result.section_id,
        "status": result.status.value,
        "tokens": result.tokens,
    }


def _describe_reasons(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
