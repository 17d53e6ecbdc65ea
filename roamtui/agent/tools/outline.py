"""`outline`: a tool of `roamtui mcp` only, because the prompt of the agent has the outline already."""

from collections.abc import Mapping

from roamtui.agent.specs import OUTLINE
from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.outline.render import render_outline


async def _run(_arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    return ToolResponse(text=render_outline(context.conversation.state.library))


TOOL = Tool(spec=OUTLINE, run=_run)
