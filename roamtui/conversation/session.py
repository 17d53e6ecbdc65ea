"""The imperative shell around `update`: holds the newest state, saves it, tells what happened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from threading import Lock, Thread

from roamtui.conversation.commands import Approver, Command, FoldNodes, ReadSection, UnfoldNodes, deny
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationForked,
    ConversationRenamed,
    ConversationStarted,
    ConversationSwitched,
    DocumentReloaded,
    DraftRecorded,
    LoadingProgressed,
    NodesLoaded,
    OriginsApproved,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SaveFailed,
    SaveWarningRaised,
    StepRecorded,
    list_visible_events,
    strip_texts,
    to_stored_event,
)
from roamtui.conversation.library_sync import (
    graft_documents,
    list_links_to_reload,
    list_nodes_to_load,
    load_linked_pages,
    load_nodes,
    make_document_events,
    reload_state,
    resume_state,
    reuse_loaded_pages,
)
from roamtui.conversation.log import ConversationLog, Trace
from roamtui.conversation.question_flow import (
    PromptContext,
    begin_question,
    compute_open_budget,
    finish_question,
    rewind,
    shrink_transcript,
)
from roamtui.conversation.state import (
    ConversationState,
    OpenSectionOptions,
    apply_all,
    begin_conversation,
    fold,
    make_conversation_id,
)
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import Step
from roamtui.conversation.update import Update, make_undo_events, update
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import Loader, get_link_url
from roamtui.document.plain import sanitise_line
from roamtui.errors import ConversationConflictError, StoreError

_SAVING_SECONDS = 0.25
"""What a screen may wait for the disk where it waits for nothing else."""
_LOADED_AT_ONCE = 100
"""Files between two reports of progress, at most."""
_LOADING_SECONDS = 0.5
"""After which progress is reported too, and a program that wants to end need not wait for the other files."""
_ELSEWHERE = "(continued elsewhere)"
_DRAFT_CHARACTERS = 500
"""New text of an answer after which what came so far is written: at most this much is lost with the program."""


def _fork_log(log: ConversationLog, state: ConversationState) -> ConversationForked:
    """Have a log go on as that of another conversation, of which nothing is on disk yet, perhaps amid a question.

    Its texts are marked with a nonce of its own, so that its transcript is built anew.
    """
    title = state.title if state.title.endswith(_ELSEWHERE) else f"{state.title} {_ELSEWHERE}".lstrip()
    forked = ConversationForked(conversation_id=make_conversation_id(), title=title)
    log.events.append(forked)
    log.conversation_id, log.saved_count, log.size = forked.conversation_id, 0, 0
    return forked


class Session:
    """One conversation that is going on. Every change goes through it, and is an event in its log."""

    def __init__(
        self,
        state: ConversationState,
        store: ConversationStore | None = None,
        log: ConversationLog | None = None,
        opening_events: tuple[ConversationEvent, ...] = (),
        loader: Loader | None = None,
    ) -> None:
        """Go on with `state`; without a store nothing is saved, without a loader nothing more is read.

        Args:
            state: What the events of the log give; that of a new conversation where there is no log.
            store: Where the log is written.
            log: What has happened.
            opening_events: What happened while a saved conversation was matched with its document.
            loader: Reads what of the library is not loaded yet, where it is needed.
        """
        self.state = state
        """The newest."""
        begun = ConversationStarted(conversation_id=state.id, unfolded=tuple(sorted(state.unfolded)))
        self._log = log or ConversationLog(conversation_id=state.id, events=[begun])
        self.store = store
        """Where it is saved, None where it is not."""
        self.save_failure = store.problem if store is not None else ""
        """Why the last save failed, empty where it did not."""
        self.trace: Trace | None = None
        """Where all that has happened and will happen is written too, in a file of the person's."""
        self._unsaved_logs: dict[str, tuple[ConversationLog, ConversationState]] = {}
        """Conversations that were left before they could be written."""
        self._reports: list[SaveWarningRaised] = []
        """To be told along with the next save."""
        self._reported = (self.save_failure, "")
        self._lock = Lock()
        """Held by the thread that writes."""
        self.loader = loader
        """Reads files and pages, None where there are none."""
        self._refused: dict[str, int] = {}
        """Number of the question at which each origin was refused last: the agent does not ask again until the next."""
        self._untold: list[ConversationEvent] = []
        self.is_one_shot = False
        """Whether its questions come from `roamtui ask`: such conversations are below others on the start screen."""
        self.approver: Approver = deny
        """Asked before pages are fetched from an origin that the person did not type."""
        self.opening_events = opening_events
        """What happened while a saved conversation was matched with its document."""
        self.record(())

    @classmethod
    def start(
        cls,
        library: Library,
        *,
        store: ConversationStore | None = None,
        options: OpenSectionOptions | None = None,
        loader: Loader | None = None,
    ) -> Session:
        """Return a new conversation over `library`; it is saved from its first question on."""
        return cls(begin_conversation(library, options or OpenSectionOptions()), store, loader=loader)

    @classmethod
    def resume(
        cls,
        library: Library,
        conversation_id: str,
        *,
        store: ConversationStore,
        options: OpenSectionOptions | None = None,
        loader: Loader | None = None,
    ) -> Session:
        """Return a saved conversation, matched with `library` as it is now, pages that it needs loaded again.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        return cls._restore_from_log(
            store.read(conversation_id), library, store, options or OpenSectionOptions(), loader
        )

    @classmethod
    def _restore_from_log(
        cls,
        log: ConversationLog,
        library: Library,
        store: ConversationStore | None,
        options: OpenSectionOptions,
        loader: Loader | None,
    ) -> Session:
        before = fold(library, log.events, options)
        if loader is not None and (links := list_links_to_reload(before)):
            library = load_linked_pages(library, links, loader, before.approved_origins)
        damage = (
            (SaveWarningRaised(message=log.damage_message, conversation_id=before.id),) if log.damage_message else ()
        )
        state, events = resume_state(log.events, library, options)
        log.events += events
        told = (event for event in list_visible_events(events) if not isinstance(event, QuestionAnswered))
        return cls(state, store, log, (*damage, *told), loader)

    def list_unshown_events(self) -> tuple[ConversationEvent, ...]:
        """Return what of the opening events a screen that draws the whole conversation does not show already."""
        is_drawn = bool(self.state.transcript.exchanges)
        return tuple(event for event in self.opening_events if not (is_drawn and to_stored_event(event)))

    async def dispatch(self, command: Command) -> AsyncIterator[ConversationEvent]:
        """Carry out a command, and yield what happened once it is on disk; what it needs is loaded before.

        What only concerns the look of the tree is saved along with the next change that matters. What is read is noted
        at once, so that no page that takes its time changes it later.
        """
        log, needed = self._log, list_nodes_to_load(self.state.library, command)
        if isinstance(command, ReadSection):
            for event in self._update(command):
                yield event
        if needed and self.loader is not None:
            fetching = load_nodes(self.loader, self.state, needed, command.origin, self.approver, self._refused)
            async for item in fetching:
                if isinstance(item, LoadingProgressed):
                    yield item
                    continue
                if self._log is not log:  # another conversation was switched to while the page was fetched
                    return
                documents, approved = item
                yield self._graft(documents, approved)
        if isinstance(command, ReadSection):
            return
        events = self._update(command)
        if events and not isinstance(command, FoldNodes | UnfoldNodes):
            events = await self._tell(events)
        for event in events:
            yield event

    def _update(self, command: Command) -> tuple[ConversationEvent, ...]:
        before = self.state
        events = self._apply(update(before, command))
        if done := make_undo_events(before, self.state, command):
            self.record(done)
        return events

    def _apply(self, decided: Update) -> tuple[ConversationEvent, ...]:
        """Go on with a state and what made it, and return that; all of it is on disk with the next save."""
        self.state, events = decided
        self._log.events += map(strip_texts, events)
        read = make_document_events(self.state, events)
        self.state = apply_all(self.state, read)
        self._log.events += read
        return events

    def needs_fetch(self, command: Command) -> bool:
        """Return whether a command needs a page of the web, which may take its time."""
        library = self.state.library
        return self.loader is not None and any(get_link_url(library, i) for i in list_nodes_to_load(library, command))

    async def load_all(self) -> AsyncIterator[ConversationEvent]:
        """Load all files that are not, and yield how far that is; what was read is kept where this is left early."""
        loader = self.loader
        node_ids = pending = self.state.library.list_unloaded() if loader is not None else ()
        problems: tuple[tuple[str, str], ...] = ()
        while loader is not None and pending:
            yield LoadingProgressed(done=max(0, len(node_ids) - len(pending)), total=len(node_ids))
            some = pending[:_LOADED_AT_ONCE]
            documents = await asyncio.to_thread(_load_for_at_most, loader, self.state.library, some)
            problems += self._graft(documents).problems
            pending = self.state.library.list_unloaded()
        if node_ids:
            yield NodesLoaded(section_ids=node_ids, problems=problems)

    def _graft(self, documents: Mapping[str, Document], approved: frozenset[str] = frozenset()) -> NodesLoaded:
        if new := approved - self.state.approved_origins:
            self.record((OriginsApproved(origins=tuple(sorted(new))),))
        state, event = graft_documents(self.state, documents)
        if event.moved or to_stored_event(event):
            self._apply((state, (event,)))
        else:
            self.state = state
        return event

    def set_context_window(self, window_tokens: int | None) -> None:
        """Set the open budget from a model's context window, where the person did not set it."""
        if self.state.options.follows_window:
            options = replace(self.state.options, budget_tokens=compute_open_budget(window_tokens))
            self.state = replace(self.state, options=options)

    async def record_draft(self, text: str) -> tuple[ConversationEvent, ...]:
        """Keep what the model has said so far in this reply, whenever there is enough more of it."""
        kept = self.state.transcript.exchanges[-1].answer
        start = len(kept) if text.startswith(kept) else 0  # a reply that broke off is replaced by the next one
        if len(text) - start < _DRAFT_CHARACTERS:
            return ()
        self.record((DraftRecorded(start=start, text=text[start:]),))
        return await self._save()

    async def begin_question(self, question: str, briefing: PromptContext) -> tuple[ConversationEvent, ...]:
        """Take up a question; it is on disk when this returns."""
        state, events = begin_question(self.state, question, briefing)
        if self.is_one_shot:
            asked = (replace(one, is_one_shot=True) if isinstance(one, QuestionAsked) else one for one in events)
            events = tuple(asked)
        return await self._tell(self._apply((state, events)))

    def record(self, events: tuple[ConversationEvent, ...]) -> None:
        """Note what happened; it is on disk with the next change that is saved."""
        self._apply((apply_all(self.state, events), events))

    async def record_step(self, step: Step) -> tuple[ConversationEvent, ...]:
        """Add a step to the question under way; it is on disk when this returns."""
        self.record((StepRecorded(step=step),))
        return await self._save()

    async def finish_question(self, outcome: QuestionAnswered) -> tuple[ConversationEvent, ...]:
        """End the question under way; its answer is on disk when this returns. Its end is the last event."""
        told = await self._tell(self._apply(finish_question(self.state, outcome)))
        return tuple(sorted(told, key=lambda event: isinstance(event, QuestionAnswered)))

    async def shrink_transcript(self, briefing: PromptContext) -> tuple[ConversationEvent, ...]:
        """Shorten the transcript of the question under way."""
        return await self._tell(self._apply(shrink_transcript(self.state, briefing)))

    async def rewind(self, number: int) -> tuple[ConversationEvent, ...]:
        """Go back to before question `number`, so that it can be asked again or otherwise."""
        return await self._tell(self._apply(rewind(self.state, number)))

    def fork(self, number: int) -> Session:
        """Return a new conversation that goes its own way from before question `number`; this one stays as it is.

        Its texts are marked with a nonce of its own, so that its transcript is built anew.
        """
        starts: list[int] = []
        for index, event in enumerate(self._log.events):
            if isinstance(event, QuestionAsked):
                starts.append(index)
            elif isinstance(event, QuestionsRewound):
                del starts[event.first - 1 :]
        forked = ConversationForked(conversation_id=make_conversation_id())
        events = [*self._log.events[: starts[number - 1]], forked]
        log = ConversationLog(conversation_id=forked.conversation_id, events=events)
        return self._restore_from_log(log, self.state.library, self.store, self.state.options, self.loader)

    async def rename(self, title: str) -> tuple[ConversationEvent, ...]:
        """Give the conversation another title."""
        self.record((ConversationRenamed(title=title),))
        return await self._save()

    def switch_to(self, other: Session) -> tuple[ConversationEvent, ...]:
        """Hold the conversation of `other` from now on, between questions; `flush` saves this one before.

        If it could not be saved, it is kept in memory and returns with its events when it is switched to again.
        Whoever holds this session sees the other conversation in its state.

        Returns:
            What happened, also while the other conversation was matched with its document.
        """
        assert not self.state.is_asking
        if self.store is not None and not self._log.is_saved and self.state.transcript.exchanges:
            self._unsaved_logs[self.state.id] = (self._log, self.state)
        self.store = other.store
        library, news = other.state.library, other.list_unshown_events()
        left = self._unsaved_logs.pop(other.state.id, None)
        self._log, self.state = left or (other._log, other.state)
        if left is not None and self.state.library is not library:  # the document was read again since
            news = self._apply(reload_state(self.state, reuse_loaded_pages(self.state.library, library)))
        return (ConversationSwitched(conversation_id=self.state.id), *list_visible_events(news))

    async def reload(self, library: Library) -> tuple[ConversationEvent, ...]:
        """Go on over the document as it is now, between questions: what is open is found again by id, then by text."""
        assert not self.state.is_asking
        events = self._apply(reload_state(self.state, reuse_loaded_pages(self.state.library, library)))
        return await self._tell((DocumentReloaded(), *events))

    def abandon_question(self, outcome: QuestionAnswered, *, step: Step | None = None) -> None:
        """End the question under way without waiting for anything, as a cancelled task must.

        It is on disk when this returns, or soon after where the database is slow or locked: a screen waits for neither.

        Args:
            outcome: What was answered so far.
            step: A step whose calls were being run. Some of its text may not have reached the transcript, so that is
                rebuilt before the next question.
        """
        if step is not None:
            self.record((StepRecorded(step=step),))
        self._untold += self._apply(finish_question(self.state, replace(outcome, is_cut=step is not None)))
        if self._fork_on_conflict(self._write_briefly(self._log)):
            self._write_briefly(self._log)

    def flush(self) -> None:
        """Write what was not yet, before the program ends."""
        is_wanted = self.state.transcript.exchanges and (self._unsaved_logs or not self._log.is_saved)
        if is_wanted and self._fork_on_conflict(self._write(self._log)):
            self._write(self._log)

    def _write(self, log: ConversationLog) -> str | None:
        """Write what is new in a log; one at a time.

        Returns:
            The id of the conversation where another program went on with it, so that nothing was written; else None.
        """
        with self._lock:
            if self.trace is not None:
                self.trace.write(log)
            if self.store is None:
                return None
            try:
                self.store.write(log)
                self.save_failure = ""
                for left_id, (left, state) in list(self._unsaved_logs.items()):
                    try:
                        self.store.write(left)
                    except ConversationConflictError:
                        _fork_log(left, state)
                        self.store.write(left)
                    del self._unsaved_logs[left_id]
            except ConversationConflictError as error:
                return error.conversation_id
            except StoreError as error:
                self.save_failure = str(error)
            reports = self.store.pop_warnings()
            self._reports += [SaveWarningRaised(message=one, conversation_id=log.conversation_id) for one in reports]
        return None

    def _write_briefly(self, log: ConversationLog) -> str | None:
        """Write a log in a thread, and wait a moment for it; where that is too short it goes on alone.

        The program does not end before it has. What it would have returned then, the next write will.
        """
        taken: list[str | None] = []
        writing = Thread(target=lambda: taken.append(self._write(log)))
        writing.start()
        writing.join(_SAVING_SECONDS)
        return taken[0] if taken else None

    def take_untold(self) -> tuple[ConversationEvent, ...]:
        """Return, once, what happened without being told: the task that waited for it was cancelled."""
        untold, self._untold = tuple(self._untold), []
        return untold

    async def _tell(self, events: tuple[ConversationEvent, ...]) -> tuple[ConversationEvent, ...]:
        """Save, then return what a front end is told of events and of saving them."""
        news = list_visible_events(events)
        try:
            return (*news, *await self._save())
        except asyncio.CancelledError:
            self._untold += news
            raise

    async def _save(self) -> tuple[ConversationEvent, ...]:
        """Write what is new in a thread, and return what a person should know of it and was not told yet.

        A failure is told once, and again when it changes.
        """
        is_anywhere = self.store is not None or self.trace is not None
        if not is_anywhere or not (self.state.transcript.exchanges or self.state.open_sections):
            return ()
        taken_id = await asyncio.to_thread(self._write, self._log)
        if self._fork_on_conflict(taken_id):
            await asyncio.to_thread(self._write, self._log)
        reports, self._reports = tuple(self._reports), []
        before, self._reported = (
            self._reported,
            (self.save_failure, self.trace.failure if self.trace is not None else ""),
        )
        failures = [now for now, told in zip(self._reported, before, strict=True) if now and now != told]
        return (*reports, *(SaveFailed(message=failure) for failure in failures))

    def _fork_on_conflict(self, taken_id: str | None) -> bool:
        """Go on under another id where this one was taken and that was not done meanwhile; return whether it was."""
        if self.state.id != taken_id:
            return False
        self.state = apply_all(self.state, (_fork_log(self._log, self.state),))
        title = sanitise_line(self.state.title)
        message = f"Another program went on with this conversation too, so that it is a new one here: “{title}”."
        self._reports.append(SaveWarningRaised(message=message, conversation_id=self.state.id))
        return True


def _load_for_at_most(loader: Loader, library: Library, node_ids: tuple[str, ...]) -> dict[str, Document]:
    """Return the documents of the first of some nodes, at least of one."""
    started = time.monotonic()
    documents: dict[str, Document] = {}
    for node_id in node_ids:
        documents[node_id] = loader.load(library, node_id)
        if time.monotonic() - started > _LOADING_SECONDS:
            break
    return documents
