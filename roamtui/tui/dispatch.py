"""What happens in the core, shown: one match over every event."""

from __future__ import annotations

from typing import assert_never

from roamtui.agent.chronicle import note_event
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    BatchUndone,
    CloseReason,
    ConversationEvent,
    ExpandStatus,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    ReadingChanged,
    ReminderSent,
    RetryScheduled,
    SaveFailed,
    SavingReported,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.conversation.notes import ClosingNote, Note
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Exchange
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.messages import NoticeKind
from roamtui.tui.chat.narration import (
    describe_count,
    describe_kept,
    name_section,
    narrate_loading,
    narrate_note,
    narrate_notice,
)
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.status_line import StatusLine


class EventDispatcher:
    """Brings the widgets up to date with what happened."""

    def __init__(self, session: Session, tree: TreePane, chat: ChatLog, status: StatusLine) -> None:
        self._session = session
        self._tree = tree
        self._chat = chat
        self._status = status

    def show(self, event: ConversationEvent) -> None:  # noqa: C901, PLR0912 - one case an event
        """Show an event; the state already is the one after it."""
        match event:
            case QuestionAsked(number=number, question=question):
                self._chat.begin(number, question)
                self._status.change(is_asking=True, step=0, message="")
            case StepStarted(number=number):
                self._begin_step()
                self._status.change(step=number)
            case AnswerStreamed(text=text):
                self._stream(text)
            case ThinkingStreamed(text=text):
                self._think(text)
            case SectionsSearched(hits=hits):
                self._tree.show_found(tuple(hit.section_id for hit in hits))
                self._tell(event)
            case ToolFinished():
                self._show_state()
            case ReminderSent() | RetryScheduled():
                self._tell(event)
            case QuestionAnswered():
                self._finish(event)
                self._status.change(is_asking=False, step=0)
                self._show_state()
            case SectionsExpanded():
                self._show_expansion(event)
            case SectionsClosed():
                self._show_closing(event)
            case SectionsMarked(section_ids=ids):
                self._show_state(f"{describe_count(ids)} will close after this answer")
            case SectionsKept():
                self._show_kept(event)
            case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
                self._show_state(f"{'pinned' if is_pinned else 'unpinned'} {self._names(ids)}")
            case NodesUnfolded() | NodesFolded():
                self._tree.show(self._session.state)
            case ReadingChanged():
                self._tree.show(self._session.state)
            case BatchUndone(section_ids=ids):
                self._show_state(f"took back {describe_count(ids)}")
            case LoadingProgressed():
                self._status.change(message=narrate_loading(event))
            case NodesLoaded():
                self._show_loaded(event)
            case SaveFailed(message=message) | SavingReported(message=message):
                self._chat.add_notice(message, NoticeKind.WARNING)
            case _:
                assert_never(event)

    def note(self, text: str) -> None:
        """Say in the conversation what a person should know."""
        self._chat.add_notice(text)

    def forget(self, number: int) -> None:
        """Show question `number` and what followed no longer: the conversation went back to before it."""
        self._chat.forget(number)
        self._show_state("")

    def start_over(self) -> None:
        """Show the conversation that the session holds now in place of the one before."""
        self._chat.start_over()
        self._tree.show_found(())
        self._status.change(is_asking=False, step=0)
        self._show_state("")

    def show_again(self) -> None:
        """Show the state after the document was read again."""
        self._show_state()

    def _show_state(self, message: str | None = None) -> None:
        state = self._session.state
        self._tree.show(state)
        self._status.show_state(state)
        if message is not None:
            self._status.change(message=message)

    def _begin_step(self) -> None:
        if self._chat.current is not None:
            self._chat.current.put_draft_away()

    def _stream(self, text: str) -> None:
        if self._chat.current is not None:
            self._chat.current.append_answer(text)

    def _finish(self, event: QuestionAnswered) -> None:
        if self._chat.current is not None:
            model = self._session.state.transcript.exchanges[event.number - 1].model
            self._chat.current.finish(event, model)

    def _think(self, text: str) -> None:
        if self._chat.current is not None:
            self._chat.current.show_thought(text)

    def _tell(self, event: ConversationEvent) -> None:
        """Say what an event is kept as: above the answer under way what was done for it, below it all else."""
        library = self._session.state.library
        for note in note_event(event):
            for activity in narrate_note(note, library):
                if self._session.state.is_asking and self._chat.current is not None:
                    self._chat.current.put_draft_away()
                    self._chat.current.add_activity(activity)
                else:
                    self._chat.add_notice(activity.text)
            self._show_notice(note)

    def tell_closings(self, exchange: Exchange) -> None:
        """Say what was closed at the end of an exchange that nobody waited for."""
        for note in exchange.notes:
            if isinstance(note, ClosingNote) and note.reason is CloseReason.BUDGET:
                self._show_notice(note)

    def _show_notice(self, note: Note) -> None:
        notice = narrate_notice(note, self._session.state.library)
        if notice is not None:
            self._chat.add_notice(*notice)

    def _show_expansion(self, event: SectionsExpanded) -> None:
        opened = event.opened_ids
        if event.origin is Origin.PERSON:
            refusals = [result.text for result in event.results if result.status is ExpandStatus.FAILED]
            told = f"opened {self._names(opened)}" if opened else " ".join(refusals) or "open already"
            self._show_state(told or None)
            return
        self._show_state()
        if opened:
            self._tree.show_batch(opened)
        self._tell(event)

    def _show_loaded(self, event: NodesLoaded) -> None:
        self._show_state("")
        self._tree.tell_growth(event.section_ids)
        self._tell(event)

    def _show_closing(self, event: SectionsClosed) -> None:
        is_news = bool(note_event(event))
        self._show_state(None if is_news else f"closed {self._names(event.section_ids)}")
        self._tell(event)

    def _show_kept(self, event: SectionsKept) -> None:
        self._show_state()
        if event.origin is Origin.PERSON:
            self._chat.add_notice(describe_kept(event.reasons, self._session.state.library))
        self._tell(event)

    def _names(self, section_ids: tuple[str, ...]) -> str:
        if len(section_ids) == 1:
            return f"“{name_section(section_ids[0], self._session.state.library)}”"
        return describe_count(section_ids)
