"""What a person must agree to before a request: to spend more than a limit."""

from msgspec.structs import replace

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Usage
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.notices import format_cost
from roamtui.models.base import Model
from roamtui.models.usage import add_cost


class SpendingLimit:
    """A limit that holds for each conversation, or, if it is shared, for all of them together."""

    def __init__(self, usd_max: float | None = None, *, is_shared: bool = False) -> None:
        """Start with nothing spent. Without `usd_max`, there is no limit."""
        self.usd_max = usd_max
        self._is_shared = is_shared
        self._usd_by_conversation: dict[str, float] = {}
        """Spent or about to be spent."""

    def reserve(self, conversation_id: str, usd: float) -> bool:
        """Reserve `usd` in all for a conversation, if that is within the limit. Return whether it was."""
        earlier = self._usd_by_conversation if self._is_shared else {}
        reserved = {**earlier, conversation_id: usd}
        if self.usd_max is not None and sum(reserved.values()) > self.usd_max:
            return False
        self._usd_by_conversation = reserved
        return True

    def settle(self, conversation_id: str, usage: Usage) -> None:
        """Replace what a conversation has reserved by what is known of its cost."""
        self._usd_by_conversation[conversation_id] = usage.cost_usd or 0.0


class Consent:
    """Asks the person before a request of a conversation that they must agree to."""

    def __init__(self, conversation: Conversation, spending: SpendingLimit) -> None:
        self._conversation = conversation
        self._spending = spending
        self._unlimited_id = ""
        """Id of the conversation whose spending limit the person lifted."""

    async def confirm_spending(self, model: Model, sent: Usage, reply_tokens: int) -> bool:
        """Check whether a request and its reply stay below the limit, or else whether the person agrees.

        Without known prices, they count as free.
        """
        state = self._conversation.state
        limit = self._spending.usd_max
        if limit is None or self._unlimited_id == state.id:
            return True
        spent = state.spent.cost_usd or 0.0
        request = replace(sent, output_tokens=reply_tokens, cost_usd=None)
        if self._spending.reserve(state.id, spent + (add_cost(request, model.prices).cost_usd or 0.0)):
            return True
        self._spending.settle(state.id, state.spent)
        question = "The next request may exceed your spending limit."
        detail = f"Spent so far: {format_cost(state.spent) or 'nothing'}. Your limit is ${limit:g}."
        approval = ApprovalRequest(question=question, detail=detail, yes="Continue")
        is_approved = await self._conversation.approver(approval)
        if is_approved:
            self._unlimited_id = state.id
        return is_approved
