"""`roamtui recheck`: whether quotes in conversations, tables and files are still in their sources."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.export.json import render_json
from roamtui.export.table import render_json_table
from roamtui.output import warn, write_json, write_text
from roamtui.paths import conversations_path
from roamtui.plain import format_count, sanitise_line
from roamtui.quotes.claims import Claim, parse_source_line, read_claims
from roamtui.quotes.nearest import format_word_diff
from roamtui.quotes.quotations import read_quotations
from roamtui.quotes.recheck import ClaimStatus, recheck
from roamtui.sources.read import is_path
from roamtui.table.store import is_table, read_table

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --in."
_QUOTE_COLUMN = ": quote"
"""End of the title of a column with quotes in an exported table."""
_WORDS_OF_STATES = {
    ClaimStatus.SAME: "found",
    ClaimStatus.MOVED: "found",
    ClaimStatus.CHANGED: "not found, but similar",
}
"""What a state is called if the quotes are of a text that nobody has checked before."""


def run_recheck(
    targets: Sequence[str], reopen: Callable[..., Library], source: str | None, *, as_json: bool
) -> int:
    """Check conversations, files and tables; all conversations without any. Return 1 for a lost quote.

    Args:
        targets: Ids of conversations, paths of Markdown files and of exported JSON, and folders of tables.
        reopen: `Bootstrap.reopen`.
        source: If not None, replaces the source of everything. Then every quotation of a file counts, and all
            are listed.
        as_json: Whether to write all quotes as JSON.

    Raises:
        RoamtuiError: A target cannot be read, or there is no quote in any of them.
    """
    store = ConversationStore(conversations_path())
    known = _list_conversations(store, targets)
    rows: list[dict[str, Any]] = []
    claims: Sequence[Claim]
    for target in targets or known:
        path = Path(target)
        if target in known:
            saved = store.load(target)
            open_source = partial(
                reopen, links=saved.pages, approved=saved.approved_origins, added=saved.sources
            )
            claims = _read_export(render_json(saved, known[target]), target)
        else:
            open_source = partial(reopen, is_own=source is not None)  # otherwise, the file names the source
            claims = _read_file(path, target, has_source=source is not None)
        rows += _recheck_claims(claims, path.parent, open_source, source)
    if targets and not rows:
        advice = (
            "Put quotes in quotation marks, each with a section id after it."
            " With --in SOURCE, no id is needed."
        )
        raise SourceError(f"There is no quote to check in {', '.join(targets)}. {advice}")
    counts = Counter(row["state"] for row in rows)
    state_counts = {status.value: counts[status] for status in ClaimStatus}
    if as_json:
        write_json({"counts": state_counts, "quotes": rows})
    else:
        summary = ", ".join(f"{count} {state}" for state, count in state_counts.items() if count)
        shown = [row for row in rows if source is not None or row["state"] != ClaimStatus.SAME]
        lines = [line for row in shown for line in _format_row(row, is_first=source is not None)]
        if source is not None:
            words = Counter(_name_state(row, is_first=True) for row in rows)
            summary = ", ".join(f"{count} {state}" for state, count in words.items())
        lines.append(f"{format_count(len(rows), 'quote')} checked{f': {summary}' if summary else ''}.")
        write_text("\n".join(lines) + "\n")
    return int(any(row["state"] not in (ClaimStatus.SAME, ClaimStatus.MOVED) for row in rows))


def _read_file(path: Path, name: str, *, has_source: bool) -> Sequence[Claim]:
    """Return the quotes of a file or a table.

    With `has_source`, the file need not say where its quotes come from: each quotation counts.

    Raises:
        RoamtuiError: The file cannot be read.
    """
    suffix = path.suffix.lower()
    if is_table(path):
        return _read_export(render_json_table(read_table(path), path), name)
    if path.is_dir() or not path.exists():
        advice = "Check the path, or run `roamtui conversations` for the ids."
        raise SourceError(f"There is no file and no conversation called {name}. {advice}")
    if suffix in (".html", ".htm"):
        raise UsageError(
            f"{name} is a web page, which cannot be checked. Name the conversation's id, or export it as .md."
        )
    text = path.read_text("utf-8-sig", "replace")
    if suffix == ".json":
        return _read_export(text, name)
    if suffix == ".csv":
        return _read_csv(text, name)
    main = parse_source_line(text)
    if has_source and not main:
        return read_quotations(text, name)
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


def _read_export(text: str, name: str) -> list[Claim]:
    """Return the verified quotes of a conversation or a table in JSON."""
    try:
        data = json.loads(text)
        return [
            Claim(
                quote=citation["quote"],
                section_id=citation["section_id"],
                place=f"{name}, {answer['question']}",
                source=source,
            )
            for part in data.get("rows", [data])
            for source in [part["source"]]
            for answer in part.get("exchanges", part.get("cells"))
            for citation in answer["citations"]
            if citation["verified"] and citation["quote"]
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise SourceError(
            f"{name} was not exported by roamtui. Export the conversation or table again."
        ) from None


def _read_csv(text: str, name: str) -> list[Claim]:
    """Return the quotes of a table in CSV. Its first column names the documents."""
    try:
        titles, *rows = csv.reader(io.StringIO(text))
    except (ValueError, csv.Error):
        raise SourceError(f"{name} was not exported by roamtui. Export the table again.") from None
    columns = [number for number, title in enumerate(titles) if title.endswith(_QUOTE_COLUMN)]
    return [
        Claim(
            quote=row[column].removeprefix("'"), place=f"{name}, {titles[column]}", line=number, source=row[0]
        )
        for number, row in enumerate(rows, start=2)
        for column in columns
        if column < len(row) and row[column]
    ]


def _recheck_claims(
    claims: Sequence[Claim], folder: Path, open_source: Callable[[str], Library], replacement: str | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each claim. Each source is opened once. Paths in a file are relative to its folder."""
    opened: dict[str, Library | str] = {"": _NO_SOURCE}
    for claim in claims:
        name = replacement or claim.source
        if name and name == claim.source and is_path(name) and (folder / name).exists():
            name = str(folder / name)
        if name not in opened:
            try:
                opened[name] = open_source(name)
            except (SourceError, UsageError) as error:
                opened[name] = str(error)
        yield _recheck_claim(claim, name, opened[name])


def _recheck_claim(claim: Claim, source: str, library: Library | str) -> dict[str, Any]:
    row = {"place": claim.place, "line": claim.line or None, "quote": claim.quote, "source": source}
    if isinstance(library, str):
        return {**row, "state": ClaimStatus.UNREACHABLE, "now": None, "message": library}
    finding = recheck(claim, library)
    now = None
    if finding.span is not None:
        clean_text = library.clean_text(finding.span)  # page footers are no change
        now = {
            "section_id": finding.section_id,
            "doc": finding.span.doc,
            "path": library.node(finding.section_id).path,
            "start_line": library.get_place(finding.span).first_line,
            "text": library.text_at(finding.span),
            "changes": format_word_diff(claim.quote, clean_text)
            if finding.status is ClaimStatus.CHANGED
            else None,
        }
    return {**row, "state": finding.status, "now": now, "message": finding.message or None}


def _name_state(row: Mapping[str, Any], *, is_first: bool) -> str:
    state: ClaimStatus = row["state"]
    return _WORDS_OF_STATES.get(state, "not found") if is_first and not row["message"] else state.value


def _format_row(row: Mapping[str, Any], *, is_first: bool) -> Iterator[str]:
    """Format a quote with where it is now, or why it cannot be checked."""
    place = f"{row['place']}:{row['line']}" if row["line"] else row["place"]
    yield sanitise_line(f'{place}: {_name_state(row, is_first=is_first)}: "{row["quote"]}"')
    if now := row["now"]:
        path = " > ".join(filter(None, [now["doc"], *now["path"]]))
        changes = f": {now['changes']}" if now["changes"] else ""
        yield "    " + sanitise_line(
            f"{'in' if is_first else 'now in'} [{now['section_id']}] {path}, line "
            f"{now['start_line']}{changes}"
        )
    elif row["message"]:
        yield f"    {sanitise_line(row['message'])}"
