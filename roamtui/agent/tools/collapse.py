"""`collapse_sections`: closes sections that the model no longer needs, unless something keeps them open."""

import asyncio
from collections.abc import Mapping

from roamtui.agent.specs import COLLAPSE
from roamtui.agent.tools import Tool, ToolContext, ToolResponse, parse_section_ids
from roamtui.conversation.events import Origin, SectionsClosed, ToolFinished
from roamtui.conversation.update import CloseSections
from roamtui.document.library import Library
from roamtui.outline.ids import parse_reference

_NO_IDS = "collapse_sections needs section_ids: a list of ids of open sections."


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    """Close sections, and give a reason for each one that stays open."""
    library = context.conversation.state.library
    requested, _ = await asyncio.to_thread(parse_section_ids, arguments, library)
    ids = tuple(dict.fromkeys(_resolve(library, each) for each in requested))
    if not ids:
        return ToolResponse(text=_NO_IDS, is_refused=True)
    closed: set[str] = set()
    details = dict.fromkeys(ids, "kept: not open")
    for event in await context.conversation.execute(CloseSections(section_ids=ids, origin=Origin.AGENT)):
        if isinstance(event, SectionsClosed):
            when = "closed after this question" if event.is_pending else "closed"
            closed.update(event.section_ids)
            details |= dict.fromkeys(event.section_ids, when)
            details |= {section_id: f"kept: {reason}" for section_id, reason in event.kept}
    results = tuple((section_id, "closed" if section_id in closed else "kept") for section_id in ids)
    text = "\n".join(f"[{section_id}] {details[section_id]}" for section_id in ids)
    return ToolResponse(text=text, event=ToolFinished(section_ids=ids, results=results))


def _resolve(library: Library, requested: str) -> str:
    """Return the id of the section that was requested, or `requested` itself if it names none or a part."""
    reference = parse_reference(requested)
    if reference is None or reference.range_numbers:
        return requested
    return library.resolve_alias(reference.section_id)


TOOL = Tool(spec=COLLAPSE, run=_run)
