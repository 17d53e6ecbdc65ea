"""What happens in the core, shown: each event once, with the state after it."""

from __future__ import annotations

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationChanged,
    ConversationEvent,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ReminderSent,
    RetryScheduled,
    SectionsExpanded,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
from roamtui.conversation.narration import Place, narrate
from roamtui.conversation.state import ConversationState
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.status_line import StatusLine

_CHANGES_NOTHING = (
    AnswerStreamed,
    LoadingProgressed,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
"""Events after which the state looks as before; some come many times a second."""


class EventDispatcher:
    """Brings the widgets up to date with what happened."""

    def __init__(self, tree: TreePane, chat: ChatLog, status: StatusLine) -> None:
        self._tree = tree
        self._chat = chat
        self._status = status

    def show(self, state: ConversationState, event: ConversationEvent) -> None:
        """Show an event.

        Args:
            state: The conversation after it.
            event: What happened.
        """
        if not isinstance(event, _CHANGES_NOTHING):
            self._tree.show(state)
            self._status.show_state(state)
        self._show_event(state, event)
        if not isinstance(event, AnswerStreamed):
            self._tell(state, event)

    def _show_event(  # noqa: C901 - one case an event
        self, state: ConversationState, event: ConversationEvent
    ) -> None:
        """Show what is more than words and the state after it."""
        current = self._chat.current
        match event:
            case QuestionAsked(number=number, question=question):
                self._chat.begin(number, question)
                self._status.change(is_asking=True, step=0, message="")
            case StepStarted(number=number):
                self._put_draft_away(state)
                self._status.change(step=number)
            case AnswerStreamed(text=text) if current is not None:
                current.append_answer(text)
            case ThinkingStreamed(text=text) if current is not None:
                current.show_thought(text)
            case QuestionAnswered(number=number):
                self._status.change(is_asking=False, step=0)
                self._tree.reveal_cited()
                if current is not None:
                    current.finish(state.transcript.exchanges[number - 1], state.library)
            case SectionsSearched(hits=hits):
                self._tree.show_found(tuple(hit.section_id for hit in hits))
            case SectionsExpanded(origin=Origin.AGENT, opened_ids=opened) if opened:
                self._tree.show_batch(opened)
            case NodesLoaded(section_ids=ids):
                self._status.change(message="")
                self._tree.tell_growth(ids)
            case QuestionsTakenBack(first=number):
                self._chat.forget(number)
                self._status.change(message="")
            case ConversationChanged():
                self._chat.start_over()
                self._tree.show_found(())
                self._status.change(is_asking=False, step=0, message="")
            case _:
                pass

    def _tell(self, state: ConversationState, event: ConversationEvent) -> None:
        """Say what happened: above the answer under way what was done for it, below it what else is to be known."""
        passing: list[str] = []
        for piece in narrate(event, state.library):
            if piece.place is Place.ANSWER and state.is_asking and self._chat.current is not None:
                self._put_draft_away(state)
                self._chat.current.add_piece(piece)
            elif piece.place in (Place.ANSWER, Place.CHAT):
                self._chat.add_notice(piece.write(with_ids=False), piece.weight)
            elif piece.place is Place.MOMENT:
                passing.append(piece.brief)
        if passing:
            self._status.change(message="; ".join(passing))

    def _put_draft_away(self, state: ConversationState) -> None:
        """Take what the answer under way says so far for a draft: the model goes on working."""
        if self._chat.current is not None:
            for draft in self._chat.current.take_draft():
                for piece in narrate(draft, state.library):
                    self._chat.current.add_piece(piece)

    def note(self, text: str) -> None:
        """Say in the conversation what a person should know."""
        self._chat.add_notice(text)
