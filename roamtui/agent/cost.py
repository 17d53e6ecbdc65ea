"""What the questions of a conversation have cost: a person is asked before it passes what they set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState


def sum_cost(state: ConversationState) -> float:
    """Return what the finished questions of a conversation have cost, in US dollars, as far as it is known."""
    return sum(exchange.usage.cost_usd or 0.0 for exchange in state.transcript.exchanges)
