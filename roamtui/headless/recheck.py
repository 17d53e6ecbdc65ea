"""`roamtui recheck`: whether quotes in conversations, tables and files are still in their sources."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, convert, field, to_builtins
from msgspec.structs import replace

from roamtui.conversation.events import Citation, QuoteState
from roamtui.conversation.log import ConversationStore, open_store
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.output import warn, write_json, write_text
from roamtui.plain import format_count, sanitise_line
from roamtui.quotes.claims import Claim, parse_source_line, read_claims
from roamtui.quotes.nearest import format_word_diff
from roamtui.quotes.quotations import read_quotations
from roamtui.quotes.recheck import ClaimStatus, recheck
from roamtui.sources.read import is_path
from roamtui.table.store import Table, is_table, read_table

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --in."
_QUOTES_HINT = (
    "Put quotes in quotation marks, each with a section id after it. With --in SOURCE, no id is needed."
)
_NO_QUOTES = "No saved conversation has a quote to check. To check a file, name it."
_CHANGED_EXPORT = "{} was not exported by roamtui, or has been changed since. Export it again."
_QUOTE_COLUMN = ": quote"
"""End of the title of a column with quotes in an exported table."""
_UNVERIFIED_LABELS = (QuoteState.ELSEWHERE.label, QuoteState.NOT_FOUND.label)
"""What the note of a cell says if its quote was not where it was cited."""
_WORDS_BY_STATUS = {
    ClaimStatus.SAME: "found",
    ClaimStatus.MOVED: "found",
    ClaimStatus.CHANGED: "not found, but similar",
}
"""What a status is called if the quotes are of a text that nobody has checked before."""


class _Passage(Struct, frozen=True, kw_only=True):
    """What stands in the document now: a quote, or what is most similar."""

    section_id: str
    doc: str
    path: tuple[str, ...]
    start_line: int
    text: str
    changes: str | None
    """How the text differs from the quote, if it does."""


class _CheckedQuote(Struct, frozen=True, kw_only=True):
    """A quote and what became of it, with the names and the order of the JSON output."""

    place: str
    line: int | None
    quote: str
    source: str
    status: ClaimStatus = field(name="state")
    now: _Passage | None = None
    message: str | None = None
    """Why it cannot be checked."""


def run_recheck(
    targets: Sequence[str], reopen: Callable[..., Library], source: str | None, *, as_json: bool
) -> int:
    """Check conversations, files and tables; all conversations without any. Return 1 for a lost quote.

    Targets are ids of conversations, paths of Markdown files and of exported JSON, and folders of tables. A
    `source` replaces all recorded ones. Then every quotation of a file counts, and all are listed.

    Raises:
        RoamtuiError: A target cannot be read, or there is no quote in any of them.
    """
    replaces_source = source is not None
    store = open_store()
    known = _list_conversations(store, targets)
    quotes: list[_CheckedQuote] = []
    claims: list[Claim]
    for target in targets or known:
        path = Path(target)
        if target in known:
            saved = store.load(target)
            origins = saved.approved_origins
            open_source = partial(reopen, links=saved.pages, approved=origins, added=saved.sources)
            claims = []
            for exchange in saved.exchanges:
                claims += _make_claims(exchange.citations, target, exchange.question, known[target])
        else:
            open_source = partial(reopen, is_own=replaces_source)  # otherwise, the file names the source
            claims = _read_file(path, target, replaces_source=replaces_source)
        quotes += _recheck_claims(claims, path.parent, open_source, source)
    if not quotes:
        raise SourceError(
            f"There is no quote to check in {', '.join(targets)}. {_QUOTES_HINT}" if targets else _NO_QUOTES
        )
    counts = Counter(quote.status for quote in quotes)
    status_counts = {status.value: counts[status] for status in ClaimStatus}
    if as_json:
        write_json({"counts": status_counts, "quotes": to_builtins(quotes)})
    else:
        summary = ", ".join(f"{count} {status}" for status, count in status_counts.items() if count)
        lines: list[str] = []
        for quote in quotes:
            if replaces_source or quote.status is not ClaimStatus.SAME:
                lines += _format_quote(quote, replaces_source=replaces_source)
        if replaces_source:
            words = Counter(_name_status(quote, replaces_source=True) for quote in quotes)
            summary = ", ".join(f"{count} {status}" for status, count in words.items())
        lines.append(f"{format_count(len(quotes), 'quote')} checked{f': {summary}' if summary else ''}.")
        write_text("\n".join(lines) + "\n")
    return int(any(quote.status not in (ClaimStatus.SAME, ClaimStatus.MOVED) for quote in quotes))


def _read_file(path: Path, name: str, *, replaces_source: bool) -> list[Claim]:
    """Return the quotes of a file or a table.

    With `replaces_source`, the file need not say where its quotes come from: each quotation counts.
    """
    suffix = path.suffix.lower()
    if is_table(path):
        return _read_table(read_table(path), name)
    if path.is_dir() or not path.exists():
        advice = "Check the path, or run `roamtui conversations` for the ids."
        raise SourceError(f"There is no file and no conversation called {name}. {advice}")
    if suffix in (".html", ".htm"):
        raise UsageError(f"{name} is a web page, which cannot be checked. Name the id of its conversation.")
    text = path.read_text("utf-8-sig", "replace")
    if suffix == ".json":
        return _read_export(text, name)
    if suffix == ".csv":
        return _read_csv(text, name)
    main = parse_source_line(text)
    if replaces_source and not main:
        return [*read_quotations(text, name)]
    return [replace(claim, source=claim.source or main) for claim in read_claims(text, name)]


def _list_conversations(store: ConversationStore, targets: Sequence[str]) -> dict[str, str]:
    """Return the source of each readable conversation, by id. Warn about damaged ones that are checked."""
    sources: dict[str, str] = {}
    for summary in store.list():
        if summary.problem and summary.id in (targets or [summary.id]):
            warn(f"conversation {summary.id}: {summary.problem}")
        if targets or summary.source or not summary.problem:  # a damaged target is refused when it is read
            sources[summary.id] = summary.source
    return sources


def _make_claims(citations: Iterable[Citation], name: str, question: str, source: str) -> Iterator[Claim]:
    """Yield the verified quotes of an answer."""
    place = f"{name}, {question}"
    for citation in citations:
        if citation.quote and citation.is_verified:
            yield Claim(
                quote=citation.quote,
                section_id=citation.section_id,
                place=place,
                source=source,
            )


def _read_table(table: Table, name: str) -> list[Claim]:
    claims: list[Claim] = []
    for row in table.rows:
        for column, cell in zip(table.columns, table.list_cells(row), strict=True):
            if cell is not None:
                claims += _make_claims(cell.citations, name, column.question, row.source)
    return claims


def _read_export(text: str, name: str) -> list[Claim]:
    claims: list[Claim] = []
    try:
        data = json.loads(text)
        for part in data.get("rows", [data]):
            source = part["source"]
            for answer in part.get("exchanges", part.get("cells")):
                place = f"{name}, {answer['question']}"
                claims += [
                    Claim(
                        quote=each["quote"],
                        section_id=each["section_id"],
                        place=place,
                        source=source,
                    )
                    for each in answer["citations"]
                    if each["verified"] and each["quote"]
                ]
        return convert(to_builtins(claims), list[Claim])  # which checks the types
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise SourceError(_CHANGED_EXPORT.format(name)) from None


def _read_csv(text: str, name: str) -> list[Claim]:
    """Return the verified quotes of a table in CSV. Its first column has the paths of the documents."""
    try:
        titles, *rows = csv.reader(io.StringIO(text))
    except (ValueError, csv.Error):
        raise SourceError(_CHANGED_EXPORT.format(name)) from None
    columns = [number for number, title in enumerate(titles) if title.endswith(_QUOTE_COLUMN)]
    return [
        Claim(
            quote=row[column].removeprefix("'"),
            place=f"{name}, {titles[column]}",
            line=number,
            source=row[0].removeprefix("'"),
        )
        for number, row in enumerate(rows, start=2)
        for column in columns
        if column < len(row)
        and row[column]
        and not any(label in "".join(row[column + 2 : column + 3]) for label in _UNVERIFIED_LABELS)
    ]


def _recheck_claims(
    claims: Sequence[Claim], folder: Path, open_source: Callable[[str], Library], source: str | None
) -> Iterator[_CheckedQuote]:
    """Check claims. Each source is opened once. Paths in a file are relative to its folder."""
    opened: dict[str, Library | str] = {"": _NO_SOURCE}
    for claim in claims:
        name = source or claim.source
        if name and name == claim.source and is_path(name) and (folder / name).exists():
            name = str(folder / name)
        if name not in opened:
            try:
                opened[name] = open_source(name)
            except (SourceError, UsageError) as error:
                opened[name] = str(error)
        yield _recheck_claim(claim, name, opened[name])


def _recheck_claim(claim: Claim, source: str, library: Library | str) -> _CheckedQuote:
    line = claim.line or None
    make_checked = partial(_CheckedQuote, place=claim.place, line=line, quote=claim.quote, source=source)
    if isinstance(library, str):
        return make_checked(status=ClaimStatus.UNREACHABLE, message=library)
    finding = recheck(claim, library)
    now = None
    if finding.span is not None:
        clean_text = library.clean_text(finding.span)  # page footers are no change
        is_changed = finding.status is ClaimStatus.CHANGED
        now = _Passage(
            section_id=finding.section_id,
            doc=finding.span.doc,
            path=library.node(finding.section_id).path,
            start_line=library.get_place(finding.span).first_line,
            text=library.text_at(finding.span),
            changes=format_word_diff(claim.quote, clean_text) if is_changed else None,
        )
    return make_checked(status=finding.status, now=now, message=finding.message or None)


def _name_status(quote: _CheckedQuote, *, replaces_source: bool) -> str:
    if replaces_source and not quote.message:
        return _WORDS_BY_STATUS.get(quote.status, "not found")
    return quote.status.value


def _format_quote(quote: _CheckedQuote, *, replaces_source: bool) -> Iterator[str]:
    """Format a quote with where it is now, or why it cannot be checked."""
    place = f"{quote.place}:{quote.line}" if quote.line else quote.place
    status = _name_status(quote, replaces_source=replaces_source)
    yield sanitise_line(f'{place}: {status}: "{quote.quote}"')
    if now := quote.now:
        path = PLAIN_PATH_STEP.join(filter(None, [now.doc, *now.path]))
        changes = f": {now.changes}" if now.changes else ""
        where = "in" if replaces_source else "now in"
        yield "    " + sanitise_line(f"{where} [{now.section_id}] {path}, line {now.start_line}{changes}")
    elif quote.message:
        yield f"    {sanitise_line(quote.message)}"
