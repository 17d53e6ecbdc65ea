"""The tools that a model gets for a library, and its calls of these tools."""

import json
from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from roamtui.agent.outcome import QuestionRun
from roamtui.agent.prompt import LAST_STEP_NOTE, LIMIT_REACHED, REPEATED_CALL
from roamtui.agent.specs import SEARCH, list_specs
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
from roamtui.conversation.events import ExpandStatus, ToolCall, ToolFinished
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.text import estimate_tokens

TOOLS = {tool.spec.name: tool for tool in (collapse.TOOL, documents.TOOL, expand.TOOL, search.TOOL)}
_NAME_LENGTH_MAX = 60
_CALLS_MAX = 8
"""Maximum number of tool calls to run in one reply."""


def make_tools(library: Library, *, has_search: bool, has_room: bool = False) -> Mapping[str, Tool]:
    """List the tools for a library, by name."""
    has_one_file = library.root.columns.kinds.count(NodeKind.FILE) <= 1
    specs = list_specs(has_search=has_search, has_room=has_room, has_one_file=has_one_file)
    return {spec.name: TOOLS[spec.name] for spec in specs}


async def run_calls(run: QuestionRun, context: ToolContext, *, is_before_last_step: bool) -> None:
    """Run the calls of a reply in the room of `context`, searches last, so that hits repeat no section."""
    uses = sorted(run.step.uses, key=lambda use: use.call.name == SEARCH.name)
    room = context.room_tokens
    searches = sum(use.call.name == SEARCH.name for use in uses[:_CALLS_MAX])
    for index, use in enumerate(uses):
        if index >= _CALLS_MAX:
            uses[index] = replace(use, result=f"{LIMIT_REACHED}: at most {_CALLS_MAX} calls a step")
            continue
        left = replace(
            context,
            room_tokens=room,
            excerpts=tuple(span for earlier in uses for span in earlier.excerpts),
            search_tokens=context.search_tokens // max(1, searches),
        )
        result = await _run_call(run, use.call, left)
        room = max(0, room - estimate_tokens(result.text))
        uses[index] = replace(use, result=result.text, excerpts=result.excerpts)
        run.step = replace(run.step, uses=tuple(uses))
        context.conversation.apply_unsaved(replace(result.event, tool=use.call.name[:_NAME_LENGTH_MAX]))
    if is_before_last_step or not run.may_call:
        uses[-1] = replace(uses[-1], result=f"{uses[-1].result}\n{LAST_STEP_NOTE}")
    run.step = replace(run.step, uses=tuple(uses))


async def _run_call(run: QuestionRun, call: ToolCall, context: ToolContext) -> ToolResponse:
    """Run a call, unless it repeats another or names no tool. If it fails, say so to the model."""
    name = call.name[:_NAME_LENGTH_MAX]
    arguments = parse_tool_arguments(call.arguments)
    key = name, json.dumps(arguments, sort_keys=True)
    run.call_counts[key] += 1
    if run.call_counts[key] > 1:
        notice = "The model repeated a request, so it was not carried out again"
        return ToolResponse(text=REPEATED_CALL, event=ToolFinished(notice=notice))
    tool = run.tools.get(call.name)
    if tool is None:
        return ToolResponse(text=f'There is no tool "{name}". The tools are {", ".join(run.tools)}.')
    before = context.conversation.state
    try:
        response = await tool.run(arguments, context)
    except RoamtuiError as error:
        del run.call_counts[key]  # the same call may succeed later
        return ToolResponse(text=f"{name} failed: {error}")
    state = context.conversation.state
    if state.library is not before.library or state.open_sections != before.open_sections:
        run.call_counts = Counter({key: 1})  # other calls may have new results
    if any(status == ExpandStatus.NO_ROOM for _, status in response.event.results):
        run.call_counts[key] -= 1  # the next step has room again
    return response
