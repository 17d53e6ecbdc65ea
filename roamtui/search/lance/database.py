"""`Database`: a LanceDB database by its URI, its tables made when they are needed, its failures in one sentence."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import UsageError
from roamtui.search.base import IndexLostError

_PACKAGE = "lancedb"
_INSTALL = 'pip install "roamtui[lancedb]"'
_CLOUD = "db://"
_REGION_VARIABLE = "LANCEDB_REGION"
_HOST_VARIABLE = "LANCEDB_HOST_OVERRIDE"
_SEEN_AFTER = timedelta(seconds=2)
"""How long what another program wrote may stay unseen."""
_KEPT_VERSIONS = timedelta(hours=1)
"""How long an older version of a table is kept, which another program may still be reading."""
_ASKED_AT_ONCE = 500
_ATTEMPTS = 8
"""How often something is tried that another program may have come before."""
_PAUSE_SECONDS = 0.1
_UNINDEXED_MIN = 1_000
_UNINDEXED_SHARE = 0.05
"""Rows that are not in an index are searched one by one; more than this of them are worth tidying."""
_REASON_LENGTH = 200
_KNOWN = (
    (r"NoSuchBucket", "there is no such bucket"),
    (r"api_key is required|Failed to get AWS credentials", "no key was found. Set {keys}"),
    (r"AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|\b40[13]\b", "access was refused. Look at {keys}"),
    (r"BadScheme", "an AWS_ENDPOINT that begins with http:// needs AWS_ALLOW_HTTP=true"),
    (r"kind: Connect\b|connect_failures=3", "its host cannot be reached. Look at {places} and at the network"),
    (r"request_failures=3", "its host answers with errors. Try again later"),
)
"""Patterns of an error's text, the first that is found, and what it means."""
_VARIABLES = {
    "s3": ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT, AWS_REGION"),
    "db": ("LANCEDB_API_KEY", "LANCEDB_HOST_OVERRIDE, LANCEDB_REGION"),
}
"""By scheme, where keys and addresses come from."""
_OTHERS = ("the keys in the environment", "the address")


class Database:
    """Tables by name. May be used from any thread.

    Args:
        uri: A folder, ``s3://…``, ``gs://…``, ``az://…`` or ``db://…``; credentials come from the environment.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: It cannot be opened.
    """

    def __init__(self, uri: str) -> None:
        check_extra()
        os.environ.setdefault("LANCEDB_LOG", "error")  # else it writes warnings to the terminal by itself
        os.environ.setdefault("LANCE_LOG", "error")
        self.uri = uri if "://" in uri else str(Path(uri).expanduser())
        import lancedb  # noqa: PLC0415 - an extra
        import lancedb.index  # noqa: PLC0415 - likewise
        import lancedb.query  # noqa: PLC0415 - likewise
        import lancedb.rerankers  # noqa: PLC0415 - likewise
        import pyarrow as pa  # noqa: PLC0415 - likewise

        self.arrow: Any = pa
        """pyarrow, in which rows are given and taken."""
        self.queries: Any = lancedb.query
        """Classes of queries."""
        self.indexes: Any = lancedb.index
        """Classes of indexes."""
        self.rerankers: Any = lancedb.rerankers
        """Classes of what fuses the two lists of a hybrid query."""
        with self.failing():
            self._connection = lancedb.connect(self.uri, read_consistency_interval=_SEEN_AFTER, **_find_cloud(self.uri))

    def open_table(self, name: str, fields: Iterable[tuple[str, Any]]) -> Any:  # noqa: ANN401 - LanceDB's own
        """Return a table, made with these columns where it is missing."""
        schema = self.arrow.schema(list(fields))
        with self.failing():
            for attempt in range(_ATTEMPTS):
                try:
                    if name in self.list_tables():
                        return self._connection.open_table(name)
                    return self._connection.create_table(name, schema=schema, mode="create")
                except (ValueError, RuntimeError):  # another program may just be making it
                    if attempt == _ATTEMPTS - 1:
                        raise
                    _pause(attempt)
        raise AssertionError

    def find_table(self, name: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        """Return a table, None where there is none, or where another program is just making it."""
        with self.failing():
            try:
                return self._connection.open_table(name) if name in self.list_tables() else None
            except ValueError as error:
                if "was not found" not in str(error):
                    raise
                return None

    def list_tables(self) -> list[str]:
        """Return the names of all tables."""
        with self.failing():
            names: list[str] = []
            token = None
            while True:
                page = self._connection.list_tables(page_token=token)
                names += page.tables
                token = page.page_token
                if not token:
                    return names

    def drop_table(self, name: str) -> None:
        """Delete a table that is there."""
        with self.failing():
            self._connection.drop_table(name)

    def measure(self) -> int | None:
        """Return the bytes that the database takes on disk, None where it is no folder."""
        folder = Path(self.uri)
        if "://" in self.uri or not folder.is_dir():
            return None
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turn LanceDB's errors into one of ours that names the database."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
            reason = explain_failure(error, self.uri)
            shown = shorten(plain_line(self.uri), 80)
            raise IndexLostError(f"The index {shown} cannot be used: {reason}.", is_damaged=False) from error


def explain_failure(error: Exception, uri: str) -> str:
    """Return why something of LanceDB's failed, without a full stop."""
    text = str(error)
    keys, places = _VARIABLES.get(uri.partition("://")[0], _OTHERS)
    for pattern, meaning in _KNOWN if "://" in uri else ():
        if re.search(pattern, text):
            return meaning.format(keys=keys, places=places)
    return shorten(plain_line(text.partition(", /")[0]), _REASON_LENGTH) or type(error).__name__


def _find_cloud(uri: str) -> dict[str, str]:
    """Return where LanceDB's cloud is; its key LanceDB itself takes from the environment."""
    if not uri.startswith(_CLOUD):
        return {}
    asked = {"region": os.environ.get(_REGION_VARIABLE), "host_override": os.environ.get(_HOST_VARIABLE)}
    return {name: value for name, value in asked.items() if value}


def retry_conflicts(write: Callable[[], None]) -> None:
    """Write something that may be written again, and do so while other programs are writing at the same time."""
    for attempt in range(_ATTEMPTS):
        try:
            return write()
        except RuntimeError as error:
            if "conflict" not in str(error) or attempt == _ATTEMPTS - 1:
                raise
            _pause(attempt)
    return None


def _pause(attempt: int) -> None:
    """Wait a little, the longer the more often; never as long as another program that began at the same time."""
    time.sleep(_PAUSE_SECONDS * (attempt + 1) * (0.5 + random.random()))  # noqa: S311 - no secret


def check_extra() -> None:
    """Refuse to go on without LanceDB."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise UsageError(f"an index by URI needs LanceDB. Install it with: {_INSTALL}")


def delete_rows(table: Any, column: str, values: Iterable[str]) -> None:  # noqa: ANN401 - LanceDB's own
    """Delete the rows that have one of these values, which are digests or ids, in a column."""
    some = list(values)
    for start in range(0, len(some), _ASKED_AT_ONCE):
        table.delete(f"{column} IN ({quote(some[start : start + _ASKED_AT_ONCE])})")


def quote(values: Iterable[str]) -> str:
    """Return texts as SQL has them, joined by commas."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def tidy_table(table: Any, indexes: Iterable[tuple[str, Any]]) -> None:  # noqa: ANN401 - LanceDB's own
    """Make the indexes that are missing, and bring them up to date where much is not in them."""
    count = table.count_rows()
    if not count:
        return
    made = {index.columns[0]: index.name for index in table.list_indices()}
    is_behind = False
    for column, config in indexes:
        if column not in made:
            table.create_index(column, config=config)
        else:
            stats = table.index_stats(made[column])
            is_behind |= stats is not None and stats.num_unindexed_rows > max(_UNINDEXED_MIN, _UNINDEXED_SHARE * count)
    if is_behind:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # the cloud tidies by itself, and says so
            table.optimize(cleanup_older_than=_KEPT_VERSIONS)


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
