"""The catalogue of a library as tables in LanceDB: its documents, and what a model wrote of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from roamtui.search.catalogue.entries import DocumentEntry
from roamtui.search.lance.database import Database, delete_rows, retry_conflicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOCUMENTS = "documents"
SUMMARIES = "summaries"


def open_catalogue(uri: str) -> LanceCatalogue:
    """Return the catalogue in a LanceDB database.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: The database cannot be opened.
    """
    return LanceCatalogue(Database(uri))


class LanceCatalogue:
    """Keeps entries and summaries.

    Args:
        database: Where the tables lie.

    Raises:
        IndexLostError: The database cannot be used; of every method.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entries: Sequence[DocumentEntry]) -> None:
        """Let the table hold these entries and no others; only what changed is written."""
        arrow = self._database.arrow
        text, number = arrow.string(), arrow.int64()
        fields = [
            ("key", text),
            ("title", text),
            ("digest", text),
            ("sections", number),
            ("tokens", number),
            ("outline", text),
            ("summary", text),
            ("is_summarised", arrow.bool_()),
            ("place", number),
        ]
        table = self._database.open_table(DOCUMENTS, fields)
        rows = [{**asdict(entry), "place": place} for place, entry in enumerate(entries)]

        def replace_rows() -> None:
            table.checkout_latest()
            kept = {row["key"]: row for row in table.search().to_arrow().to_pylist()}
            new = [row for row in rows if kept.get(row["key"]) != row]
            keys = {row["key"] for row in rows}
            delete_rows(table, "key", [key for key in kept if key not in keys] + [row["key"] for row in new])
            if new:
                table.add(arrow.Table.from_pylist(new, schema=arrow.schema(fields)))

        with self._database.failing():
            retry_conflicts(replace_rows)

    def list_documents(self) -> tuple[DocumentEntry, ...]:
        """Return all entries in the order of the library; none where there is no catalogue."""
        with self._database.failing():
            table = self._database.find_table(DOCUMENTS)
            rows: list[dict[str, Any]] = table.search().to_arrow().to_pylist() if table is not None else []
        rows.sort(key=lambda row: row.pop("place"))
        return tuple(DocumentEntry(**row) for row in {row["key"]: row for row in rows}.values())

    def save_summaries(self, summaries: Mapping[str, str]) -> None:
        """Add summaries by the digest of what they are of; those that are there already are not written again."""
        arrow = self._database.arrow
        fields = [("digest", arrow.string()), ("text", arrow.string())]
        table = self._database.open_table(SUMMARIES, fields)
        kept = self.load_summaries()
        new = {digest: text for digest, text in summaries.items() if kept.get(digest) != text}
        if not new:
            return
        rows = [{"digest": digest, "text": text} for digest, text in new.items()]

        def replace_rows() -> None:
            delete_rows(table, "digest", new)
            table.add(arrow.Table.from_pylist(rows, schema=arrow.schema(fields)))

        with self._database.failing():
            retry_conflicts(replace_rows)

    def load_summaries(self) -> dict[str, str]:
        """Return all summaries by the digest of what they are of."""
        with self._database.failing():
            table = self._database.find_table(SUMMARIES)
            if table is None:
                return {}
            rows = table.search().select(["digest", "text"]).to_arrow()
            return dict(zip(rows["digest"].to_pylist(), rows["text"].to_pylist(), strict=True))
