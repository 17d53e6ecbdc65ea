"""`outline`: a tool of `roamtui mcp` that gives the outline, which the agent's prompt has already."""

from collections.abc import Mapping

from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.models.base import ToolSpec
from roamtui.outline.render import render_outline


async def _run(_arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    return ToolResponse(text=render_outline(context.conversation.state.library))


TOOL = Tool(
    spec=ToolSpec(
        name="outline",
        description=(
            "Read the outline: the headings, each with the id of a section that expand_sections opens, its "
            "size and a hint of what it holds. Read it before anything else."
        ),
        parameters={"type": "object", "properties": {}},
    ),
    run=_run,
)
