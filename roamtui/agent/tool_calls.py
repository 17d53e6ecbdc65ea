"""The tools that a model gets for a library, and its calls of these tools."""

import json
from collections.abc import Mapping

from msgspec.structs import replace

from roamtui.agent.prompt import CALL_NOT_RUN, LAST_STEP_NOTE, LIMIT_REACHED, REPEATED_CALL
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
from roamtui.conversation.events import OpenStatus, ToolFinished, ToolUse
from roamtui.conversation.messages import ToolCall
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.models.base import ARGUMENTS_LENGTH_MAX, ModelRequest
from roamtui.retrieval import policy
from roamtui.text import estimate_tokens

TOOLS = {tool.spec.name: tool for tool in (collapse.TOOL, documents.TOOL, expand.TOOL, search.TOOL)}
_NAME_LENGTH_MAX = 60
_CALLS_MAX = 8
"""Maximum number of tool calls to run in one reply."""
_SAME_CALLS_MAX = 3
"""After this many equal calls in one question, the model may call no more tools."""


def make_tools(library: Library, *, has_search: bool, has_room: bool = False) -> Mapping[str, Tool]:
    """Return the tools for a library, by name. With `has_room`, there is no tool that closes sections."""
    has_one_file = library.root.columns.kinds.count(NodeKind.FILE) <= 1
    specs = list_specs(has_search=has_search, has_room=has_room, has_one_file=has_one_file)
    return {spec.name: TOOLS[spec.name] for spec in specs}


class CallRunner:
    """Runs the tool calls of a model for one question."""

    def __init__(self) -> None:
        self._tools: tuple[str, ...] = ()
        """Names of the tools that the last request offered."""
        self.uses: tuple[ToolUse, ...] = ()
        """The calls of the current reply. Until a call has run, its result is `CALL_NOT_RUN`."""
        self._ids: set[str] = set()
        """Ids of the calls in the last request and in the current reply."""
        self._same: dict[tuple[str, str], list[str]] = {}
        """Ids of equal calls, by tool and arguments, since a call last opened or closed a section."""

    @property
    def may_call(self) -> bool:
        """Whether the model may call more tools. It may not once it has repeated a call too often."""
        return max(map(len, self._same.values()), default=0) < _SAME_CALLS_MAX

    def take_uses(self) -> tuple[ToolUse, ...]:
        """Return the calls of the current reply once, to be recorded."""
        uses, self.uses = self.uses, ()
        return uses

    def start_reply(self, request: ModelRequest) -> None:
        """Forget the calls of the last reply, and those that the messages of the next request leave out."""
        self.uses = ()
        self._tools = tuple(tool.name for tool in request.tools)
        self._ids = {call.id for message in request.messages for call in message.tool_calls}
        self._same = {key: [each for each in ids if each in self._ids] for key, ids in self._same.items()}

    def add(self, call: ToolCall) -> None:
        """Add a call of the current reply. Correct the name of its tool, and an id that is not unique."""
        call_id = call.id
        number = len(self._ids)
        while call_id in ("", *self._ids):  # some servers number the calls of each reply from the start
            call_id = f"call_{number}_{call.id}"
            number += 1
        self._ids.add(call_id)
        # some servers leave a prefix or suffix, as in functions.expand_sections
        name = next((name for name in self._tools if name in call.name), call.name)
        call = replace(call, id=call_id, name=name, arguments=call.arguments[:ARGUMENTS_LENGTH_MAX])
        self.uses = (*self.uses, ToolUse(call=call, result=CALL_NOT_RUN))

    async def run(self, context: ToolContext, *, is_before_last_step: bool) -> None:
        """Run the calls of the reply in the room of `context`. Searches run last, to repeat no open text."""
        uses = sorted(self.uses, key=lambda use: use.call.name == SEARCH.name)
        room = context.room_tokens
        searches = sum(use.call.name == SEARCH.name for use in uses[:_CALLS_MAX])
        for index, use in enumerate(uses):
            if index >= _CALLS_MAX:
                uses[index] = replace(use, result=f"{LIMIT_REACHED}: at most {_CALLS_MAX} calls a step")
                continue
            left = replace(
                context,
                room_tokens=room,
                earlier=tuple(uses[:index]),
                excerpt_tokens=policy.LATER_HITS_TOKENS_MAX // max(1, searches),
            )
            result = await self._run_call(use.call, left)
            room = max(0, room - estimate_tokens(result.text))
            uses[index] = ToolUse(
                call=use.call, result=result.text, excerpts=result.excerpts, named_words=result.named_words
            )
            self.uses = tuple(uses)
            context.conversation.apply_unsaved(replace(result.event, tool=use.call.name[:_NAME_LENGTH_MAX]))
        if is_before_last_step or not self.may_call:
            uses[-1] = replace(uses[-1], result=f"{uses[-1].result}\n{LAST_STEP_NOTE}")
        self.uses = tuple(uses)

    async def _run_call(self, call: ToolCall, context: ToolContext) -> ToolResponse:
        """Run a call, unless it repeats another or names no tool. The response also reports failures."""
        name = call.name[:_NAME_LENGTH_MAX]
        arguments = parse_tool_arguments(call.arguments)
        key = name, json.dumps(arguments, sort_keys=True)
        same = self._same.setdefault(key, [])
        same.append(call.id)
        if len(same) > 1:
            notice = "The model repeated a request, so it was not carried out again"
            return ToolResponse(text=REPEATED_CALL, event=ToolFinished(notice=notice))
        if call.name not in self._tools:
            return ToolResponse(text=f'There is no tool "{name}". The tools are {", ".join(self._tools)}.')
        before = context.conversation.state
        try:
            response = await TOOLS[call.name].run(arguments, context)
        except RoamtuiError as error:
            same.clear()  # the same call may succeed later
            return ToolResponse(text=f"{name} failed: {error}")
        state = context.conversation.state
        if state.library is not before.library or state.open_sections != before.open_sections:
            self._same = {key: same}  # other calls may have new results
        if any(status == OpenStatus.NO_ROOM for _, status in response.event.results):
            same.clear()  # the next step has room again
        return response
