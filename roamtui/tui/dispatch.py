"""What happens in the core, shown: one match over every event."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from roamtui.agent.events import (
    AgentEvent,
    AnswerStreamed,
    QuestionAnswered,
    QuestionAsked,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    BatchUndone,
    CloseReason,
    ExpandStatus,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    ReadingChanged,
    SaveFailed,
    SavingReported,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
)
from roamtui.tui.chat.activity_view import Activity
from roamtui.tui.chat.narration import (
    describe_count,
    name_section,
    name_sections,
    narrate_expansion,
    narrate_loading,
    narrate_reminder,
    narrate_search,
)
from roamtui.tui.chat.notice_view import NoticeKind

if TYPE_CHECKING:
    from roamtui.conversation.session import Session
    from roamtui.tui.chat.chat_log import ChatLog
    from roamtui.tui.panes.tree_pane import TreePane
    from roamtui.tui.status_line import StatusLine

_PROBLEMS_SHOWN = 3
_CLOSE_REASONS = {
    CloseReason.ASKED: "",
    CloseReason.BUDGET: "closed to stay within what may be open",
    CloseReason.FRESH: "closed before a new question",
    CloseReason.UNDO: "",
    CloseReason.GONE: "closed, because they are no longer in the document",
    CloseReason.OVERFLOW: "closed, because the model's context was full",
}


class EventDispatcher:
    """Brings the widgets up to date with what happened."""

    def __init__(self, session: Session, tree: TreePane, chat: ChatLog, status: StatusLine) -> None:
        self._session = session
        self._tree = tree
        self._chat = chat
        self._status = status

    def show(self, event: AgentEvent) -> None:  # noqa: C901, PLR0912 - one case an event
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
                self._tell(narrate_search(event, self._session.state))
            case ToolFinished():
                self._show_state()
            case ReminderSent():
                self._tell(narrate_reminder())
            case RetryScheduled(reason=reason, wait_seconds=wait):
                self._tell(Activity("↻", f"{reason}; trying again in {wait:.0f} s", style="$warning"))
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
            case SectionsKept(reasons=reasons):
                self._show_kept(reasons)
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
            self._chat.current.begin_step()

    def _stream(self, text: str) -> None:
        if self._chat.current is not None:
            self._chat.current.append_answer(text)

    def _finish(self, event: QuestionAnswered) -> None:
        if self._chat.current is not None:
            self._chat.current.finish(event)

    def _think(self, text: str) -> None:
        if self._chat.current is not None:
            self._chat.current.show_thought(text)

    def _tell(self, activity: Activity) -> None:
        if self._session.state.is_asking and self._chat.current is not None:
            self._chat.current.add_activity(activity)
        else:
            self._chat.add_notice(activity.text)

    def _show_expansion(self, event: SectionsExpanded) -> None:
        state = self._session.state
        opened = event.opened_ids
        if event.origin is Origin.PERSON:
            refusals = [result.text for result in event.results if result.status is ExpandStatus.FAILED]
            told = f"opened {self._names(opened)}" if opened else " ".join(refusals)
            self._show_state(told or None)
            return
        self._show_state()
        if opened:
            self._tree.show_batch(opened)
        for activity in narrate_expansion(event, state):
            self._tell(activity)

    def _show_loaded(self, event: NodesLoaded) -> None:
        self._show_state("")
        self._tree.tell_growth(event.section_ids)
        for note in event.notes[:_PROBLEMS_SHOWN]:
            self._chat.add_notice(note)
        for _, reason in event.problems[:_PROBLEMS_SHOWN]:
            self._chat.add_notice(reason, NoticeKind.WARNING)
        if len(event.problems) > _PROBLEMS_SHOWN:
            self._chat.add_notice(
                f"{len(event.problems) - _PROBLEMS_SHOWN} more files could not be read.", NoticeKind.WARNING
            )

    def _show_closing(self, event: SectionsClosed) -> None:
        reason = _CLOSE_REASONS[event.reason]
        if not reason:
            self._show_state(f"closed {self._names(event.section_ids)}")
            return
        self._show_state()
        if event.reason is CloseReason.GONE:
            count = describe_count(event.section_ids)
            self._chat.add_notice(f"Closed {count} that the document of today no longer has.")
            return
        sections = name_sections(event.section_ids, self._session.state.library)
        titles = ", ".join(section.title for section in sections)
        self._chat.add_notice(f"{reason[0].upper()}{reason[1:]}: {titles}")

    def _show_kept(self, reasons: tuple[tuple[str, str], ...]) -> None:
        self._show_state()
        library = self._session.state.library
        kept = ", ".join(f"{name_section(section_id, library)} ({reason})" for section_id, reason in reasons)
        self._tell(Activity("◆", f"kept open: {kept}"))

    def _names(self, section_ids: tuple[str, ...]) -> str:
        if len(section_ids) == 1:
            return f"“{name_section(section_ids[0], self._session.state.library)}”"
        return describe_count(section_ids)
