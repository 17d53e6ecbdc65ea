"""`BackgroundWork`: keeps model, index, document and verdicts up to date while a person reads."""

import asyncio
from time import monotonic

from textual.screen import Screen
from textual.worker import WorkType

from roamtui.conversation.events import (
    AnswerChosen,
    ConversationEvent,
    ConversationStarted,
    DocumentReloaded,
    LoadingStarted,
    NodesLoaded,
    QuestionAnswered,
)
from roamtui.text import format_count
from roamtui.tui.chat.question_area import QuestionArea
from roamtui.tui.context import DocumentSession
from roamtui.tui.key_queue import KeyQueue
from roamtui.tui.messages import NoticeRaised, WorkReported
from roamtui.tui.reloader import Reloader

_CHECK_SECONDS = 2.0
"""How often the document on disk is checked, and whether the person is idle."""
_IDLE_SECONDS = 2.0
"""The document is embedded ahead once the person has not typed for this long."""
_AHEAD_PAUSE_SECONDS = 0.02
"""Pause after each embedded part, in which a key or a question can interrupt the work."""


class BackgroundWork:
    """Tasks of a document's screen, as its workers. They report to the screen by messages."""

    def __init__(
        self,
        screen: Screen[None],
        session: DocumentSession,
        key_queue: KeyQueue,
        questions: QuestionArea,
        reload_key: str,
    ) -> None:
        self._screen = screen
        self._agent = session.agent
        self._reloads = session.reloads_on_change
        self._key_queue = key_queue
        self._questions = questions
        self._reload_key = reload_key
        self.progress = ""
        """What is happening. Empty if nothing is."""
        self.embedding = ""
        """How far search by meaning is prepared. Empty if it is complete."""
        self.reloader = Reloader(session)

    def _run(self, work: WorkType[None], group: str, *, replaces: bool = False) -> None:
        self._screen.run_worker(work, group=group, exclusive=replaces, exit_on_error=False)

    def start(self) -> None:
        """Start all tasks. Called after the first screen is shown, which needs none of them."""
        self.prepare_agent()
        self._run(self._check_quotes, "verdicts", replaces=True)
        self._run(self._watch_document, "watching")

    def prepare_agent(self) -> None:
        """Start the model, and bring the index of a large source up to date before a question needs it."""
        self._run(self._prepare_agent, "preparing")

    def reload(self) -> None:
        """Read the document again."""
        self._run(self._reload, "reloading")

    def report(self, progress: str) -> None:
        """Say what is happening, or nothing, in the status line."""
        self.progress = progress
        self._screen.post_message(WorkReported())

    def handle_event(self, event: ConversationEvent) -> None:
        """Embed text that the event may have loaded, and check quotes that it may have changed."""
        if isinstance(event, LoadingStarted):
            self.report(f"Loading {format_count(event.count, 'document')}")
        if isinstance(event, NodesLoaded | QuestionAnswered | ConversationStarted):
            self.report("")
        if isinstance(event, DocumentReloaded | QuestionAnswered):  # a question may load the rest of a folder
            self._run(self._embed_ahead, "embedding", replaces=True)
        if isinstance(event, QuestionAnswered):
            self._run(self._check_answered_text, "checking")
        if isinstance(event, DocumentReloaded | ConversationStarted | AnswerChosen):
            self._run(self._check_quotes, "verdicts", replaces=True)

    async def _prepare_agent(self) -> None:
        loop = asyncio.get_running_loop()

        # called in another thread, where no message may be posted
        def on_progress(done: int, total: int) -> None:
            words = f"Indexing {done:,} of {total:,} sections…"
            loop.call_soon_threadsafe(self.report, words)

        try:
            await self._agent.model.start()
            self._screen.post_message(WorkReported())
            if note := self._agent.model_note:
                self._screen.post_message(NoticeRaised(note))
            await self._agent.search.index_ahead(on_progress)
        finally:
            self.report("")
        self._run(self._embed_ahead, "embedding", replaces=True)

    async def _embed_ahead(self) -> None:
        """Embed the document for searches by meaning, while nobody types, asks or uses a dialog."""
        is_left = True
        pause = _AHEAD_PAUSE_SECONDS
        while is_left:
            await asyncio.sleep(pause)
            pause = _CHECK_SECONDS
            is_idle = monotonic() - self._key_queue.typed_at > _IDLE_SECONDS
            if is_idle and self._screen.is_active and not self._questions.is_asking:
                pause = _AHEAD_PAUSE_SECONDS
                is_left = await self._agent.search.embed_ahead()
                coverage = self._agent.search.vector_coverage
                share = "" if coverage.is_complete else f"preparing search by meaning: {coverage.share}"
                if share != self.embedding:
                    self.embedding = share
                    self._screen.post_message(WorkReported())

    async def _check_quotes(self) -> None:
        """Look up the quotes of all answers in the current document, and say how many changed."""
        if changed := await self._agent.recheck_answers():
            words = f"{format_count(changed, 'quote')} changed since the answer"
            self._screen.post_message(NoticeRaised(words))

    async def _watch_document(self) -> None:
        """Check the document every two seconds, in one worker: a new worker costs more than a check."""
        while True:
            if self._screen.is_active:  # below a dialog, a check would draw the whole screen again
                await self.check_for_changes()
            await asyncio.sleep(_CHECK_SECONDS)

    async def check_for_changes(self) -> None:
        """Check whether the document has changed on disk. If so, tell the person, or reload it if wanted."""
        if not self._questions.is_asking:
            await self._check_document()

    async def _check_document(self) -> None:
        if await self.reloader.check():
            self._screen.post_message(WorkReported())
            if self.reloader.is_outdated and self._reloads:
                self.reload()

    async def _check_answered_text(self) -> None:
        """Say below an answer if the document has changed on disk since the text that it quotes was read."""
        await self._check_document()
        if self.reloader.is_outdated and not self._reloads:
            words = f"The text had changed on disk before this answer ended · {self._reload_key} to reload"
            self._screen.post_message(NoticeRaised(words))

    async def _reload(self) -> None:
        words, notes = await self.reloader.reload()
        self._screen.post_message(WorkReported())
        for note in notes:
            self._screen.post_message(NoticeRaised(note))
        self._screen.notify(words, markup=False)
