"""`outline`: a tool of `roamtui mcp` that gives the outline, which the agent's prompt has already."""

from collections.abc import Mapping

from roamtui.agent.specs import OUTLINE
from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.outline.render import render_outline


async def _run(_arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    return ToolResponse(text=render_outline(context.conversation.state.library))


TOOL = Tool(spec=OUTLINE, run=_run)
