"""`Session`: holds the current state of a conversation, changes it by `update`, and saves and returns the events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from threading import Lock, Thread

from roamtui.conversation.commands import Approver, Command, FoldNodes, Origin, ReadSection, UnfoldNodes, deny
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
    SourcesChanged,
    StepRecorded,
    list_visible_events,
    strip_texts,
    to_stored_event,
)
from roamtui.conversation.library_sync import (
    change_sources,
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
    finish_question,
    rewind,
    shrink_transcript,
)
from roamtui.conversation.state import (
    OPEN_TOKENS_DEFAULT,
    ConversationState,
    OpenSectionOptions,
    apply_all,
    fold_events,
    make_conversation_id,
    start_conversation,
)
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import Step
from roamtui.conversation.update import Update, make_undo_events, update
from roamtui.document.added_sources import SourceOpener, restore_sources
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import Loader, get_link_url
from roamtui.document.plain import sanitise_line
from roamtui.errors import ConversationConflictError, StoreError

_SAVE_WAIT_SECONDS = 0.25
"""Maximum time that the screen waits for the disk after a question was cancelled."""
_FILES_PER_REPORT_MAX = 100
"""Maximum number of files between two progress reports."""
_REPORT_SECONDS_MAX = 0.5
"""Maximum time between two progress reports. The program can exit only at a report."""
_ELSEWHERE = "(continued elsewhere)"
_WINDOW_SHARE = 0.4
"""Share of a context window that open sections may fill."""
_DRAFT_CHARACTERS = 500
"""Number of new characters after which an answer is saved again: the most that is lost if the program is killed."""


def _fork_log(log: ConversationLog, state: ConversationState) -> ConversationForked:
    """Turn a log into the log of a new conversation that is not on disk yet. This is possible during a question too."""
    title = state.title if state.title.endswith(_ELSEWHERE) else f"{state.title} {_ELSEWHERE}".lstrip()
    forked = ConversationForked(conversation_id=make_conversation_id(), title=title)
    log.events.append(forked)
    log.conversation_id, log.saved_count, log.size = forked.conversation_id, 0, 0
    return forked


class Session:
    """The current conversation. Every change goes through the session and is an event in the log."""

    def __init__(
        self,
        state: ConversationState,
        store: ConversationStore | None = None,
        log: ConversationLog | None = None,
        opening_events: tuple[ConversationEvent, ...] = (),
        loader: Loader | None = None,
        open_source: SourceOpener | None = None,
    ) -> None:
        """Continue from `state`.

        Args:
            state: The state that the events in the log lead to, or a new conversation if there is no log.
            store: Saves the log. Without a store, nothing is saved.
            log: The log of the conversation. If there is none, a new one is started.
            opening_events: Events that arose when a saved conversation was matched with its document.
            loader: Reads files and pages when they are needed. Without a loader, nothing more is loaded.
            open_source: Opens a source that is added. Without it, none can be added.
        """
        self.state = state
        started = ConversationStarted(conversation_id=state.id, unfolded=tuple(sorted(state.unfolded)))
        sources = (SourcesChanged(sources=state.sources),) if state.sources else ()
        self._log = log or ConversationLog(conversation_id=state.id, events=[started, *sources])
        self.store = store
        self.save_failure = store.problem if store is not None else ""
        """Why the last save failed; empty if it succeeded."""
        self.trace: Trace | None = None
        """Also writes the events to a file, if the person chose one."""
        self._unsaved_logs: dict[str, tuple[ConversationLog, ConversationState]] = {}
        """Conversations that could not be saved before the session switched to another one."""
        self._save_warnings: list[SaveWarningRaised] = []
        """Warnings to return with the next save."""
        self._reported_failures = (self.save_failure, "")
        """The last reported failures of the store and the trace."""
        self._lock = Lock()
        """Held by the thread that writes."""
        self.loader = loader
        self.open_source = open_source
        self._refused: dict[str, int] = {}
        """For each refused origin, the number of the question during which the person last refused it.

        The agent does not ask for it again during that question.
        """
        self._undelivered_events: list[ConversationEvent] = []
        """Visible events that no front end received because the task that waited for them was cancelled."""
        self.is_one_shot = False
        """Whether `roamtui ask` asks the questions. Lists leave out conversations of this kind."""
        self.approver: Approver = deny
        """Asked before pages are fetched from an origin that the person did not type."""
        self.opening_events = opening_events
        self.record(())

    @classmethod
    def start(
        cls,
        library: Library,
        *,
        store: ConversationStore | None = None,
        options: OpenSectionOptions | None = None,
        loader: Loader | None = None,
        open_source: SourceOpener | None = None,
    ) -> Session:
        """Start a new conversation about `library`. It is not saved until it has a question or an open section."""
        state = start_conversation(library, options or OpenSectionOptions())
        return cls(state, store, loader=loader, open_source=open_source)

    @classmethod
    def resume(
        cls,
        library: Library,
        conversation_id: str,
        *,
        store: ConversationStore,
        options: OpenSectionOptions | None = None,
        loader: Loader | None = None,
        open_source: SourceOpener | None = None,
    ) -> Session:
        """Resume a saved conversation with the current `library`, and load the pages that it needs.

        Raises:
            StoreError: The conversation does not exist or cannot be read.
        """
        return cls._restore_from_log(
            store.read(conversation_id), library, store, options or OpenSectionOptions(), loader, open_source
        )

    @classmethod
    def _restore_from_log(
        cls,
        log: ConversationLog,
        library: Library,
        store: ConversationStore | None,
        options: OpenSectionOptions,
        loader: Loader | None,
        open_source: SourceOpener | None,
    ) -> Session:
        before = fold_events(library, log.events, options)
        if before.sources != library.sources and open_source is not None:
            library, loader = restore_sources(library, loader, before.sources, open_source)
        if loader is not None and (links := list_links_to_reload(before)):
            library = load_linked_pages(library, links, loader, before.approved_origins)
        damage = (
            (SaveWarningRaised(message=log.damage_message, conversation_id=before.id),) if log.damage_message else ()
        )
        state, events = resume_state(log.events, library, options)
        log.events += events
        visible = (event for event in list_visible_events(events) if not isinstance(event, QuestionAnswered))
        return cls(state, store, log, (*damage, *visible), loader, open_source)

    def list_unshown_events(self) -> tuple[ConversationEvent, ...]:
        """List the opening events that a restored conversation does not already show."""
        is_drawn = bool(self.state.transcript.exchanges)
        return tuple(event for event in self.opening_events if not (is_drawn and to_stored_event(event)))

    async def dispatch(self, command: Command) -> AsyncIterator[ConversationEvent]:
        """Load what a command needs, carry it out, and yield its events once they are on disk.

        Folding, unfolding and reading a section are not saved until something else changes.
        """
        log, is_agent = self._log, command.origin is Origin.AGENT
        needed = list_nodes_to_load(self.state.unmuted_library if is_agent else self.state.library, command)
        # The reading section changes now, because the person may read another one once a slow page is loaded.
        if isinstance(command, ReadSection):
            for event in self._update(command):
                yield event
        if needed and self.loader is not None:
            items = load_nodes(self.loader, self.state, needed, command.origin, self.approver, self._refused)
            async for item in items:
                if isinstance(item, LoadingProgressed):
                    yield item
                    continue
                if self._log is not log:  # the session switched to another conversation during the fetch
                    return
                documents, approved = item
                yield self._graft(documents, approved)
        if isinstance(command, ReadSection):
            return
        events = self._update(command)
        if events and not isinstance(command, FoldNodes | UnfoldNodes):
            events = await self._save_and_list_visible(events)
        for event in events:
            yield event

    def _update(self, command: Command) -> tuple[ConversationEvent, ...]:
        before = self.state
        events = self._apply(update(before, command))
        if undo_events := make_undo_events(before, self.state, command):
            self.record(undo_events)
        return events

    def _apply(self, change: Update) -> tuple[ConversationEvent, ...]:
        """Replace the state, add the events to the log for the next save, and return them."""
        self.state, events = change
        self._log.events += map(strip_texts, events)
        document_events = make_document_events(self.state, events)
        self.state = apply_all(self.state, document_events)
        self._log.events += document_events
        return events

    def needs_fetch(self, command: Command) -> bool:
        """Check whether a command has to fetch a web page, which may take long."""
        library = self.state.library
        return self.loader is not None and any(
            get_link_url(library, node_id) for node_id in list_nodes_to_load(library, command)
        )

    async def load_all(self) -> AsyncIterator[ConversationEvent]:
        """Load all files that are not loaded yet, and yield the progress.

        If the caller stops early, the files loaded so far are kept.
        """
        loader = self.loader
        node_ids = pending = self.state.library.list_unloaded_files() if loader is not None else ()
        problems: tuple[tuple[str, str], ...] = ()
        while loader is not None and pending:
            yield LoadingProgressed(done=max(0, len(node_ids) - len(pending)), total=len(node_ids))
            batch = pending[:_FILES_PER_REPORT_MAX]
            documents = await asyncio.to_thread(_load_until_report, loader, self.state.library, batch)
            problems += self._graft(documents).problems
            pending = self.state.library.list_unloaded_files()
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
        """Compute the budget of open sections from a model's context window, unless the person set the budget."""
        if self.state.options.follows_window:
            budget = OPEN_TOKENS_DEFAULT
            if window_tokens is not None:
                budget = min(budget, int(window_tokens * _WINDOW_SHARE))
            self.state = replace(self.state, options=replace(self.state.options, budget_tokens=budget))

    async def record_draft(self, text: str) -> tuple[ConversationEvent, ...]:
        """Save the reply so far if at least `_DRAFT_CHARACTERS` of it are new."""
        saved = self.state.transcript.exchanges[-1].answer
        start = len(saved) if text.startswith(saved) else 0  # a new reply replaces one that broke off
        if len(text) - start < _DRAFT_CHARACTERS:
            return ()
        self.record((DraftRecorded(start=start, text=text[start:]),))
        return await self._save()

    async def begin_question(self, question: str, context: PromptContext) -> tuple[ConversationEvent, ...]:
        """Start a question. When this returns, the question is on disk."""
        state, events = begin_question(self.state, question, context)
        if self.is_one_shot:
            events = tuple(
                replace(event, is_one_shot=True) if isinstance(event, QuestionAsked) else event for event in events
            )
        return await self._save_and_list_visible(self._apply((state, events)))

    def record(self, events: tuple[ConversationEvent, ...]) -> None:
        """Apply events, and add them to the log. The next save writes them to disk."""
        self._apply((apply_all(self.state, events), events))

    async def record_step(self, step: Step) -> tuple[ConversationEvent, ...]:
        """Add a step to the current question. When this returns, the step is on disk."""
        self.record((StepRecorded(step=step),))
        return await self._save()

    async def finish_question(self, outcome: QuestionAnswered) -> tuple[ConversationEvent, ...]:
        """End the current question. When this returns, the answer is on disk. The last event is `QuestionAnswered`."""
        events = await self._save_and_list_visible(self._apply(finish_question(self.state, outcome)))
        return tuple(sorted(events, key=lambda event: isinstance(event, QuestionAnswered)))

    async def shrink_transcript(self, context: PromptContext) -> tuple[ConversationEvent, ...]:
        """Make room in the transcript of the current question."""
        return await self._save_and_list_visible(self._apply(shrink_transcript(self.state, context)))

    async def rewind(self, number: int) -> tuple[ConversationEvent, ...]:
        """Remove question `number` and everything after it."""
        return await self._save_and_list_visible(self._apply(rewind(self.state, number)))

    def fork(self, number: int) -> Session:
        """Branch off a new conversation that contains everything before question `number`. This one does not change.

        The new conversation has its own nonce to mark section text, so its transcript is rebuilt.
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
        state = self.state
        return self._restore_from_log(log, state.library, self.store, state.options, self.loader, self.open_source)

    async def rename(self, title: str) -> tuple[ConversationEvent, ...]:
        """Change the title."""
        self.record((ConversationRenamed(title=title),))
        return await self._save()

    def switch_to(self, other: Session) -> tuple[ConversationEvent, ...]:
        """Replace this session's conversation with the one of `other`. Call between questions and after `flush`.

        A conversation that could not be saved stays in memory until it is saved, or until the session switches back.

        Returns:
            The event of the switch, and those that arose when the other conversation was matched with its document.
        """
        assert not self.state.is_asking
        if self.store is not None and not self._log.is_saved and self.state.transcript.exchanges:
            self._unsaved_logs[self.state.id] = (self._log, self.state)
        self.store, self.loader = other.store, other.loader
        library, events = other.state.library, other.list_unshown_events()
        unsaved = self._unsaved_logs.pop(other.state.id, None)
        self._log, self.state = unsaved or (other._log, other.state)
        is_reloaded = self.state.library is not library and self.state.sources == library.sources
        if unsaved is not None and is_reloaded:
            events = self._apply(reload_state(self.state, reuse_loaded_pages(self.state.library, library)))
        return (ConversationSwitched(conversation_id=self.state.id), *list_visible_events(events))

    async def change_sources(self, library: Library, loader: Loader | None) -> tuple[ConversationEvent, ...]:
        """Continue with a library that has other sources, and with its loader. Call between questions."""
        assert not self.state.is_asking
        events = self._apply(change_sources(self.state, library))
        self.loader = loader
        return await self._save_and_list_visible((DocumentReloaded(), *events))

    async def reload(self, library: Library) -> tuple[ConversationEvent, ...]:
        """Continue with a new version of the document. Call between questions.

        Open sections are looked up in it by their ids, then by their texts.
        """
        assert not self.state.is_asking
        events = self._apply(reload_state(self.state, reuse_loaded_pages(self.state.library, library)))
        return await self._save_and_list_visible((DocumentReloaded(), *events))

    def abandon_question(self, outcome: QuestionAnswered, *, step: Step | None = None) -> None:
        """End the current question without `await`, as a cancelled task must.

        When this returns, the end is on disk. If the disk is slow or the log is locked, it is written soon after.

        Args:
            outcome: The answer so far.
            step: The step whose tool calls were running. The transcript may lack some of their results, so it is
                rebuilt before the next question.
        """
        if step is not None:
            self.record((StepRecorded(step=step),))
        self._undelivered_events += self._apply(finish_question(self.state, replace(outcome, is_cut=step is not None)))
        if self._fork_on_conflict(self._write_briefly(self._log)):
            self._write_briefly(self._log)

    def flush(self) -> None:
        """Save everything that is not saved yet, before the program ends or the conversation is switched."""
        is_needed = self.state.transcript.exchanges and (self._unsaved_logs or not self._log.is_saved)
        if is_needed and self._fork_on_conflict(self._write(self._log)):
            self._write(self._log)

    def _write(self, log: ConversationLog) -> str | None:
        """Write the new events of a log.

        Returns:
            The id of the conversation if nothing was written because another program continued it; otherwise None.
        """
        with self._lock:
            if self.trace is not None:
                self.trace.write(log)
            if self.store is None:
                return None
            try:
                self.store.write(log)
                self.save_failure = ""
                for unsaved_id, (unsaved, state) in list(self._unsaved_logs.items()):
                    try:
                        self.store.write(unsaved)
                    except ConversationConflictError:
                        _fork_log(unsaved, state)
                        self.store.write(unsaved)
                    del self._unsaved_logs[unsaved_id]
            except ConversationConflictError as error:
                return error.conversation_id
            except StoreError as error:
                self.save_failure = str(error)
            self._save_warnings += [
                SaveWarningRaised(message=message, conversation_id=log.conversation_id)
                for message in self.store.pop_warnings()
            ]
        return None

    def _write_briefly(self, log: ConversationLog) -> str | None:
        """Write a log in a thread and wait at most `_SAVE_WAIT_SECONDS` for the result.

        A write that takes longer continues in its thread; the program exits only after it. If another program has
        continued the conversation, the next write then returns that.
        """
        results: list[str | None] = []
        thread = Thread(target=lambda: results.append(self._write(log)))
        thread.start()
        thread.join(_SAVE_WAIT_SECONDS)
        return results[0] if results else None

    def pop_undelivered_events(self) -> tuple[ConversationEvent, ...]:
        """Return the events that no front end received because a task was cancelled. Each is returned once."""
        events, self._undelivered_events = tuple(self._undelivered_events), []
        return events

    async def _save_and_list_visible(self, events: tuple[ConversationEvent, ...]) -> tuple[ConversationEvent, ...]:
        """Save, then return the events that front ends see, and warnings about the save."""
        visible = list_visible_events(events)
        try:
            return (*visible, *await self._save())
        except asyncio.CancelledError:
            self._undelivered_events += visible
            raise

    async def _save(self) -> tuple[ConversationEvent, ...]:
        """Write new events in a thread, and return new warnings. A failure is returned again only if it changes."""
        has_target = self.store is not None or self.trace is not None
        if not has_target or not (self.state.transcript.exchanges or self.state.open_sections):
            return ()
        conflict_id = await asyncio.to_thread(self._write, self._log)
        if self._fork_on_conflict(conflict_id):
            await asyncio.to_thread(self._write, self._log)
        warnings, self._save_warnings = tuple(self._save_warnings), []
        failures = (self.save_failure, self.trace.failure if self.trace is not None else "")
        reported, self._reported_failures = self._reported_failures, failures
        new_failures = [now for now, before in zip(failures, reported, strict=True) if now and now != before]
        return (*warnings, *(SaveFailed(message=failure) for failure in new_failures))

    def _fork_on_conflict(self, conflict_id: str | None) -> bool:
        """Continue under a new id if another program continued this conversation. Return whether that was necessary."""
        if self.state.id != conflict_id:  # no conflict, or already forked meanwhile
            return False
        self.state = apply_all(self.state, (_fork_log(self._log, self.state),))
        title = sanitise_line(self.state.title)
        message = f"Another program continued this conversation; yours goes on as “{title}”."
        self._save_warnings.append(SaveWarningRaised(message=message, conversation_id=self.state.id))
        return True


def _load_until_report(loader: Loader, library: Library, node_ids: tuple[str, ...]) -> dict[str, Document]:
    """Load at least one node, and more until the next progress report is due."""
    started = time.monotonic()
    documents: dict[str, Document] = {}
    for node_id in node_ids:
        documents[node_id] = loader.load(library, node_id)
        if time.monotonic() - started > _REPORT_SECONDS_MAX:
            break
    return documents
