"""What one client has open, and the tools that it calls."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from roamtui.agent.tools import make_tools
from roamtui.agent.tools.base import Tool, ToolContext, ToolOutcome, read_number
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.documents import DocumentsTool
from roamtui.agent.tools.search import NAME as SEARCH_NAME
from roamtui.conversation.commands import CollapseSections, Origin
from roamtui.conversation.events import ExpandStatus, SectionsClosed, ToolFinished
from roamtui.conversation.questions import choose_closing
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.errors import RoamtuiError
from roamtui.headless.mcp.shared_library import SharedLibrary
from roamtui.models.base import ToolSpec
from roamtui.outline.render import OUTLINE_TOKENS, render_outline

ROOM_TOKENS = 20_000
"""Section text that one call delivers at most: clients are known to refuse results of more than 25,000 tokens."""
_OUTLINE_NAME = "outline"
_OUTLINE_DESCRIPTION = (
    "Read the outline: the headings, each with the id of a section that expand_sections opens, its size and a hint of "
    "what it holds. Read it before anything else."
)
_OUTLINE_TOKENS_MIN = 200
_OUTLINE_TOKENS_MAX = 12_000
_COLLAPSE_DESCRIPTION = (
    "Say which open sections are of no further use, or have left your context. expand_sections gives the text of a "
    "closed section again."
)
_WITHIN_DESCRIPTION = "Id of a section to search in; default: everything."
_CHANGED = (
    "(The source has changed and was read again. Nothing is open any more, and ids of sections that moved are others: "
    "read the outline again.)"
)
_REPEATED = (
    "(What is open already was given to this client before. If its text is not in your context, close it with "
    "collapse_sections and open it again.)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a client gets for a call."""

    text: str
    is_error: bool = False


class OutlineTool:
    """Renders the outline within a budget."""

    spec = ToolSpec(
        name=_OUTLINE_NAME,
        description=_OUTLINE_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "budget": {
                    "type": "integer",
                    "minimum": _OUTLINE_TOKENS_MIN,
                    "maximum": _OUTLINE_TOKENS_MAX,
                    "default": OUTLINE_TOKENS,
                    "description": "Tokens that the outline may have; everything stays reachable from a shorter one.",
                }
            },
        },
    )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Return the outline; a budget that is no number, or out of bounds, becomes the nearest that is."""
        low, high = _OUTLINE_TOKENS_MIN, _OUTLINE_TOKENS_MAX
        budget = read_number(arguments.get("budget"), default=OUTLINE_TOKENS, low=low, high=high)
        text = render_outline(context.session.state.library, budget_tokens=budget)
        return ToolOutcome(text=text, finished=ToolFinished(tool=_OUTLINE_NAME))


class ClientSession:
    """A conversation without questions: the client's model asks them itself."""

    def __init__(self, shared: SharedLibrary, *, has_changed: bool = False) -> None:
        """Begin with nothing open, over a library that is loaded.

        Args:
            shared: Holds the library.
            has_changed: Whether the client had another session, over the library as it was before it changed.
        """
        self._has_changed = has_changed
        self._shared = shared
        self.library = shared.library
        """As it was when the session began."""
        self.session = Session.start(shared.library, options=shared.options, loader=shared.loader)
        self._tools = list_tools(shared.library, has_search=shared.has_search)

    async def call(self, name: str, arguments: Mapping[str, object]) -> Reply:
        """Run a tool. Whatever is wrong with a call is told in words."""
        tool = self._tools.get(name)
        if tool is None:
            shown = shorten(plain_line(name), 60)
            return Reply(text=f'There is no tool "{shown}". The tools are {", ".join(self._tools)}.', is_error=True)
        context = ToolContext(session=self.session, searcher=self._shared.searcher, room_tokens=ROOM_TOKENS)
        before = self.session.state.open_ids
        try:
            outcome = await tool.run(arguments, context)
            results = outcome.finished.results
            notes = [_REPEATED] if any(one.status == ExpandStatus.ALREADY_OPEN for one in results) else []
            notes += await self._tidy(set(before).difference(one.id for one in results))
        except RoamtuiError as error:
            return Reply(text=f"{name} failed: {error}", is_error=True)
        if self._has_changed:
            self._has_changed = False
            notes.append(_CHANGED)
        return Reply(text="\n\n".join([outcome.text, *notes]))

    async def _tidy(self, old: AbstractSet[str]) -> list[str]:
        """Close what was opened first once too much is open: it has likely left the client's context too.

        Args:
            old: What may be closed: not what this call was about.
        """
        closing = tuple(section_id for section_id in choose_closing(self.session.state) if section_id in old)
        if not closing:
            return []
        closed: tuple[str, ...] = ()
        async for event in self.session.dispatch(CollapseSections(section_ids=closing, origin=Origin.AGENT)):
            if isinstance(event, SectionsClosed):
                closed += event.section_ids
        return [f"(Closed, because much is open: {', '.join(closed)}.)"] if closed else []


def list_tools(library: Library, *, has_search: bool) -> Mapping[str, Tool]:
    """Return the tools by name: the agent's, and what stands in the agent's messages anyway."""
    documents, outline = DocumentsTool(), OutlineTool()
    tools = make_tools(library, has_search=has_search)
    return {documents.spec.name: documents, outline.spec.name: outline, **tools}


def list_specs(library: Library, *, has_search: bool) -> list[ToolSpec]:
    """Return the tools as a client is told of them."""
    return [_adapt_spec(tool.spec) for tool in list_tools(library, has_search=has_search).values()]


def _adapt_spec(spec: ToolSpec) -> ToolSpec:
    """Return what a client is told of a tool: the server knows of no question."""
    if spec.name == CollapseTool.spec.name:
        return replace(spec, description=_COLLAPSE_DESCRIPTION)
    properties = spec.parameters["properties"]
    if spec.name == SEARCH_NAME and isinstance(properties, dict):
        within = {**properties["within"], "description": _WITHIN_DESCRIPTION}
        return replace(spec, parameters={**spec.parameters, "properties": {**properties, "within": within}})
    return spec
