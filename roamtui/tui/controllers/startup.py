"""Work that starts once the first screen is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.message import Message

from roamtui.agent.controller import ConversationController
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.session import Session
from roamtui.errors import StoreError
from roamtui.tui.messages import StatusMessage


async def index_ahead(controller: ConversationController, post_message: Callable[[Message], object]) -> None:
    """Bring the search index of a large source up to date before a question needs it, and post the progress."""
    loop, has_reported = asyncio.get_running_loop(), False

    def report(done: int, total: int) -> None:
        nonlocal has_reported
        has_reported = True
        # Called in another thread, where no message may be posted.
        loop.call_soon_threadsafe(post_message, StatusMessage(f"Indexing {done:,} of {total:,} sections…"))

    try:
        await controller.index_ahead(report)
    finally:
        if has_reported:
            post_message(StatusMessage(""))


async def count_earlier(session: Session) -> int:
    """Return how many other conversations about the same document have an answer; 0 if they cannot be read."""
    state, store = session.state, session.store
    if store is None or store.problem:
        return 0
    try:
        summaries = await asyncio.to_thread(store.list, get_source_key(state.library))
    except StoreError:
        return 0
    return sum(summary.is_answered and summary.id != state.id for summary in summaries)
