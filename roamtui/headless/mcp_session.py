"""The tools of `roamtui mcp` without the protocol: the library that is served, and what its client has open."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from roamtui.agent.tools import make_tools
from roamtui.agent.tools.base import Tool, ToolContext, ToolResponse, parse_number
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.documents import DocumentsTool
from roamtui.conversation.commands import CloseSections, Origin
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ExpandStatus, SectionsClosed, ToolFinished
from roamtui.conversation.question_flow import select_sections_to_close
from roamtui.conversation.state import OpenSectionOptions
from roamtui.document.library import Library
from roamtui.document.loader import Loader, load_files
from roamtui.document.plain import sanitise_line, sanitise_text, shorten
from roamtui.errors import RoamtuiError, UsageError
from roamtui.models.base import ToolSpec
from roamtui.outline.render import OUTLINE_TOKENS, render_outline
from roamtui.search.base import Searcher

CALL_TOKENS_MAX = 20_000
"""Maximum number of tokens of section text per call, because some clients refuse results of more than 25,000 tokens."""
_OUTLINE_NAME = "outline"
_OUTLINE_TOKENS_MIN = 200
_OUTLINE_TOKENS_MAX = 12_000
_COLLAPSE_DESCRIPTION = (
    "Say which open sections are of no further use, or have left your context. expand_sections gives the text of a "
    "closed section again."
)
_CHANGED_NOTE = (
    "(The source has changed and was read again. Nothing is open any more, and ids of sections that moved are others: "
    "read the outline again.)"
)
_REPEATED_NOTE = (
    "(What is open already was given to this client before. If its text is not in your context, close it with "
    "collapse_sections and open it again.)"
)
_CHECK_SECONDS = 2.0
"""Minimum interval between checks for changed sources."""


class McpSession:
    """A library that is served to one client, and what the client has open: a conversation without questions.

    The files are loaded with the first call, and again after they have changed.
    """

    def __init__(
        self,
        read: Callable[[], tuple[Library, Loader | None]],
        options: OpenSectionOptions,
        make_searcher: Callable[[Library], Searcher | None] | None = None,
        read_stamps: Callable[[], object] = lambda: None,
    ) -> None:
        """Open the library.

        Args:
            read: Opens the source. Returns its library, and a loader for the files that are not loaded yet.
            options: Budget for the sections that the client has open.
            make_searcher: Creates the searcher, or None if search is off.
            read_stamps: Returns a value that changes with the source.

        Raises:
            RoamtuiError: The source cannot be opened.
        """
        self._read, self._options, self._make_searcher, self._read_stamps = read, options, make_searcher, read_stamps
        self._stamps = read_stamps()
        library, self._loader = read()
        self.conversation = Conversation(library, options=options, loader=self._loader)
        self._searcher: Searcher | None = None
        self._is_loaded = False
        self._checked_at = 0.0
        self._has_changed = False
        """Whether the next result says that the source has changed."""
        self._loading = threading.Lock()
        self._calling = asyncio.Lock()
        """Held while a tool runs, because a client may call several at once."""

    @property
    def library(self) -> Library:
        """The library as it was read last."""
        return self.conversation.state.library

    def list_specs(self) -> list[ToolSpec]:
        """Return the specifications of the tools. Unlike the agent's, they do not mention its questions."""
        specs = [tool.spec for tool in self._list_tools().values()]
        shown = CollapseTool.spec
        return [replace(spec, description=_COLLAPSE_DESCRIPTION) if spec == shown else spec for spec in specs]

    def _list_tools(self) -> Mapping[str, Tool]:
        # The agent has the list of documents only if there are several, and reads the outline in its prompt.
        documents, outline = DocumentsTool(), OutlineTool()
        tools = make_tools(self.library, has_search=self._make_searcher is not None)
        return {documents.spec.name: documents, outline.spec.name: outline, **tools}

    def _refresh(self) -> None:
        with self._loading:
            library, loader, stamps = self.library, self._loader, self._stamps
            if self._is_loaded:
                if time.monotonic() - self._checked_at < _CHECK_SECONDS:
                    return
                self._checked_at = time.monotonic()
                if (stamps := self._read_stamps()) == self._stamps:
                    return
                try:
                    library, loader = self._read()
                except RoamtuiError:  # the previous library stays
                    return
            if loader is not None:
                library = load_files(library, loader)
            self._searcher = self._make_searcher(library) if self._make_searcher is not None else None
            self.conversation = Conversation(library, options=self._options, loader=loader)
            self._has_changed = self._is_loaded
            self._loader, self._stamps, self._is_loaded = loader, stamps, True

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool, and return its result for the client's model.

        Raises:
            RoamtuiError: There is no such tool, or it failed.
        """
        async with self._calling:
            await asyncio.to_thread(self._refresh)
            tools = self._list_tools()
            if name not in tools:
                shown = shorten(sanitise_line(name), 60)
                raise UsageError(f'There is no tool "{shown}". The tools are {", ".join(tools)}.')
            context = ToolContext(conversation=self.conversation, searcher=self._searcher, room_tokens=CALL_TOKENS_MAX)
            open_before = self.conversation.state.open_ids
            outcome = await tools[name].run(arguments, context)
            results, notes = outcome.finished.results, list[str]()
            if any(status == ExpandStatus.ALREADY_OPEN for _, status in results):
                notes.append(_REPEATED_NOTE)
            # The oldest sections have probably left the client's context too. The sections of this call stay.
            earlier = set(open_before).difference(requested for requested, _ in results)
            to_close = select_sections_to_close(self.conversation.state)
            if closing := tuple(section_id for section_id in to_close if section_id in earlier):
                events = await self.conversation.execute(CloseSections(section_ids=closing, origin=Origin.AGENT))
                closed = [one for event in events if isinstance(event, SectionsClosed) for one in event.section_ids]
                notes += [f"(Closed, because much is open: {', '.join(closed)}.)"] if closed else []
            if self._has_changed:
                self._has_changed = False
                notes.append(_CHANGED_NOTE)
            return sanitise_text("\n\n".join([outcome.text, *notes]))


class OutlineTool:
    """Renders the outline within a token budget."""

    spec = ToolSpec(
        name=_OUTLINE_NAME,
        description=(
            "Read the outline: the headings, each with the id of a section that expand_sections opens, its size and a "
            "hint of what it holds. Read it before anything else."
        ),
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

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
        """Return the outline. An invalid budget is replaced by the default, and a budget out of bounds is clamped."""
        low, high = _OUTLINE_TOKENS_MIN, _OUTLINE_TOKENS_MAX
        budget = parse_number(arguments.get("budget"), default=OUTLINE_TOKENS, low=low, high=high)
        text = render_outline(context.conversation.state.library, budget_tokens=budget)
        return ToolResponse(text=text, finished=ToolFinished(tool=_OUTLINE_NAME))
