"""`Agent`: takes the questions of one conversation, and answers them one at a time."""

import asyncio

from roamtui.agent.approvals import ApprovalGuard, SpendingLimit
from roamtui.agent.document_search import DocumentSearch
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import QuestionReceived, WarningRaised
from roamtui.conversation.question_flow import has_exchange
from roamtui.conversation.state import Exchange
from roamtui.conversation.update import AskOptions, ChooseAnswer
from roamtui.models.base import Model
from roamtui.models.usage import UsageMeter
from roamtui.search.searcher import Searcher


class Agent:
    """Answers questions in one conversation with one model at a time."""

    def __init__(
        self,
        conversation: Conversation,
        model: Model,
        searcher: Searcher | None = None,
        options: AgentOptions | None = None,
        spending: SpendingLimit | None = None,
    ) -> None:
        """Answer with `model`. Without a searcher, the model gets no `search_sections` tool.

        `spending` is a limit that agents share. Without it, each conversation may spend `cost_usd_max` of
        the `options`.
        """
        self.conversation = conversation
        self.model = model
        self.options = options or AgentOptions()
        spending = spending or SpendingLimit(self.options.cost_usd_max)
        self._approvals = ApprovalGuard(conversation, spending)
        reserve = None if spending.usd_max is None else self._approvals.reserve
        self.search = DocumentSearch(conversation, searcher, UsageMeter(reserve))

    def use_model(self, model: Model) -> None:
        """Answer with a model that the person chose for this conversation."""
        self.model = model
        self._approvals.approve_model(model)

    @property
    def model_note(self) -> str:
        """What a person should know about the model. Empty once it has answered in this conversation."""
        exchanges = self.conversation.state.exchanges
        has_answered = any(each.answer and each.model == self.model.name for each in exchanges)
        return "" if has_answered else self.model.note

    async def ask(self, question: str, options: AskOptions = AskOptions()) -> Exchange | None:
        """Answer a question when it is its turn. Cancelling the task keeps the answer so far.

        Return None if the person switched to another conversation while the question waited, or if
        the exchange that it replaces is gone. Before anything has changed, raise `UnknownSectionError`
        for an unknown section, `UsageError` if the person does not agree to another model, or another
        `RoamtuiError` if a required search fails. If the model fails, the exchange has the error.
        """
        from roamtui.agent.answer_loop import AnswerLoop  # noqa: PLC0415

        conversation = self.conversation
        asked_in = conversation.switch_count
        async with conversation.lock:
            replaced = options.replaces
            exchanges = conversation.state.exchanges
            is_there = replaced is None or has_exchange(conversation.state, replaced)
            if conversation.switch_count != asked_in or not is_there:
                return None
            conversation.refused_origins.clear()
            conversation.publish(QuestionReceived(question=question, starts_model=not self.model.is_started))
            loop = AnswerLoop(
                conversation=conversation,
                model=self.model,
                search=self.search,
                approvals=self._approvals,
                options=self.options,
            )
            try:
                with self.search.meter.charging():
                    await loop.answer(question, options)
            finally:
                self._approvals.restore_spending_limit()
                if conversation.state.exchanges is not exchanges:
                    await self._restore_replaced_answer()
            return conversation.state.exchanges[-1]

    async def _restore_replaced_answer(self) -> None:
        """Choose the earlier answer again if the new one is an error or empty."""
        conversation = self.conversation
        exchange = conversation.state.exchanges[-1]
        if exchange.earlier and (exchange.error or not exchange.answer):
            latest = len(exchange.earlier) - 1
            await conversation.execute(ChooseAnswer(number=exchange.number, index=latest))
            message = f"{exchange.error} The earlier answer stays.".lstrip()
            conversation.publish(WarningRaised(message=message))

    async def recheck_answers(self) -> int:
        """Look up the quotes of all answers in the current document. Return how many verdicts changed.

        They are saved only with the next change: saving a conversation that is in use elsewhere copies it.
        """
        from roamtui.quotes.current_text import update_citations  # noqa: PLC0415

        conversation = self.conversation
        async with conversation.lock:
            while True:  # the person may choose another answer meanwhile
                state = conversation.state
                events = await asyncio.to_thread(update_citations, state)
                if conversation.state is state:
                    break
            before = {exchange.number: exchange.citations for exchange in state.exchanges}
            conversation.apply_unsaved(*events)
        return sum(
            old.state is not new.state
            for event in events
            # an answer that was cut off had no verdicts before
            for old, new in zip(before[event.number], event.citations, strict=False)
        )
