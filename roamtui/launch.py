"""Opens the app: the first screen immediately, everything else once it is visible.

Without a document, the start screen comes first.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from roamtui.agent.introductions import suggest_questions
from roamtui.bootstrap import EMBEDDING_FORM, Bootstrap
from roamtui.conversation.library_sync import explain_missing, is_source_missing
from roamtui.conversation.log import ConversationSummary, open_store
from roamtui.conversation.state import ConversationState
from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.errors import EXIT_CANCELLED, SourceError, StoreError, UsageError
from roamtui.models.base import Model
from roamtui.models.discovery import ModelOffer, discover_models, list_usable_models
from roamtui.models.recorded import RecordedModel
from roamtui.opening.loader import is_url
from roamtui.output import ProgressLine, warn, write_notice
from roamtui.paths import format_file_path, get_config_path, get_resource_dir, is_standard_input
from roamtui.program import format_program
from roamtui.sanitiser import sanitise_line
from roamtui.settings import save_settings
from roamtui.sources.read import explain_error, is_path
from roamtui.sources.source_names import make_short_name, split_sources
from roamtui.tui.context import (
    DocumentSession,
    Inbox,
    OfferGroup,
    Services,
    StartOffer,
    TableSession,
    TuiOptions,
)

if TYPE_CHECKING:
    from roamtui.tui.app import RoamApp

_NOTES_MAX = 5
_SHOWN_MAX = 8
"""Maximum number of saved conversations that are offered, and of sources."""
EXAMPLE = get_resource_dir("examples") / "handbook.md"
"""The document of the recorded answer."""
_EXAMPLES = (
    ("handbook.md", "Watch an answer", "recorded: sections open, quotes are checked, one of them is false"),
    ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
    ("pages", "A small site", "a folder of eight short pages"),
)
_DEFECT_MESSAGE = (
    "roamtui: there was an internal error. Your conversation is saved, and `roamtui --continue` resumes it."
    " To report the error, set ROAMTUI_DEBUG=1, repeat your steps, and include the error text in your report."
)
_TABLE_JOBS = 4
"""Number of documents that the app asks about at a time, one question each."""


class AppServices(Services):
    """Gives the app models, documents and tables, as a `Bootstrap` makes them, and saves settings."""

    def __init__(self, bootstrap: Bootstrap, *, is_watching: bool = False) -> None:
        """If `is_watching`, changed documents are reloaded without asking."""
        self._bootstrap = bootstrap
        self._is_watching = is_watching

    @property
    def options(self) -> TuiOptions:
        """The options of the app: these services, and what the settings say."""
        settings = self._bootstrap.settings
        return TuiOptions(
            services=self,
            theme=settings.theme,
            keys=settings.keys,
            api_base=(settings.api_base or "") if "api_base" in self._bootstrap.overridden_keys else "",
        )

    @override
    def list_models(self) -> tuple[ModelOffer, ...]:
        return list_usable_models()

    @override
    def discover_models(self) -> tuple[tuple[ModelOffer, ...], str]:
        return discover_models(self._bootstrap.settings.api_base, self._bootstrap.settings.model)

    @override
    def make_model(self, name: str = "", api_base: str | None = None, *, is_test: bool = False) -> Model:
        return self._bootstrap.make_model(name, api_base, is_test=is_test)

    @override
    def save_settings(self, values: Mapping[str, str]) -> None:
        save_settings(get_config_path(), values)

    @override
    def list_offers(self) -> tuple[StartOffer, ...]:
        try:
            summaries = open_store().list()
        except StoreError:  # opening a document will say why
            summaries = ()
        return make_offers(summaries)

    @override
    def open_source(
        self, source: str, conversation_id: str | None, model: Model | None, on_progress: ProgressCallback
    ) -> DocumentSession:
        return self.open(split_sources(source), conversation_id, model, on_progress)

    @override
    def reopen(self, source: str, state: ConversationState) -> Library:
        return self._bootstrap.reopen_conversation(source, state)

    @override
    def open_table(self, sources: tuple[str, ...]) -> TableSession:
        notices = Inbox()
        bootstrap = replace(self._bootstrap, on_warning=notices.add)
        return TableSession(*bootstrap.make_table(sources, jobs=_TABLE_JOBS), notices)

    def open(
        self,
        sources: tuple[str, ...],
        conversation_id: str | None = None,
        model: Model | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> DocumentSession:
        """Open a document for the app. For the arguments, see `Bootstrap.make_agent`.

        Raises:
            RoamtuiError: A source cannot be read, or an argument cannot be used.
        """
        opened_at = time_ns()
        # A resumed conversation needs the text before the app starts.
        load_all = conversation_id is not None
        library, loader = self._bootstrap.open(sources, load_all=load_all, on_progress=on_progress)
        notices = Inbox(library.notes[:_NOTES_MAX])
        question = ""
        if isinstance(model, RecordedModel):
            question = model.question
            notices.add(
                "This is a recorded demo. A person wrote its answers, and misquoted one figure on purpose."
            )
        progress = ProgressLine(EMBEDDING_FORM)
        bootstrap = replace(self._bootstrap, on_warning=notices.add, on_progress=progress)
        agent = bootstrap.make_agent(library, loader, conversation_id, model)
        progress.is_muted = True
        # Standard input, or a pipe that a shell names, cannot be read twice.
        is_file = os.path.isfile(library.source)  # noqa: PTH113 - it never raises
        can_reload = library.root.columns.is_listing or is_url(library.source) or is_file
        return DocumentSession(
            agent=agent,
            first_question=question,
            options=self.options,
            examples=suggest_questions(library),
            reload_library=bootstrap.reload if can_reload else None,
            opened_at=opened_at,
            reloads_on_change=self._is_watching,
            notices=notices,
        )


class Launch(Struct, frozen=True, kw_only=True):
    """What to open in the app, and how."""

    bootstrap: Bootstrap
    sources: tuple[str, ...] = ()
    conversation_id: str | None = None
    """The conversation to resume. An empty id means the latest one."""
    model: Model | None = None
    """Replaces the model of the settings."""
    is_plain: bool = False
    is_watching: bool = False

    def run(self) -> int:
        """Run the app until the person quits, and return the exit status.

        Raises:
            RoamtuiError: An argument cannot be used. The screen has not changed yet.
        """
        if self.conversation_id is not None and not self.sources:
            return self._resolve_conversation().run()
        is_table = self._is_table()
        if is_table and (self.conversation_id is not None or self.is_watching):
            raise UsageError(
                "a table has no conversation, and is not watched."
                " Leave out --continue, --conversation and --watch."
            )
        if is_table and self.should_run_plain:
            raise UsageError("a table needs the app. In a simple terminal, use `roamtui table`.")
        if self.should_run_plain:
            return self._run_plain()
        self._check_screen()
        services = AppServices(self.bootstrap, is_watching=self.is_watching)
        first: DocumentSession | TableSession | None = None
        if is_table:
            first = services.open_table(self.sources)
        elif self.sources:
            first = services.open(self.sources, self.conversation_id, self.model)
            if self.bootstrap.has_typed_model:
                first.agent.use_model(first.agent.model)
            self._reattach_terminal()
        if isinstance(sys.__stderr__, TextIOWrapper):  # its encoding may lack characters that are drawn
            sys.__stderr__.reconfigure(errors="replace")
        from roamtui.tui.app import RoamApp  # after the document, so that errors come at once

        return run_until_exit(RoamApp(services.options, first))

    def _resolve_conversation(self) -> Launch:
        store = open_store()
        saved = store.load(self.conversation_id) if self.conversation_id else store.get_latest()
        saved_id = self.conversation_id or saved.id
        if is_source_missing(saved.source):
            advice = f"run `roamtui SOURCE --conversation {saved_id}`"
            raise SourceError(explain_missing(saved.source, advice))
        return replace(self, sources=split_sources(saved.source), conversation_id=saved_id)

    def _is_table(self) -> bool:
        if len(self.sources) != 1 or not os.path.isdir(self.sources[0]):  # noqa: PTH112 - any text is allowed
            return False
        from roamtui.table.store import is_table  # not for a file

        return is_table(Path(self.sources[0]))

    def _check_screen(self) -> None:
        if self.has_screen:
            return
        for path in map(Path, filter(is_path, self.sources)):
            if not path.exists():
                raise SourceError(explain_error(path, FileNotFoundError()))
        raise UsageError(
            "the app needs a terminal. Add --plain to read questions from a pipe, or use `roamtui ask`."
        )

    @property
    def should_run_plain(self) -> bool:
        """Whether plain text is requested, or the terminal cannot show anything else."""
        is_dumb = os.environ.get("TERM") == "dumb" and sys.stdin.isatty() and sys.stdout.isatty()
        return (self.is_plain or is_dumb) and not _is_in_browser()

    def _run_plain(self) -> int:
        library, loader = self.bootstrap.open(self.sources, load_all=True)
        self._reattach_terminal()
        from roamtui.headless.plain_chat import PlainChat

        agent = self.bootstrap.make_agent(library, loader, self.conversation_id, self.model)
        if self.bootstrap.has_typed_model:
            agent.use_model(agent.model)
        write_notice(*library.notes)
        return PlainChat(agent).run(self.model.question if isinstance(self.model, RecordedModel) else "")

    @property
    def has_screen(self) -> bool:
        """Whether the app can be shown: on a terminal, or in a browser."""
        # After a document from standard input, the keys come from the terminal again.
        has_keys = any(map(is_standard_input, self.sources)) or sys.stdin.isatty()
        return _is_in_browser() or (has_keys and sys.stdout.isatty())

    def _reattach_terminal(self) -> None:
        # If the document came through standard input, the keys must come from the terminal.
        if not any(map(is_standard_input, self.sources)):
            return
        name, flags = ("CONIN$", os.O_RDWR) if os.name == "nt" else ("/dev/tty", os.O_RDONLY)
        try:
            terminal = os.open(name, flags)
        except OSError:
            raise UsageError(
                "the app needs a terminal for keyboard input. Without one, use `roamtui ask - QUESTION`."
            ) from None
        os.dup2(terminal, 0)
        os.close(terminal)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life


def run_until_exit(app: RoamApp) -> int:
    """Run the app until the person leaves, and return the exit status. Say if a defect stopped it."""
    gc.freeze()  # imports leave no garbage, and searching them would delay a key by 30 ms
    app.error_console.quiet = not os.environ.get("ROAMTUI_DEBUG")  # a traceback would help nobody
    app.run()
    if app.return_code not in (None, 0, EXIT_CANCELLED) and app.error_console.quiet:
        write_notice(_DEFECT_MESSAGE)
    for failure in filter(None, [screen.session.close() for screen in app.documents.values()]):
        warn(failure)
    screen = app.documents.get(app.current_mode)
    if screen is not None:  # else a table is shown
        conversation = screen.conversation
        state = conversation.state
        is_saved = state.has_content and not conversation.save_failure and open_store().mark_used(state.id)
        if is_saved and not (_is_in_browser() or is_standard_input(state.library.source)):
            write_notice(f"To continue this conversation: {format_program()} --conversation {state.id}")
    return app.return_code or 0


def make_offers(summaries: Sequence[ConversationSummary]) -> tuple[StartOffer, ...]:
    """List the start screen's offers: conversations (not of `roamtui ask`), their documents, and examples."""
    shown = [each for each in summaries if each.is_listed and (each.problem or _is_resumable(each))]
    offers = [_offer_conversation(each) for each in shown[:_SHOWN_MAX]]
    sources = dict.fromkeys(each.source for each in shown if _is_resumable(each))
    for source in islice((each for each in sources if not is_source_missing(each)), _SHOWN_MAX):
        name, place = _name_source(source)
        offers.append(StartOffer(group=OfferGroup.SOURCE, name=name, note=place, source=source))
    for index, (file, name, note) in enumerate(_EXAMPLES):
        source = str(EXAMPLE.parent / file)
        model = None if index else RecordedModel()
        offers.append(StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=source, model=model))
    return tuple(offers)


def _name_source(source: str) -> tuple[str, str]:
    """Return the name of a source, and its folder, which is empty for a URL."""
    if is_url(source):
        return sanitise_line(source.partition("://")[2].rstrip("/")), ""
    folder = Path(split_sources(source)[0]).parent
    return make_short_name(source), sanitise_line(format_file_path(str(folder)))


def _is_resumable(summary: ConversationSummary) -> bool:
    return bool(summary.source) and not is_standard_input(summary.source)


def _offer_conversation(summary: ConversationSummary) -> StartOffer:
    is_resumable = _is_resumable(summary)
    note = summary.problem
    if not note:
        name, place = _name_source(summary.source)
        note = " · ".join(filter(None, (name, summary.size_label, place)))
    return StartOffer(
        group=OfferGroup.CONVERSATION,
        name=sanitise_line(summary.title)
        or (f"Conversation {summary.id}" if summary.problem else "(untitled)"),
        note=note,
        source=summary.source,
        conversation_id=summary.id,
        is_missing=is_resumable and is_source_missing(summary.source),
        refusal="" if is_resumable else f"Cannot resume the conversation. {summary.problem}",
    )


def _is_in_browser() -> bool:
    # `roamtui serve` starts this program without a terminal.
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")
