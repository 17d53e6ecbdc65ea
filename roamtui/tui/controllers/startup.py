"""Work that starts once the first screen is shown.

A quote is stale if it was verified once and is no longer in its document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.message import Message

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.log import ConversationSummary
from roamtui.conversation.notes import NoteStore
from roamtui.errors import StoreError
from roamtui.tui.chat.content_view import ConversationTarget, NotesTarget
from roamtui.tui.chat.welcome import StaleQuote
from roamtui.tui.messages import StatusMessage

_RECHECKED_CONVERSATIONS_MAX = 10
"""Maximum number of conversations whose quotes are looked up. Each takes some milliseconds."""


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


async def recheck_saved_quotes(
    conversation: Conversation, saved: tuple[ConversationSummary, ...]
) -> tuple[StaleQuote, ...]:
    """Look up the quotes of the notes and of saved conversations. Return the stale ones, each once."""
    store, library = conversation.store, conversation.state.library
    if store is None:
        return ()

    def look_up() -> tuple[StaleQuote, ...]:
        from roamtui.quotes.recheck import list_stale_quotes  # noqa: PLC0415 - not for the first screen

        content_hash = library.content_hash
        notes = NoteStore(store.notes_folder, get_source_key(library)).read()
        noted = list_stale_quotes((note.citation for note in notes), library)
        stale_by_quote = {quote: StaleQuote(quote, NotesTarget()) for quote in noted}
        for summary in saved[:_RECHECKED_CONVERSATIONS_MAX]:
            try:
                state = store.load(summary.id)
            except StoreError:
                continue
            # With the same hash, quotes were verified in this very text. With other sources, they are from other texts.
            if state.content_hash != content_hash and state.sources == library.sources:
                citations = (citation for exchange in state.transcript.exchanges for citation in exchange.citations)
                target = ConversationTarget(summary.id)
                found = {quote: StaleQuote(quote, target) for quote in list_stale_quotes(citations, library)}
                # A quote keeps the first place where it was found: a note, or else the newest conversation.
                stale_by_quote = found | stale_by_quote
        return tuple(stale_by_quote.values())

    return await asyncio.to_thread(look_up)
