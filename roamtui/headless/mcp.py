"""`roamtui mcp`: serves the agent's tools over the Model Context Protocol.

Several chats of a client may use one server, which cannot tell them apart. So no section stays open: each
call gets the full text of what it asks for.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence

from roamtui.agent.specs import list_served_specs
from roamtui.agent.tool_calls import TOOLS
from roamtui.agent.tools import ToolContext, outline, quotes
from roamtui.conversation.conversation import Conversation
from roamtui.document.library import Library
from roamtui.errors import UsageError
from roamtui.opening.loader import OpenedSource, load_pending
from roamtui.output import write_notice
from roamtui.sanitiser import sanitise_line, sanitise_text
from roamtui.search.searcher import Searcher
from roamtui.sources.stamps import FileStamps
from roamtui.text import shorten

_TOOLS = {**TOOLS, **{tool.spec.name: tool for tool in (outline.TOOL, quotes.TOOL)}}
CALL_TOKENS_MAX = 20_000
"""Maximum tokens of section text per call, because some clients refuse results of over 25,000."""
_CHANGED_NOTE = (
    "(The source has changed and was read again. Sections that moved have new ids: read the outline again.)"
)
_CHECK_SECONDS = 2.0
"""Minimum interval between checks for changed sources."""


class McpSession:
    """A library that is served to a client. All its files are loaded, and again after they have changed."""

    def __init__(
        self,
        read: Callable[[], OpenedSource],
        make_searcher: Callable[[Library], Searcher | None] | None = None,
        sources: Sequence[str] = (),
    ) -> None:
        """Serve the library that `read` returns, with a loader for its files that are not loaded yet.

        Without `make_searcher`, search is off. `sources` are the files and folders to watch for changes.
        """
        specs = list_served_specs(has_search=make_searcher is not None)
        self._tools = {spec.name: _TOOLS[spec.name] for spec in specs}
        self._read = read
        self._make_searcher = make_searcher
        self._files = FileStamps(sources)
        self._stamps = self._files.read()
        self._opened: OpenedSource | None = None
        """The library with all its files. None before it is read."""
        self._has_unreported_change = False
        """Whether the library was read again and no result has said so yet."""
        self._searcher: Searcher | None = None
        self._checked_at = -math.inf
        """When a call last looked at the files for changes."""
        self._refreshing: asyncio.Task[OpenedSource] | None = None
        """The newest refresh. If its call is cancelled, its thread continues, and the next call joins it."""
        self._calling = asyncio.Lock()
        """Held while the source is opened or a tool runs, because a client may call several at once."""

    async def open(self) -> None:
        """Read the source, so that the first call is quick. Raise `RoamtuiError` if it cannot be opened."""
        async with self._calling:
            await asyncio.to_thread(self._refresh)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool, and return its result for the client's model, or raise `RoamtuiError`."""
        if name not in self._tools:
            shown = shorten(sanitise_line(name), 60)
            raise UsageError(f'There is no tool "{shown}". The tools are {", ".join(self._tools)}.')
        async with self._calling:
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = asyncio.create_task(asyncio.to_thread(self._refresh))
            library, loader = await asyncio.shield(self._refreshing)
            conversation = Conversation(library, source_loader=loader)
            context = ToolContext(
                conversation=conversation, searcher=self._searcher, room_tokens=CALL_TOKENS_MAX
            )
            outcome = await self._tools[name].run(arguments, context)
        if outcome.is_refused:
            raise UsageError(outcome.text)
        notes = [_CHANGED_NOTE] if self._has_unreported_change else []
        self._has_unreported_change = False
        return sanitise_text("\n\n".join([outcome.text, *notes]))

    def _refresh(self) -> OpenedSource:
        """Return the library and its loader. Read the source again if it has changed. Called in a thread."""
        if time.monotonic() - self._checked_at >= _CHECK_SECONDS:
            stamps = self._files.read()
            if stamps != self._stamps:
                self._has_unreported_change |= self._opened is not None
                self._opened = None
            self._stamps = stamps
            self._checked_at = time.monotonic()
        if self._opened is None:
            library, loader = self._read()
            write_notice(*library.notes)
            library = library if loader is None else load_pending(library, loader)
            self._searcher = self._make_searcher(library) if self._make_searcher is not None else None
            self._opened = OpenedSource(library, loader)
        return self._opened
