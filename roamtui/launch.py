"""Opens the app: the first screen immediately, everything else once it is visible.

Without a document, the start screen comes first.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from roamtui.bootstrap import EMBEDDING_FORM, Bootstrap, choose_example_questions
from roamtui.conversation.library_sync import is_source_missing
from roamtui.conversation.log import ConversationStore, ConversationSummary
from roamtui.document.counts import format_count
from roamtui.document.loader import is_url
from roamtui.document.plain import sanitise_line
from roamtui.errors import StoreError, UsageError
from roamtui.headless.output import ProgressLine, write_notice
from roamtui.models.base import Model
from roamtui.models.recorded import RecordedModel
from roamtui.paths import config_path, conversations_path, display_path, get_resource_dir, themes_path
from roamtui.settings import save_settings
from roamtui.sources.convert.converted import PageReport
from roamtui.sources.file_sources import name_sources, split_sources, stamp_source
from roamtui.tui.context import AppContext, OfferGroup, StartOffer, TuiOptions
from roamtui.tui.image_mode import ImageMode

_CONVERSATIONS_SHOWN = 8
_SOURCES_SHOWN = 8
EXAMPLE = get_resource_dir("examples") / "handbook.md"
"""The document of the recorded answer."""
_EXAMPLES = (
    ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
    ("pages", "A small site", "a folder of eight short pages"),
)
_SITES_FILE = Path(__file__).with_name("tui") / "sites.toml"
_NOTES_SHOWN = 5
_TABLE_JOBS = 4
"""Number of table cells that the app fills at a time."""


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
        sources = self.sources
        if self.should_run_plain and not _is_in_browser():
            return self._run_plain(sources)
        first = table = None
        if has_screen() and _is_table(sources):
            table = self.bootstrap.make_table(sources, jobs=_TABLE_JOBS)
        elif sources or not has_screen():
            first = self.open(sources, self.conversation_id, self.model)
            if "-" in sources:
                _reattach_terminal()
            if not has_screen():
                problem = "the app needs a terminal. Use `roamtui ask SOURCE QUESTION` or `roamtui outline` instead."
                raise UsageError(problem)
        from roamtui.tui.app import RoamApp, run_until_exit

        exit_code, failures = run_until_exit(RoamApp(first, self.make_options(), table))
        for failure in failures:
            write_notice(f"roamtui: {failure}")
        return exit_code

    @property
    def should_run_plain(self) -> bool:
        """Whether plain text is requested, or the terminal cannot show anything else."""
        is_dumb = os.environ.get("TERM") == "dumb" and sys.stdin.isatty() and sys.stdout.isatty()
        return self.is_plain or is_dumb

    def open(
        self,
        sources: tuple[str, ...],
        conversation_id: str | None = None,
        model: Model | None = None,
        report: PageReport | None = None,
    ) -> AppContext:
        """Open a document for the app. `model` replaces the model of the settings.

        Raises:
            RoamtuiError: A source cannot be read, or an argument cannot be used.
        """
        settings = self.bootstrap.settings
        # A resumed conversation and vector search need the text before the app starts.
        load_all = settings.retrieval.needs_vectors or conversation_id is not None
        library, loader = self.bootstrap.open(sources, load_all=load_all, report=report)
        notes = [*library.notes]
        if (more := len(library.notes) - _NOTES_SHOWN) > 1:
            notes[-more:] = [f"{more} more notes on the files."]
        if isinstance(model, RecordedModel):
            notes.append("Recorded: a person played the model, and quoted one figure wrong. esc stops the answer.")
        progress = ProgressLine(EMBEDDING_FORM)
        bootstrap = replace(self.bootstrap, on_warning=notes.append, progress=progress)
        has_files = library.root.columns.has_files
        agent = bootstrap.make_agent(bootstrap.start_conversation(library, loader, conversation_id), model)
        if settings.retrieval.needs_vectors and agent.searcher is not None:
            agent.searcher.search("")  # embeds all sections while the terminal can still show progress
        progress.is_muted = True
        # Standard input cannot be read twice.
        is_readable = library.source != "-" and (has_files or is_url(library.source) or stamp_source(library.source))
        return AppContext(
            agent=agent,
            first_question=model.question if isinstance(model, RecordedModel) else "",
            options=replace(self.make_options(), examples=choose_example_questions(library)),
            reload_library=partial(bootstrap.reload, sources=sources) if is_readable else None,
            reload_on_change=self.is_watching,
            notices=notes,
        )

    def open_another(
        self, source: str, conversation_id: str | None, model: Model | None, report: PageReport
    ) -> AppContext:
        """Open a document from the app. Implements `TuiOptions.open_source`."""
        from roamtui.tui.screens import main  # noqa: F401 - loaded here, in a thread

        sources = split_sources(source)
        if conversation_id is None and model is None and self.sources in ((), sources):
            conversation_id = self.conversation_id
        return self.open(sources, conversation_id, model, report)

    def make_options(self) -> TuiOptions:
        """Return how the app looks and what it can do, as the settings say."""
        from roamtui.models.registry import discover_local_models, list_usable_models

        settings = self.bootstrap.settings
        return TuiOptions(
            theme=settings.theme,
            model_name=settings.model,
            image_mode=ImageMode(settings.images),
            keys={action: (keys,) for action, keys in settings.keys.items()},
            themes_dirs=(themes_path(),),
            list_models=list_usable_models,
            discover_models=discover_local_models,
            make_model=self.bootstrap.make_model,
            fetch_picture=self.bootstrap.fetch_picture,
            save_settings=partial(save_settings, config_path()),
            list_offers=self._list_offers,
            open_source=self.open_another,
            open_table=partial(self.bootstrap.make_table, jobs=_TABLE_JOBS),
        )

    def _list_offers(self) -> tuple[StartOffer, ...]:
        try:
            return list_offers(ConversationStore(conversations_path()).list())
        except StoreError:  # a document that is opened says why
            return list_offers(())

    def _run_plain(self, sources: tuple[str, ...]) -> int:
        library, loader = self.bootstrap.open(sources, load_all=True)
        if "-" in sources:
            _reattach_terminal()
        from roamtui.headless.plain_chat import PlainChat

        agent = self.bootstrap.make_agent(self.bootstrap.start_conversation(library, loader, self.conversation_id))
        write_notice(*library.notes)
        return PlainChat(agent).run()


def list_offers(summaries: Sequence[ConversationSummary]) -> tuple[StartOffer, ...]:
    """Return all offers. The saved conversations come with the newest change first; those of `ask` are not offered."""
    available = [
        summary
        for summary in summaries
        if not (summary.is_one_shot or summary.source.startswith("-") or is_source_missing(summary.source))
    ]
    offers: list[StartOffer] = []
    answered = [summary for summary in available if summary.is_answered and summary.questions]
    for summary in answered[:_CONVERSATIONS_SHOWN]:
        offers.append(
            StartOffer(
                group=OfferGroup.CONVERSATION,
                name=sanitise_line(summary.title) or "(untitled)",
                note=f"{format_count(summary.questions, 'question')} · {sanitise_line(display_path(summary.source))}",
                source=summary.source,
                conversation_id=summary.id,
            )
        )
    sources = dict.fromkeys(summary.source for summary in available)
    for source in list(sources)[:_SOURCES_SHOWN]:
        is_url = "://" in source
        name = source.partition("://")[2].rstrip("/") if is_url else name_sources(source)
        note = "" if is_url else sanitise_line(display_path(str(Path(split_sources(source)[0]).parent)))
        offers.append(StartOffer(group=OfferGroup.SOURCE, name=sanitise_line(name), note=note, source=source))
    note = "recorded, ten seconds: sections open, quotes are checked, one of them is false"
    offers.append(
        StartOffer(
            group=OfferGroup.EXAMPLE, name="Watch an answer", note=note, source=str(EXAMPLE), model=RecordedModel()
        )
    )
    for file, name, note in _EXAMPLES:
        path = get_resource_dir("examples") / file
        if path.exists():
            offers.append(StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=str(path)))
    for site in tomllib.loads(_SITES_FILE.read_text("utf-8"))["sites"]:
        host = site["url"].removeprefix("https://").removesuffix("/llms.txt")
        note = f"{site['about']} · {host}" if "about" in site else host
        offers.append(StartOffer(group=OfferGroup.SITE, name=site["name"], note=note, source=site["url"]))
    return tuple(offers)


def has_screen() -> bool:
    """Return whether the app can be shown: on a terminal, or in a browser."""
    return _is_in_browser() or (sys.stdin.isatty() and sys.stdout.isatty())


def _is_in_browser() -> bool:
    # `roamtui serve` starts this program without a terminal.
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")


def _is_table(sources: tuple[str, ...]) -> bool:
    if len(sources) != 1 or not Path(sources[0]).is_dir():
        return False
    from roamtui.table.store import is_table

    return is_table(Path(sources[0]))


def _reattach_terminal() -> None:
    # The document came through standard input, so the keyboard must come from the terminal.
    name, flags = ("CONIN$", os.O_RDWR) if os.name == "nt" else ("/dev/tty", os.O_RDONLY)
    try:
        terminal = os.open(name, flags)
    except OSError:
        raise UsageError("the app needs a terminal for its keys. Use `roamtui ask - QUESTION` without one.") from None
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life
