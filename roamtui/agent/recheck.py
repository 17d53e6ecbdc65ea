"""Check the quotes of a conversation's answers again."""

from __future__ import annotations

import asyncio
from itertools import chain

from roamtui.conversation.conversation import Conversation
from roamtui.quotes.recheck import update_citations


async def check_answers_again(conversation: Conversation) -> int:
    """Look up the quotes of all answers in the current document. Return how many verdicts have changed."""
    async with conversation.lock:
        events = await asyncio.to_thread(update_citations, conversation.state)
        before = {exchange.number: exchange.citations for exchange in conversation.state.exchanges}
        if events:
            await conversation.apply(events)
    pairs = chain.from_iterable(zip(before[event.number], event.citations, strict=True) for event in events)
    return sum(old.state is not new.state for old, new in pairs)
