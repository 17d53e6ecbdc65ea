"""The tools of `roamtui mcp` without the protocol: the library that is served, and what its client has open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from roamtui.agent.tools import make_tools
from roamtui.agent.tools.base import Tool, ToolContext, ToolResponse, parse_number
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.documents import DocumentsTool
from roamtui.agent.tools.search import NAME as SEARCH_NAME
from roamtui.conversation.commands import CloseSections, Origin
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ExpandStatus, SectionsClosed, ToolFinished
from roamtui.conversation.question_flow import select_sections_to_close
from roamtui.conversation.state import OpenSectionOptions
from roamtui.document.library import Library
from roamtui.document.loader import Loader, load_files
from roamtui.document.plain import sanitise_line, sanitise_text, shorten
from roamtui.errors import RoamtuiError
from roamtui.models.base import ToolSpec
from roamtui.outline.render import OUTLINE_TOKENS, render_outline
from roamtui.search.base import Searcher

CALL_TOKENS_MAX = 20_000
"""Maximum number of tokens of section text per call, because some clients refuse results of more than 25,000 tokens."""
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
_CHANGED_NOTE = (
    "(The source has changed and was read again. Nothing is open any more, and ids of sections that moved are others: "
    "read the outline again.)"
)
_REPEATED_NOTE = (
    "(What is open already was given to this client before. If its text is not in your context, close it with "
    "collapse_sections and open it again.)"
)
ProgressCallback = Callable[[int, int], Awaitable[None]]
"""Receives the number of loaded files and the total."""
LibraryReader = Callable[[], tuple[Library, Loader | None]]
"""Opens the source. Returns its library, and a loader for the files that are not loaded yet."""

_REPORT_SECONDS = 0.2
"""Interval between progress reports."""
_CHECK_SECONDS = 2.0
"""Minimum interval between checks for changed sources."""


class ServedLibrary:
    """A library that is loaded once, and again after it has changed."""

    def __init__(
        self,
        read: LibraryReader,
        *,
        options: OpenSectionOptions,
        make_searcher: Callable[[Library], Searcher | None] | None = None,
        read_stamps: Callable[[], object] | None = None,
    ) -> None:
        """Open the library. Its files are loaded with the first call of `load`.

        Args:
            read: Opens the source, now and after each change.
            options: Budget for the sections that a client has open.
            make_searcher: Creates the searcher, or None if search is off.
            read_stamps: Returns a value that changes with the source, or None to ignore changes.

        Raises:
            RoamtuiError: The source cannot be opened.
        """
        self._read_stamps = read_stamps or (lambda: None)
        self._stamps = self._read_stamps()
        self._read = read
        self.library, self.loader = read()
        self.options = options
        self.searcher: Searcher | None = None
        self._make_searcher = make_searcher
        self.has_search = make_searcher is not None
        self._files_loaded, self._files_total = 0, len(self.library.list_unloaded_files())
        self._loading: asyncio.Task[None] | None = None
        self._checked_at = 0.0

    async def load(self, report: ProgressCallback) -> None:
        """Load the files, or reload them if they changed."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load(self.library, self.loader))
        elif self._loading.done() and (self._loading.exception() is not None or await self._has_changed()):
            self._loading = asyncio.create_task(self._reload())
        loading, reported = self._loading, -1
        while not loading.done():
            if self._files_total and self._files_loaded != reported:
                reported = self._files_loaded
                await report(reported, self._files_total)
            await asyncio.wait({loading}, timeout=_REPORT_SECONDS)
        if reported != -1:
            await report(self._files_total, self._files_total)
        loading.result()

    async def _has_changed(self) -> bool:
        # Checks at most once per interval.
        if time.monotonic() - self._checked_at < _CHECK_SECONDS:
            return False
        self._checked_at = time.monotonic()
        stamps = await asyncio.to_thread(self._read_stamps)
        has_changed, self._stamps = stamps != self._stamps, stamps
        return has_changed

    async def _reload(self) -> None:
        # If the source cannot be read now, the previous library stays.
        try:
            library, loader = await asyncio.to_thread(self._read)
        except RoamtuiError:
            return
        self._files_loaded, self._files_total = 0, len(library.list_unloaded_files())
        await self._load(library, loader)

    async def _load(self, library: Library, loader: Loader | None) -> None:
        if loader is not None:

            def record_progress(done: int, _total: int) -> None:
                self._files_loaded = done

            library = await asyncio.to_thread(load_files, library, loader, record_progress)
        searcher = self.searcher
        if self._make_searcher is not None:
            searcher = await asyncio.to_thread(self._make_searcher, library)
        self.library, self.loader, self.searcher = library, loader, searcher


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """Result of a tool call."""

    text: str
    is_error: bool = False


class OutlineTool:
    """Renders the outline within a token budget."""

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

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
        """Return the outline. An invalid budget is replaced by the default, and a budget out of bounds is clamped."""
        low, high = _OUTLINE_TOKENS_MIN, _OUTLINE_TOKENS_MAX
        budget = parse_number(arguments.get("budget"), default=OUTLINE_TOKENS, low=low, high=high)
        text = render_outline(context.conversation.state.library, budget_tokens=budget)
        return ToolResponse(text=text, finished=ToolFinished(tool=_OUTLINE_NAME))


class ClientSession:
    """What the client has open: a conversation without questions, because they are asked in the client."""

    def __init__(self, served: ServedLibrary, *, has_changed: bool = False) -> None:
        """Start with nothing open.

        `has_changed` means that the library has changed since the client's last call, so the next result says so.
        """
        self._has_changed = has_changed
        self.has_called = False
        """Whether the client has called a tool."""
        self._served = served
        self.library = served.library
        """The library when the session started."""
        self.conversation = Conversation.start(served.library, options=served.options, loader=served.loader)
        self._tools = list_tools(served.library, has_search=served.has_search)

    async def call(self, name: str, arguments: Mapping[str, object]) -> CallResult:
        """Run a tool. Errors are returned as text."""
        self.has_called = True
        tool = self._tools.get(name)
        if tool is None:
            shown = shorten(sanitise_line(name), 60)
            return CallResult(
                text=f'There is no tool "{shown}". The tools are {", ".join(self._tools)}.', is_error=True
            )
        context = ToolContext(
            conversation=self.conversation, searcher=self._served.searcher, room_tokens=CALL_TOKENS_MAX
        )
        open_before = self.conversation.state.open_ids
        try:
            outcome = await tool.run(arguments, context)
            results = outcome.finished.results
            notes = [_REPEATED_NOTE] if any(result.status == ExpandStatus.ALREADY_OPEN for result in results) else []
            # The oldest sections have probably left the client's context too. The sections of this call stay.
            state = self.conversation.state
            earlier = set(open_before).difference(result.id for result in results)
            closing = tuple(node_id for node_id in select_sections_to_close(state) if node_id in earlier)
            closed_ids: tuple[str, ...] = ()
            if closing:
                for event in await self.conversation.execute(CloseSections(section_ids=closing, origin=Origin.AGENT)):
                    if isinstance(event, SectionsClosed):
                        closed_ids += event.section_ids
            if closed_ids:
                notes.append(f"(Closed, because much is open: {', '.join(closed_ids)}.)")
        except RoamtuiError as error:
            return CallResult(text=sanitise_text(f"{name} failed: {error}"), is_error=True)
        if self._has_changed:
            self._has_changed = False
            notes.append(_CHANGED_NOTE)
        return CallResult(text=sanitise_text("\n\n".join([outcome.text, *notes])))


def list_tools(library: Library, *, has_search: bool) -> Mapping[str, Tool]:
    """Return the tools by name: those of the agent, the list of documents, and the outline.

    The agent has the list of documents only if there are several, and reads the outline in its prompt.
    """
    documents, outline = DocumentsTool(), OutlineTool()
    tools = make_tools(library, has_search=has_search)
    return {documents.spec.name: documents, outline.spec.name: outline, **tools}


def list_specs(library: Library, *, has_search: bool) -> list[ToolSpec]:
    """Return the specifications of the tools for MCP clients. Unlike the agent's, they do not mention its questions."""
    specs = {name: tool.spec for name, tool in list_tools(library, has_search=has_search).items()}
    collapse = CollapseTool.spec.name
    specs[collapse] = replace(specs[collapse], description=_COLLAPSE_DESCRIPTION)
    if (spec := specs.get(SEARCH_NAME)) is not None:
        properties = spec.parameters["properties"]
        assert isinstance(properties, dict)
        within = {**properties["within"], "description": _WITHIN_DESCRIPTION}
        specs[SEARCH_NAME] = replace(
            spec, parameters={**spec.parameters, "properties": {**properties, "within": within}}
        )
    return list(specs.values())
