"""`expand_sections`: opens sections."""

import asyncio
from collections.abc import Mapping

from roamtui.agent.specs import EXPAND, IDS_MAX
from roamtui.agent.tools import Tool, ToolContext, ToolResponse, parse_section_ids
from roamtui.conversation.events import Origin, SectionsOpened, ToolFinished
from roamtui.conversation.update import OpenSections
from roamtui.document.library import Library
from roamtui.outline.ids import parse_reference
from roamtui.outline.references import is_known, suggest_ids
from roamtui.text import format_count

_NO_IDS = f"expand_sections needs section_ids: a list of 1 to {IDS_MAX} ids from the outline."


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    """Open the sections. Each id gets a result of its own, so that one unknown id does not fail the call."""
    library = context.conversation.state.library
    ids, left_out, nearest = await asyncio.to_thread(_resolve_requested, arguments, library)
    if not ids:
        return ToolResponse(text=_NO_IDS, is_refused=True)
    command = OpenSections(
        section_ids=ids, origin=Origin.AGENT, room_tokens=context.room_tokens, nearest=nearest
    )
    results: list[tuple[str, str]] = []
    texts: list[str] = []
    for event in await context.conversation.execute(command):
        if isinstance(event, SectionsOpened):
            results += [(result.id, result.status) for result in event.results]
            texts += [result.text for result in event.results]
    if left_out:
        texts.append(f"(Not opened: {format_count(left_out, 'more id')}. The limit is {IDS_MAX} per call.)")
    text = "\n\n".join(texts)
    return ToolResponse(text=text, event=ToolFinished(section_ids=ids, results=tuple(results)))


def _resolve_requested(
    arguments: Mapping[str, object], library: Library
) -> tuple[tuple[str, ...], int, Mapping[str, tuple[str, ...]]]:
    """Return the requested ids, the number of ids left out, and suggestions for ids that no section has."""
    ids, left_out = parse_section_ids(arguments, library, IDS_MAX)
    nearest: dict[str, tuple[str, ...]] = {}
    for requested in ids:
        reference = parse_reference(requested)
        if reference is None or not is_known(library, reference.section_id):
            nearest[requested] = suggest_ids(library, requested)
    return ids, left_out, nearest


TOOL = Tool(spec=EXPAND, run=_run)
