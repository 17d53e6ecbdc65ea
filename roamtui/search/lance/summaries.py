"""What a model wrote of documents and sections, as a table in LanceDB."""

from __future__ import annotations

from collections.abc import Mapping

from roamtui.search.lance.database import Database, delete_rows, retry_conflicts

TABLE = "summaries"


def load_summaries(database: Database) -> dict[str, str]:
    """Return all summaries by the digest of what they are of."""
    with database.failing():
        table = database.find_table(TABLE)
        if table is None:
            return {}
        rows = table.search().select(["digest", "text"]).to_arrow()
        return dict(zip(rows["digest"].to_pylist(), rows["text"].to_pylist(), strict=True))


def save_summaries(database: Database, summaries: Mapping[str, str]) -> None:
    """Add summaries by the digest of what they are of; those that are there already are not written again."""
    kept = load_summaries(database)
    new = {digest: text for digest, text in summaries.items() if kept.get(digest) != text}
    if not new:
        return
    arrow = database.arrow
    fields = [("digest", arrow.string()), ("text", arrow.string())]
    table = database.open_table(TABLE, fields)
    rows = [{"digest": digest, "text": text} for digest, text in new.items()]

    def replace_rows() -> None:
        delete_rows(table, "digest", new)
        table.add(arrow.Table.from_pylist(rows, schema=arrow.schema(fields)))

    with database.failing():
        retry_conflicts(replace_rows)
