"""The tools that a model gets for a library, and the calls that it makes of them."""

import json
from collections.abc import Mapping

from roamtui.agent.outcome import QuestionRun
from roamtui.agent.prompt import REPEATED_CALL
from roamtui.agent.specs import list_specs
from roamtui.agent.tools import (
    Tool,
    ToolContext,
    ToolResponse,
    collapse,
    documents,
    expand,
    parse_tool_arguments,
    search,
)
from roamtui.conversation.events import ToolCall
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError

TOOLS = {tool.spec.name: tool for tool in (collapse.TOOL, documents.TOOL, expand.TOOL, search.TOOL)}
TOOL_NAME_LENGTH_MAX = 60
_SAME_CALLS_MAX = 3
"""Number of the same calls in one question after which the model may call no more tools."""


def make_tools(library: Library, *, has_search: bool, has_room: bool = False) -> Mapping[str, Tool]:
    """List the tools for a library, by name."""
    has_one_file = library.root.columns.kinds.count(NodeKind.FILE) <= 1
    specs = list_specs(has_search=has_search, has_room=has_room, has_one_file=has_one_file)
    return {spec.name: TOOLS[spec.name] for spec in specs}


async def run_call(run: QuestionRun, call: ToolCall, context: ToolContext) -> ToolResponse:
    """Run a call, unless it repeats another or names no tool. If it fails, say so to the model."""
    name = call.name[:TOOL_NAME_LENGTH_MAX]
    arguments = parse_tool_arguments(call.arguments)
    key = name, json.dumps(arguments, sort_keys=True)
    run.call_counts[key] += 1
    run.may_call = run.may_call and run.call_counts[key] < _SAME_CALLS_MAX
    if run.call_counts[key] > 1:
        notice = "The model repeated a request, so it was not carried out again"
        return ToolResponse(text=REPEATED_CALL, notice=notice)
    tool = run.tools.get(call.name)
    if tool is None:
        return ToolResponse(text=f'There is no tool "{name}". The tools are {", ".join(run.tools)}.')
    try:
        return await tool.run(arguments, context)
    except RoamtuiError as error:
        return ToolResponse(text=f"{name} failed: {error}")
