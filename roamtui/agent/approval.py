"""What a person is asked before it happens. A front end without a person denies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState


@dataclass(frozen=True, slots=True, kw_only=True)
class CostApproval:
    """The next request may take the conversation past its spending cap."""

    spent_usd: float
    cap_usd: float


class Approver(Protocol):
    """Somebody who can say yes."""

    async def approve(self, approval: CostApproval) -> bool:
        """Return whether it may be done."""
        ...


class Denier:
    """Says no to everything: where no person can be asked."""

    async def approve(self, approval: CostApproval) -> bool:  # noqa: ARG002 - the answer is always no
        """Return False."""
        return False


def sum_cost(state: ConversationState) -> float:
    """Return what the finished questions of a conversation have cost, in US dollars, as far as it is known."""
    return sum(exchange.usage.cost_usd or 0.0 for exchange in state.transcript.exchanges)
