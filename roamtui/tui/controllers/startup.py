"""Work that starts once the first screen is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.message import Message

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.log import ConversationSummary
from roamtui.errors import StoreError
from roamtui.tui.messages import StatusMessage


async def index_with_progress(agent: Agent, post_message: Callable[[Message], object]) -> None:
    """Bring the search index of a large source up to date before a question needs it, and post the progress."""
    loop, has_reported = asyncio.get_running_loop(), False

    def report(done: int, total: int) -> None:
        nonlocal has_reported
        has_reported = True
        # Called in another thread, where no message may be posted.
        words = f"Indexing {done:,} of {total:,} sections…"
        loop.call_soon_threadsafe(post_message, StatusMessage(words, is_progress=True))

    try:
        await agent.index_ahead(report)
    finally:
        if has_reported:
            post_message(StatusMessage(""))


async def list_saved_conversations(conversation: Conversation) -> tuple[ConversationSummary, ...]:
    """List the other answered conversations about the same document, but for those of `roamtui ask`.

    Empty if they cannot be read.
    """
    state, store = conversation.state, conversation.store
    if store is None or store.problem:
        return ()
    try:
        summaries = await asyncio.to_thread(store.list, get_source_key(state.library))
    except StoreError:
        return ()
    return tuple(
        summary for summary in summaries if summary.is_answered and not summary.is_one_shot and summary.id != state.id
    )
