"""What conversations have spent, and are about to spend, of a limit."""


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

    def settle(self, conversation_id: str, usd: float) -> None:
        """Replace what a conversation has reserved by what it has cost."""
        self._usd_by_conversation[conversation_id] = usd
