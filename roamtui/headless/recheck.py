"""`roamtui recheck`: checks whether quotes of conversations, tables and texts are still in their sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from roamtui.conversation.citations import QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.library_sync import explain_missing, is_source_missing, resume_state
from roamtui.conversation.log import open_store
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.convert.formats import SLOW_SUFFIXES
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, SourceError, UsageError
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.output import warn, write_display, write_json, write_notice
from roamtui.quotes.claims import (
    Claim,
    get_kept_sentence,
    parse_source_lines,
    read_claims,
    read_exported_claims,
    read_quotations,
)
from roamtui.quotes.current_text import ClaimStatus, cite_cut_off, recheck
from roamtui.quotes.nearest import compare_sentences, compare_words, format_diff_parts
from roamtui.quotes.wording import format_sentence
from roamtui.sanitiser import sanitise_line
from roamtui.sources.read import is_path
from roamtui.table.cells import Cell
from roamtui.table.store import ResultTable, is_table, read_table
from roamtui.text import format_count, shorten

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --in."
_QUOTES_HINT = (
    'A link to the document must follow each quote, as in "Wear is free" ([Damage](handbook.md#damage)). '
    "With --in SOURCE, each quotation of three or more words counts."
)
_NO_QUOTES = "No saved conversation has a quote to check. To check a file, name it."
_CANNOT_CHECK = (
    "{} cannot be checked. Name the id of the conversation (`conversation` in the JSON of an answer; "
    "`roamtui conversations --all` lists all), the folder of the table, or a Markdown file, as "
    "`roamtui conversations export ID -o FILE.md` writes it."
)
_NO_TEXT_SUFFIXES = SLOW_SUFFIXES.union((".html", ".htm", ".json", ".csv"))
_QUOTE_MAX = 300
"""Maximum characters of a quote to print. A longer one is a passage of an answer without a model."""


class _CurrentText(Struct, frozen=True, kw_only=True):
    """The text that the document has now: the quote, or the most similar text."""

    section_id: str
    doc: str
    path: tuple[str, ...]
    start_line: int
    text: str
    sentence: str | None
    """The document's sentence around the quote, or None if it adds nothing."""
    changes: str | None
    """How `text` differs from the quote, or `sentence` from the sentence kept with it. None if equal."""


class _CheckedQuote(Struct, frozen=True, kw_only=True):
    """A quote and its state now. Its fields have the names and order of the JSON output."""

    place: str
    line: int | None
    quote: str
    source: str
    original_state: QuoteState | None = field(name="then")
    status: ClaimStatus = field(name="state")
    now: _CurrentText | None = None
    sentence_compared: bool | None = None
    """Whether the sentence around the quote was compared too, or None if there is none to compare."""
    message: str | None = None
    """Why the quote cannot be checked."""

    @property
    def is_found_now(self) -> bool:
        """Whether the document has the quote now, although it was false when the model answered."""
        was_not_found = self.original_state is QuoteState.NOT_FOUND
        if self.status is ClaimStatus.ELSEWHERE:
            return was_not_found
        was_false = was_not_found or self.original_state is QuoteState.ELSEWHERE
        return was_false and self.status in (ClaimStatus.UNCHANGED, ClaimStatus.MOVED)

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing has changed since the model answered."""
        if self.status is ClaimStatus.NOT_FOUND:
            return self.original_state is QuoteState.NOT_FOUND
        return self.status in (ClaimStatus.UNCHANGED, ClaimStatus.ELSEWHERE) and not self.is_found_now

    @property
    def is_fault(self) -> bool:
        """Whether the document lacks the quote, or the sentence that was kept with it."""
        return self.status is ClaimStatus.SENTENCE_CHANGED or not self.status.is_there


def run_recheck(
    targets: Sequence[str],
    open_conversation: Callable[[str, ConversationState], Library],
    open_file: Callable[[str, tuple[str, ...]], Library],
    source: str | None,
    *,
    only_changes: bool,
    as_json: bool,
) -> int:
    """Check the quotes of targets, or of all saved conversations if there are no targets.

    A target is the id of a conversation, the path of a text, or the folder of a table. A `source` replaces
    all recorded sources. Then every quotation of a file counts, and all are listed.

    Returns:
        1 if a quote is lost or changed. Unless `only_changes`, also 1 if a quote was never in the text.

    Raises:
        RoamtuiError: A target cannot be read, or none has a quote. All readable targets are checked first.
    """

    def open_saved(state: ConversationState, name: str, _added: tuple[str, ...]) -> Library:
        return open_conversation(name, state)

    checked = _QuoteList(replaces_source=source is not None, only_changes=only_changes)
    quotes = checked.quotes
    store = open_store()
    saved = {summary.id: summary for summary in store.list()}
    lacking: dict[str, Library] = {}
    """By name: the sources in which a quote was not found."""
    failures: list[RoamtuiError | OSError] = []
    for target in targets or saved:
        path = Path(target)
        claims: Iterable[Claim]
        try:
            if target in saved:
                summary = saved[target]
                if summary.problem and not (summary.source or targets):  # nothing of it can be read
                    warn(f"conversation {target}: {summary.problem}")
                    continue
                log = store.read(target)
                if log.warning:
                    warn(f"conversation {target}: {log.warning}")
                state = log.ended_state
                sources = _Sources(partial(open_saved, state), path.parent, source)
                claims = _read_conversation(state, target, sources)
            else:
                sources = _Sources(open_file, path.parent, source)
                claims = read_claims_of_file(path, target, sources.open, replaces_source=source is not None)
        except (RoamtuiError, OSError) as error:
            failures.append(error)
            continue
        for claim in claims:
            name = sources.resolve(claim.source)
            library = sources.open(claim.source, claim.added_sources)
            quotes.append(_recheck_claim(claim, name, library))
            if isinstance(library, Library) and not quotes[-1].status.is_there:
                lacking[name] = library
    if not quotes and not failures:
        hint = "" if saved.keys() >= {*targets} else f" {_QUOTES_HINT}"
        problem = f"There is no quote to check in {', '.join(targets)}.{hint}"
        raise SourceError(problem if targets else _NO_QUOTES)
    if quotes:
        checked.write(as_json=as_json)
        gaps = {name: measure_coverage(library).gaps for name, library in lacking.items()}
        write_notice(*(f"{name}: {words}" for name, words in gaps.items() if words))
    for failure in failures[1:]:
        warn(str(failure))
    if failures:
        raise failures[0]
    return int(any(quote.is_fault and not (only_changes and quote.is_unchanged) for quote in quotes))


class _QuoteList(Struct, kw_only=True):
    """The checked quotes, and which of them the person wants to see."""

    replaces_source: bool
    """Whether the person named a source in place of the recorded ones."""
    only_changes: bool
    quotes: list[_CheckedQuote] = field(default_factory=list)

    def write(self, *, as_json: bool) -> None:
        """Write all quotes as JSON, or those that a person should see."""
        if as_json:
            counts = Counter(quote.status for quote in self.quotes)
            status_counts = {status.value: counts[status] for status in ClaimStatus}
            write_json({"counts": status_counts, "quotes": to_builtins(self.quotes)})
        else:
            self._print_quotes()
        if only_quote := sum(quote.sentence_compared is False for quote in self.quotes):
            count = format_count(only_quote, "quote")
            write_notice(f"Only the words of {count} were compared: no sentence is kept with them.")

    def _print_quotes(self) -> None:
        """Write the quotes that a person should see, and how many quotes have each status."""
        listed = self.quotes
        if self.only_changes:
            listed = [quote for quote in listed if not quote.is_unchanged]
        elif not self.replaces_source:
            listed = [
                quote for quote in listed if quote.is_found_now or quote.status is not ClaimStatus.UNCHANGED
            ]
        in_order = sorted(self.quotes, key=lambda quote: [*ClaimStatus].index(quote.status))
        words = Counter(map(self._name_status, in_order))
        summary = ", ".join(f"{count} {status}" for status, count in words.items())
        lines: list[str] = []
        messages: set[str] = set()  # a source that cannot be opened is named once
        for quote in listed:
            lines += self._format_quote(quote)
            if quote.message and quote.message not in messages:
                lines.append(f"    {sanitise_line(quote.message)}")
                messages.add(quote.message)
        total = format_count(len(self.quotes), "quote")
        write_display("\n".join([*lines, f"{total} checked: {summary}."]) + "\n")

    def _name_status(self, quote: _CheckedQuote) -> str:
        similar = ", but similar" if quote.now is not None else ""
        is_there = quote.status in (ClaimStatus.UNCHANGED, ClaimStatus.MOVED)
        if quote.is_found_now or (self.replaces_source and is_there):
            return "found in the text"
        is_lost = quote.status in (ClaimStatus.CHANGED, ClaimStatus.GONE)
        if quote.status is ClaimStatus.NOT_FOUND or (self.replaces_source and is_lost):
            return f"not found{similar}"
        return quote.status.value.replace("_", " ")

    def _format_quote(self, quote: _CheckedQuote) -> Iterator[str]:
        """Format a quote, and where it is now. A passage gets no sentence, which would only repeat it."""
        place = f"{quote.place}:{quote.line}" if quote.line else quote.place
        status = self._name_status(quote)
        if (state := quote.original_state) is not None:
            reason = f": {state.label}" if quote.is_found_now else ""  # the document may not have changed
            status = f"{status} (then {state.sign}{reason})"
        yield sanitise_line(f'{place}: {status}: "{shorten(quote.quote, _QUOTE_MAX)}"')
        if now := quote.now:
            path = PLAIN_PATH_STEP.join(filter(None, [now.doc, *now.path]))
            changes = f": {now.changes}" if now.changes else ""
            where = "in" if self.replaces_source or quote.is_unchanged else "now in"
            yield "    " + sanitise_line(f"{where} [{now.section_id}] {path}, line {now.start_line}{changes}")
            if now.sentence is not None and len(quote.quote) <= _QUOTE_MAX:
                yield f"    {format_sentence(now.sentence)}"


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
        return _read_table(read_table(path), name)
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


def _read_conversation(state: ConversationState, name: str, sources: "_Sources") -> list[Claim]:
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


def _read_table(table: ResultTable, name: str) -> list[Claim]:
    claims: list[Claim] = []
    for row in table.rows:
        for column, cell in zip(table.columns, table.list_cells(row), strict=True):
            if cell is not None:
                claims += _make_claims(cell, f"{name}, {column.question}", row.source)
    return claims


class _Sources:
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


def _recheck_claim(claim: Claim, source: str, library: Library | str) -> _CheckedQuote:
    line = claim.line or None
    state = claim.original_state
    make_checked = partial(
        _CheckedQuote, place=claim.place, line=line, quote=claim.quote, source=source, original_state=state
    )
    if isinstance(library, str):
        return make_checked(status=ClaimStatus.UNREACHABLE, message=library)
    finding = recheck(claim, library)
    now = None
    if finding.span is not None:
        sentence = finding.surroundings.text if finding.surroundings is not None else None
        changes = None
        if finding.status is ClaimStatus.SENTENCE_CHANGED:
            changes = format_diff_parts(compare_sentences(claim.sentence or "", sentence or ""))
        elif not finding.status.is_there:
            # without page footers, which do not count as changes
            changes = format_diff_parts(compare_words(claim.quote, library.clean_text(finding.span)))
        now = _CurrentText(
            section_id=finding.section_id,
            doc=finding.span.doc,
            path=library.node(finding.section_id).path,
            start_line=library.get_line_range(finding.span).first_line,
            text=library.text_at(finding.span),
            sentence=sentence,
            changes=changes,
        )
    return make_checked(
        status=finding.status,
        now=now,
        sentence_compared=finding.is_sentence_compared,
        message=finding.message or None,
    )
