"""What a person must agree to before a request: to spend more than a limit, or to use another model."""

from threading import Lock

from msgspec.structs import replace

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import WarningRaised
from roamtui.conversation.library_loader import ApprovalRequest, deny
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.notices import format_cost
from roamtui.errors import UsageError
from roamtui.models.base import Model
from roamtui.models.usage import Release, add_cost
from roamtui.search.base import EmbeddingPlan
from roamtui.text import format_count, format_tokens


def format_embedding(plan: EmbeddingPlan) -> str:
    """Say what a server would read to embed the sections of a document."""
    cost = format_cost(Usage(cost_usd=plan.cost_usd))
    sections = format_count(plan.sections, "section")
    tokens = format_tokens(plan.tokens)
    return f"{plan.embedder} will read {sections}, about {tokens} tokens{f' ({cost})' if cost else ''}."


class SpendingLimit:
    """A spending limit for each conversation or, if it is shared, for all together. Thread-safe."""

    def __init__(self, usd_max: float | None = None, *, is_shared: bool = False) -> None:
        """Start with nothing spent. Without `usd_max`, there is no limit."""
        self.usd_max = usd_max
        self._is_shared = is_shared
        self._usd_by_account: dict[str, float] = {}
        """What each account has spent, without unknown costs. The account is a conversation id."""
        self._reserved: list[tuple[str, float]] = []
        """The account and the expected cost of each running request."""
        self._lock = Lock()

    def reserve(self, account: str, spent: Usage, request: Usage) -> Release | None:
        """Reserve the expected cost of a request for an account that has `spent` this much so far.

        Return None if this request and all running ones could exceed the limit. Otherwise, return a function
        to call once the request has ended. Its argument is what the account has spent by then.
        """
        reservation = (account, request.cost_usd or 0.0)
        with self._lock:
            self._record(account, spent)
            amounts = [*self._usd_by_account.items(), *self._reserved, reservation]
            total = sum(usd for owner, usd in amounts if self._is_shared or owner == account)
            if self.usd_max is not None and total > self.usd_max:
                return None
            self._reserved.append(reservation)

        def release(spent: Usage) -> None:
            with self._lock:
                self._record(account, spent)
                self._reserved.remove(reservation)

        return release

    def _record(self, account: str, spent: Usage) -> None:
        before = self._usd_by_account.get(account, 0.0)
        self._usd_by_account[account] = max(before, spent.cost_usd or 0.0)


class ApprovalGuard:
    """Asks the person before the conversation sends a request that they must agree to."""

    def __init__(self, conversation: Conversation, spending: SpendingLimit) -> None:
        self._conversation = conversation
        self._spending = spending
        self._is_limit_lifted = False
        """Whether the person lifted the spending limit for the current question."""
        self._agreement: tuple[Model, int] | None = None
        """A model that the person chose or agreed to, for the conversation with this `switch_count`."""

    def approve_model(self, model: Model) -> None:
        """Record that the person agreed to a model for the current conversation."""
        self._agreement = model, self._conversation.switch_count

    async def require_approved_model(self, model: Model) -> None:
        """Ask whether a conversation may change to another model or server. Raise `UsageError` if not.

        No agreement is needed for a model that the person chose, or for no model, because then nothing is
        sent. If nobody can be asked, such a change is published as a warning, and any other is refused.
        """
        state = self._conversation.state
        is_new = not (state.model or state.exchanges)
        has_same_server = model.facts.server is not None and model.facts.server == state.server
        is_same = model.name == state.model and (model.name == OFFLINE or has_same_server)
        before = format_model(state.model, state.server)
        now = format_model(model.name, model.facts.server)
        detail = f"So far: {before}. Next: {now}."
        is_approved = self._agreement == (model, self._conversation.switch_count)
        can_ask = self._conversation.approver is not deny
        if is_new or is_same:
            pass
        elif is_approved or model.name == OFFLINE:
            if not can_ask:
                hint = "" if is_approved else " To choose, add --model."
                warning = f"This conversation continues with another model or server. {detail}{hint}"
                self._conversation.publish(WarningRaised(message=warning))
        elif not can_ask:
            raise UsageError(
                f"this conversation was with {before}, and its next question would go to {now}."
                " To allow it, name the model with --model, or its server with --api-base."
            )
        else:
            question = "Continue this conversation with another model or server?"
            approval = ApprovalRequest(question=question, detail=detail, yes="Continue")
            if not await self._conversation.approver(approval):
                raise UsageError(f"The question was not sent to {now}. Choose another model with --model.")
        self.approve_model(model)

    def reserve(self, unrecorded: Usage, request: Usage) -> Release | None:
        """Reserve the expected cost of a request of the conversation, as `SpendingLimit` does. Thread-safe.

        `unrecorded` is usage that the conversation has not recorded yet.
        """
        if self._is_limit_lifted:
            return lambda _: None
        conversation = self._conversation
        account = conversation.state.id
        release = self._spending.reserve(account, conversation.state.spent + unrecorded, request)
        if release is None:
            return None

        def release_conversation(unrecorded: Usage) -> None:
            state = conversation.state
            # the person may have switched to another conversation
            release(state.spent + unrecorded if state.id == account else Usage())

        return release_conversation

    async def reserve_or_ask(self, model: Model, sent: Usage, reply_tokens: int) -> Release | None:
        """Reserve the cost of a request and its reply, or else ask the person. Return None if they decline.

        If they agree, there is no limit until `restore_spending_limit`. A request with unknown prices counts
        as free.
        """
        request = replace(sent, output_tokens=reply_tokens, cost_usd=None)
        release = self.reserve(Usage(), add_cost(request, model.facts.prices))
        if release is not None:
            return release
        spent = format_cost(self._conversation.state.spent) or "nothing"
        approval = ApprovalRequest(
            question="This question may cost more than your spending limit.",
            detail=f"Spent so far: {spent}. Your limit is ${self._spending.usd_max:,.10g}.",
            yes="Continue this question",
        )
        self._is_limit_lifted = await self._conversation.approver(approval)
        return (lambda _: None) if self._is_limit_lifted else None

    def restore_spending_limit(self) -> None:
        """Apply the spending limit to the next question again."""
        self._is_limit_lifted = False


def format_model(name: str, server: str | None) -> str:
    """Format a model with its server."""
    if name == OFFLINE:
        return name
    place = "its provider" if server == "" else server or "an unknown server"
    return f"{name or 'an unknown model'} at {place}"
