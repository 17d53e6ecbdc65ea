"""`list_documents`: lists the documents of a library."""

from collections.abc import Mapping

from roamtui.agent.specs import DOCUMENTS
from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.conversation.events import ToolFinished
from roamtui.document.document import NodeKind
from roamtui.outline.labels import (
    OPENING_LENGTH,
    PLAIN_PATH_STEP,
    escape,
    extract_opening_words,
    format_node_and_heading,
    format_path,
    format_size,
)
from roamtui.outline.structure import get_canonical_id
from roamtui.text import estimate_tokens, format_count

LISTED_MAX = 50
SUMMARY_LENGTH = 400
"""Maximum length of a document's summary, in characters."""


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    """List documents with id, path, title, size and opening words, one per line."""
    library = context.conversation.state.library
    kinds = library.root.columns.kinds
    file_ids = [row_id for row_id, kind in zip(library.root.ids, kinds, strict=True) if kind is NodeKind.FILE]
    if not file_ids:
        sections = format_count(library.section_count, "section")
        text = f"This is one document: {escape(library.title)} ({sections}). Its outline names all of them."
        return ToolResponse(text=text)
    start = _read_offset(arguments.get("offset"), len(file_ids))
    shown = file_ids[start : start + LISTED_MAX]
    if not shown:
        text = f"There are {len(file_ids)} documents, none after {start}."
        return ToolResponse(text=text)
    lines: list[str] = []
    room = context.room_tokens
    for file_id in shown:
        node = library.node(file_id)
        folders = node.ancestors
        folder = f"{format_path(library, folders[-1])}{PLAIN_PATH_STEP}" if folders else ""
        title = format_node_and_heading(node)
        size = format_size(library, file_id)
        line = f"[{get_canonical_id(library, file_id)}] {folder}{title} ({size})"
        length_max = SUMMARY_LENGTH if library.summary(file_id) else OPENING_LENGTH
        if node.is_loaded and (opening := extract_opening_words(library, file_id, length_max=length_max)):
            line += f": {opening}"
        room -= estimate_tokens(line)
        if lines and room < 0:
            break
        lines.append(line)
    shown = shown[: len(lines)]
    end = start + len(shown)
    lines.insert(0, f"Documents {start + 1} to {end} of {len(file_ids)}:")
    if end < len(file_ids):
        lines.append(f"({len(file_ids) - end} more: call {DOCUMENTS.name} with offset {end}.)")
    results = tuple((file_id, "listed") for file_id in shown)
    notice = f"Listed documents {start + 1} to {end} of {len(file_ids)}"
    return ToolResponse(text="\n".join(lines), event=ToolFinished(results=results, notice=notice))


def _read_offset(value: object, offset_max: int) -> int:
    """Return the offset that a model names, perhaps as `50.0`, within bounds; 0 if it is not a number."""
    try:
        return max(0, min(int(float(str(value))), offset_max))
    except (ValueError, OverflowError):
        return 0


TOOL = Tool(spec=DOCUMENTS, run=_run)
