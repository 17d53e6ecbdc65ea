"""`roamtui recheck`: whether quotes in conversations and Markdown files are still in their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roamtui.conversation.events import DocumentIdentified
from roamtui.conversation.log import ConversationStore
from roamtui.document.counts import format_count
from roamtui.document.library import Library, LibrarySource
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, UsageError, format_reason
from roamtui.headless.output import write_json, write_text
from roamtui.paths import conversations_path
from roamtui.quotes.recheck import Claim, ClaimStatus, format_word_diff, parse_source_line, read_claims, recheck
from roamtui.sources.read import is_path
from roamtui.table.store import Table, is_table, read_table

_NO_SOURCE = "Unknown source. Add a line such as `Source: handbook.md`, or use --source."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGroup:
    """The claims of one conversation or file, and how to open their source."""

    claims: tuple[Claim, ...]
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
    """Whether a person typed the source. If not, it is named in a file."""


OpenSource = Callable[[str, ClaimGroup], Library]
"""Opens a source with all its files and the pages that the group needs."""


def collect_claims(store: ConversationStore, targets: Sequence[str], *, all_conversations: bool) -> list[ClaimGroup]:
    """Collect the verified quotes of conversations and the claims in Markdown files.

    A target is the id of a conversation, or the path of a file or of the folder of a table.

    Raises:
        StoreError: There is no such conversation.
        SourceError: A file cannot be read.
    """
    sources = {summary.id: summary.source for summary in store.list()}
    ids = [*sources] if all_conversations else []
    groups = []
    for target in targets:
        if target not in sources and is_table(Path(target)):
            groups += _collect_table_claims(read_table(Path(target)))
        elif target not in sources and Path(target).suffix:
            path = Path(target)
            try:
                text = path.read_text("utf-8", "replace")
            except OSError as error:
                raise SourceError(f"could not read {path}: {format_reason(error)}.") from None
            claims, source = read_claims(text, str(path)), parse_source_line(text)
            groups.append(ClaimGroup(claims=claims, source=source, folder=path.parent, is_typed=False))
        else:
            ids.append(target)
    for conversation_id in ids:
        saved = store.load(conversation_id)
        claims = tuple(
            Claim(
                quote=citation.quote,
                section_id=citation.section_id,
                place=f"{conversation_id}, question {exchange.number}",
            )
            for exchange in saved.transcript.exchanges
            for citation in exchange.citations
            if citation.quote is not None and citation.is_verified
        )
        groups.append(
            ClaimGroup(
                claims=claims,
                source=sources[conversation_id],
                links=saved.pages,
                sources=_list_all_sources(store, conversation_id),
                approved=saved.approved_origins,
            )
        )
    return groups


def _collect_table_claims(table: Table) -> list[ClaimGroup]:
    claims: dict[str, list[Claim]] = {}
    for row in table.rows:
        for column, cell in zip(table.columns, table.list_cells(row), strict=True):
            claims.setdefault(row.source, []).extend(
                Claim(quote=citation.quote, section_id=citation.section_id, place=f"{row.title}, {column.title}")
                for citation in (cell.citations if cell is not None else ())
                if citation.quote is not None and citation.is_verified
            )
    # Another person may have written the table, so its sources are trusted no more than those named in a file.
    return [ClaimGroup(claims=tuple(of_row), source=source, is_typed=False) for source, of_row in claims.items()]


def _list_all_sources(store: ConversationStore, conversation_id: str) -> tuple[LibrarySource, ...]:
    """List all sources that a conversation ever had, because its quotes may be in one that was taken out."""
    sources: dict[str, LibrarySource] = {}
    for event in store.read(conversation_id):
        if isinstance(event, DocumentIdentified):
            sources |= {source.key: source for source in event.sources}
    return tuple(sources.values())


def recheck_claims(
    groups: Sequence[ClaimGroup], open_source: OpenSource, source: str | None = None
) -> list[dict[str, Any]]:
    """Recheck each quote, and return its JSON values. Each source is opened once per group.

    Args:
        groups: The claims to recheck.
        open_source: Opens a source, or raises `SourceError`.
        source: If not None, replaces the source of each group.
    """
    rows = []
    for group in groups:
        opened: dict[str, Library | str] = {}
        for claim in group.claims:
            is_replaced = not claim.source and source is not None
            name = source if is_replaced and source else claim.source or group.source
            path = group.folder / name
            if not is_replaced and name and is_path(name) and path.exists():
                name = str(path)  # paths in a file are relative to the file's folder
            if name and name not in opened:
                try:
                    opened[name] = open_source(name, replace(group, is_typed=group.is_typed or is_replaced))
                except (SourceError, UsageError) as error:
                    opened[name] = str(error)
            rows.append(_to_json_row(claim, name, opened.get(name, _NO_SOURCE)))
    return rows


def _to_json_row(claim: Claim, source: str, library: Library | str) -> dict[str, Any]:
    row = {"place": claim.place, "line": claim.line or None, "quote": claim.quote, "source": source}
    row |= {"section_id": claim.section_id or None, "anchor": claim.anchor or None}
    if isinstance(library, str):
        return {**row, "state": ClaimStatus.UNREACHABLE.value, "now": None, "message": library}
    finding = recheck(claim, library)
    now: dict[str, Any] | None = None
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
    groups = collect_claims(ConversationStore(conversations_path()), targets, all_conversations=not targets)

    def open_source(name: str, group: ClaimGroup) -> Library:
        added = group.sources if name == group.source else ()
        return reopen(name, group.links, group.approved, is_own=group.is_typed, added=added)

    return print_rows(recheck_claims(groups, open_source, source), as_json=as_json)


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> int:
    """Write every quote that is not as before, and the count of each state. As JSON, write all quotes.

    Return 0 if all quotes are the same or have only moved, otherwise 1.
    """
    exit_status = int(any(row["state"] not in (ClaimStatus.SAME.value, ClaimStatus.MOVED.value) for row in rows))
    state_counts = Counter(row["state"] for row in rows)
    counts = {status.value: state_counts[status.value] for status in ClaimStatus}
    if as_json:
        write_json({"counts": counts, "quotes": list(rows)})
        return exit_status
    lines: list[str] = []
    for row in rows:
        if row["state"] == ClaimStatus.SAME.value:
            continue
        place = f"{row['place']}:{row['line']}" if row["line"] else row["place"]
        lines.append(f'{sanitise_line(place)}: {row["state"]}: "{sanitise_line(row["quote"])}"')
        if now := row["now"]:
            path = " > ".join(map(sanitise_line, [*([now["doc"]] if now["doc"] else []), *now["path"]]))
            page = f"p. {now['page']}, " if now["page"] else ""
            changes = f": {sanitise_line(now['changes'])}" if now["changes"] else ""
            lines.append(f"    now in [{now['section_id']}] {path}, {page}line {now['start_line']}{changes}")
        elif row["message"]:
            lines.append(f"    {sanitise_line(row['message'])}")
    summary = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    lines.append(f"{format_count(len(rows), 'quote')} checked{f': {summary}' if summary else ''}.")
    write_text("\n".join(lines) + "\n")
    return exit_status
