"""`roamtui recheck`: whether quotes in conversations, tables and Markdown files are still in their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from roamtui.conversation.events import DocumentIdentified
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.transcript import Citation
from roamtui.document.counts import format_count
from roamtui.document.library import Library, LibrarySource
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, UsageError, format_reason
from roamtui.headless.output import write_json, write_text
from roamtui.paths import conversations_path
from roamtui.quotes.recheck import Claim, ClaimStatus, format_word_diff, parse_source_line, read_claims, recheck
from roamtui.sources.read import is_path
from roamtui.table.store import is_table, read_table

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --source."


class ClaimGroup(Struct, frozen=True, kw_only=True):
    """The claims of one conversation, file or row of a table, and how to open their source."""

    claims: Sequence[Claim]
    source: str
    """The source of claims that name no source themselves. Empty if unknown."""
    folder: Path = Path()
    """Folder that paths are relative to."""
    links: tuple[str, ...] = ()
    """Links to the pages that the conversation opened, read or cited."""
    approved: frozenset[str] = frozenset()
    """Origins of pages that a person approved."""
    sources: tuple[LibrarySource, ...] = ()
    """All sources that the conversation ever had; empty if it never had several."""
    is_typed: bool = True
    """Whether a person typed the source. If not, it is named in a file, perhaps of another person."""


def run_recheck(targets: Sequence[str], reopen: Callable[..., Library], source: str | None, *, as_json: bool) -> int:
    """Check conversations, files and tables, or without any, all conversations. Return 1 if a quote is lost or changed.

    Args:
        targets: Ids of conversations, paths of Markdown files, and folders of tables.
        reopen: `Bootstrap.reopen`.
        source: If not None, replaces the source of everything.
        as_json: Whether to write all quotes as JSON.

    Raises:
        RoamtuiError: A target cannot be read.
    """
    store = ConversationStore(conversations_path())
    rows = recheck_claims(collect_claims(store, targets), reopen, source)
    counts = Counter(row["state"] for row in rows)
    state_counts = {status.value: counts[status.value] for status in ClaimStatus}
    if as_json:
        write_json({"counts": state_counts, "quotes": rows})
    else:
        summary = ", ".join(f"{count} {state}" for state, count in state_counts.items() if count)
        lines = [line for row in rows if row["state"] != ClaimStatus.SAME for line in _format_row(row)]
        lines.append(f"{format_count(len(rows), 'quote')} checked{f': {summary}' if summary else ''}.")
        write_text("\n".join(lines) + "\n")
    return int(any(row["state"] not in (ClaimStatus.SAME, ClaimStatus.MOVED) for row in rows))


def collect_claims(store: ConversationStore, targets: Sequence[str]) -> list[ClaimGroup]:
    """Collect the verified quotes of conversations and tables, and the claims in Markdown files.

    Raises:
        StoreError: There is no such conversation.
        SourceError: A file cannot be read.
    """
    known = {summary.id: summary.source for summary in store.list()}
    groups = []
    for target in targets or known:
        path = Path(target)
        if target not in known and is_table(path):
            table = read_table(path)
            for row in table.rows:
                claims: list[Claim] = []
                for column, cell in zip(table.columns, table.list_cells(row), strict=True):
                    claims += _to_claims(cell.citations if cell is not None else (), f"{row.title}, {column.title}")
                groups.append(ClaimGroup(claims=claims, source=row.source, is_typed=False))
        elif target not in known and path.suffix:
            try:
                text = path.read_text("utf-8", "replace")
            except OSError as error:
                raise SourceError(f"could not read {path}: {format_reason(error)}.") from None
            claims, source = [*read_claims(text, str(path))], parse_source_line(text)
            groups.append(ClaimGroup(claims=claims, source=source, folder=path.parent, is_typed=False))
        else:
            saved, sources = store.load(target), dict[str, LibrarySource]()
            for event in store.read(target):  # a quote may be in a source that was taken out
                if isinstance(event, DocumentIdentified):
                    sources |= {source.key: source for source in event.sources}
            groups.append(
                ClaimGroup(
                    claims=[
                        claim
                        for exchange in saved.transcript.exchanges
                        for claim in _to_claims(exchange.citations, f"{target}, question {exchange.number}")
                    ],
                    source=known[target],
                    links=saved.pages,
                    approved=saved.approved_origins,
                    sources=tuple(sources.values()),
                )
            )
    return groups


def _to_claims(citations: Sequence[Citation], place: str) -> list[Claim]:
    return [
        Claim(quote=citation.quote, section_id=citation.section_id, place=place)
        for citation in citations
        if citation.quote is not None and citation.is_verified
    ]


def recheck_claims(
    groups: Sequence[ClaimGroup], reopen: Callable[..., Library], replacement: str | None = None
) -> list[dict[str, Any]]:
    """Recheck each quote, and return its JSON values. Each source is opened once per group.

    Args:
        groups: The claims to recheck.
        reopen: `Bootstrap.reopen`.
        replacement: If not None, replaces the source of each group.
    """
    rows = []
    for group in groups:
        opened: dict[str, Library | str] = {"": _NO_SOURCE}
        for claim in group.claims:
            name, is_own = claim.source or group.source, group.is_typed
            if replacement and not claim.source:
                name, is_own = replacement, True
            elif name and is_path(name) and (group.folder / name).exists():
                name = str(group.folder / name)  # paths in a file are relative to the file's folder
            if name not in opened:
                added = group.sources if name == group.source else ()
                try:
                    opened[name] = reopen(name, group.links, group.approved, is_own=is_own, added=added)
                except (SourceError, UsageError) as error:
                    opened[name] = str(error)
            rows.append(_to_json_row(claim, name, opened[name]))
    return rows


def _to_json_row(claim: Claim, source: str, library: Library | str) -> dict[str, Any]:
    row = {"place": claim.place, "line": claim.line or None, "quote": claim.quote, "source": source}
    row |= {"section_id": claim.section_id or None, "anchor": claim.anchor or None}
    if isinstance(library, str):
        return {**row, "state": ClaimStatus.UNREACHABLE.value, "now": None, "message": library}
    finding, now = recheck(claim, library), None
    if finding.span is not None:
        first, last = library.lines_of(finding.span)
        text = library.text_at(finding.span)
        now = {
            "section_id": finding.section_id,
            "doc": finding.span.doc,
            "path": list(library.node(finding.section_id).path),
            "start_line": first,
            "end_line": last,
            "page": library.document(finding.span.doc).page_at(finding.span.start),
            "text": text,
            "changes": format_word_diff(claim.quote, text) if finding.standing is ClaimStatus.CHANGED else None,
        }
    return {**row, "state": finding.standing.value, "now": now, "message": finding.message or None}


def _format_row(row: Mapping[str, Any]) -> list[str]:
    """Format a quote that is not as before, with where it is now, or why it cannot be checked."""
    place = f"{row['place']}:{row['line']}" if row["line"] else row["place"]
    lines = [f'{place}: {row["state"]}: "{row["quote"]}"']
    if now := row["now"]:
        path = " > ".join(filter(None, [now["doc"], *now["path"]]))
        page = f"p. {now['page']}, " if now["page"] else ""
        changes = f": {now['changes']}" if now["changes"] else ""
        lines.append(f"now in [{now['section_id']}] {path}, {page}line {now['start_line']}{changes}")
    elif row["message"]:
        lines.append(row["message"])
    return [f"{'    ' if number else ''}{sanitise_line(line)}" for number, line in enumerate(lines)]
