"""The claims of what a person has saved, a conversation, a table or a file with quotes, and their sources."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from roamtui.conversation.citations import QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.library_sync import explain_missing, is_source_missing, resume_state
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.convert.formats import SLOW_SUFFIXES
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.quotes.claims import (
    Claim,
    get_kept_sentence,
    parse_source_lines,
    read_claims,
    read_exported_claims,
    read_quotations,
)
from roamtui.quotes.current_text import cite_cut_off
from roamtui.sources.read import is_path
from roamtui.table.cells import Cell
from roamtui.table.store import is_table, read_table

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --in."
_CANNOT_CHECK = (
    "{} cannot be checked. Name the id of the conversation (`conversation` in the JSON of an answer; "
    "`roamtui conversations --all` lists all), the folder of the table, or a Markdown file, as "
    "`roamtui conversations export ID -o FILE.md` writes it."
)
_NO_TEXT_SUFFIXES = SLOW_SUFFIXES.union((".html", ".htm", ".json", ".csv"))


class ClaimSources:
    """Opens the sources of the quotes of a target, each once."""

    def __init__(
        self, open_source: Callable[[str, tuple[str, ...]], Library], folder: Path, replacement: str | None
    ) -> None:
        """Resolve paths relative to `folder`. Open `replacement`, if given, in place of every source."""
        self._open = open_source
        self._folder = folder
        self._replacement = replacement
        self._opened: dict[str, Library | str] = {"": _NO_SOURCE}

    def resolve(self, name: str) -> str:
        """Return the name to open for a source: the replacement, or the path in the folder if it exists."""
        if self._replacement is not None:
            return self._replacement
        is_in_folder = name and is_path(name) and (self._folder / name).exists()
        return str(self._folder / name) if is_in_folder else name

    def open(self, name: str, added: tuple[str, ...]) -> Library | str:
        """Return the library of a source that the file names, or why it cannot be opened.

        The sources `added` to it are part of the library, unless there is a replacement.
        """
        path = self.resolve(name)
        others = () if self._replacement is not None else tuple(map(self.resolve, added))
        if path not in self._opened:
            try:
                self._opened[path] = self._open(path, others)
            except (SourceError, UsageError) as error:
                is_gone = is_source_missing(path)
                self._opened[path] = explain_missing(path) if is_gone else str(error)
        return self._opened[path]


def read_claims_of_conversation(state: ConversationState, name: str, sources: ClaimSources) -> list[Claim]:
    """Return the quotes of a conversation. Those of an answer that ended with the program are judged now."""
    claims: list[Claim] = []
    for exchange in state.exchanges:
        place = f"{name}, {exchange.question}"
        answer = exchange
        if exchange.stopped is StopReason.CANCELLED and exchange.answer and not exchange.citations:
            opened = sources.open(state.source, ())
            if isinstance(opened, Library):
                citations = cite_cut_off(exchange, resume_state(state, opened)[0])
                answer = replace(exchange, citations=citations)
            else:
                quotations = read_quotations(exchange.answer, place, None)
                claims += [replace(claim, source=state.source, line=0) for claim in quotations]
        claims += _make_claims(answer, place, state.source)
    return claims


def read_claims_of_file(
    path: Path,
    name: str,
    open_source: Callable[[str, tuple[str, ...]], Library | str],
    *,
    replaces_source: bool,
) -> Sequence[Claim]:
    """Return the quotes of a file or a table.

    `open_source` opens the source that a file names, with the added ones, or returns why it cannot be opened.
    With `replaces_source`, it opens another source: the file need not name any, and each quotation counts.
    """
    if is_table(path):
        return _read_table(path, name)
    if not path.exists():
        advice = "Check the path, or run `roamtui conversations` for the ids."
        raise SourceError(f"There is no file and no conversation called {name}. {advice}")
    if path.is_dir() or path.suffix.lower() in _NO_TEXT_SUFFIXES:
        raise UsageError(_CANNOT_CHECK.format(name))
    text = path.read_text("utf-8-sig", "replace")
    main, added = parse_source_lines(text)
    opened = open_source(main, added)
    library = opened if isinstance(opened, Library) else None
    if main or not replaces_source:
        claims = read_claims(text, name, library)
    else:
        claims = read_exported_claims(text, name)
    if not claims and replaces_source:
        claims = read_quotations(text, name, library)
    return [claim if claim.source else replace(claim, source=main, added_sources=added) for claim in claims]


def _read_table(path: Path, name: str) -> list[Claim]:
    table = read_table(path)
    claims: list[Claim] = []
    for row in table.rows:
        for column, cell in zip(table.columns, table.list_cells(row), strict=True):
            if cell is not None:
                claims += _make_claims(cell, f"{name}, {column.question}", row.source)
    return claims


def _make_claims(answer: Exchange | Cell, place: str, source: str) -> Iterator[Claim]:
    """Yield the quotes of an answer. Passages have no earlier verdict."""
    for citation in answer.citations:
        if quote := citation.quote:
            is_changed = citation.is_changed
            state = QuoteState.EXACT if is_changed else citation.state
            judged = None if answer.has_passages else state
            kept = get_kept_sentence(quote, judged, citation.original_sentence, is_changed=is_changed)
            yield Claim(
                quote=quote,
                section_id=citation.section_id,
                place=place,
                source=source,
                original_state=judged,
                sentence=kept,
            )
