"""`SummaryStore`: keeps summaries that models wrote, in a file next to the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from roamtui.errors import StoreError
from roamtui.paths import make_private_folder

_WAIT_SECONDS = 10
_TABLE = """
CREATE TABLE IF NOT EXISTS summaries(
    digest TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, number INTEGER PRIMARY KEY, UNIQUE(digest, model)
)"""


class SummaryStore:
    """Stores summaries by the digest of the summarised text and the name of the model.

    Raises:
        StoreError: The file cannot be read or written. Every method may raise this.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, model: str | None = None) -> dict[str, str]:
        """Return the summaries of one model by digest, or the newest summary of each digest from any model."""
        if not self.path.exists():
            return {}
        query = "SELECT digest, text FROM summaries WHERE model = coalesce(?, model) ORDER BY number"
        with self._connect() as connection:
            return dict(connection.execute(query, (model,)))

    def save(self, summaries: Mapping[str, str], model: str) -> None:
        """Save summaries by digest. If that fails, none of them is saved."""
        rows = [(digest, model, text) for digest, text in summaries.items()]
        with self._connect() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO summaries(digest, model, text) VALUES(?, ?, ?)", rows)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            make_private_folder(self.path.parent)
            with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as connection:
                self.path.chmod(0o600)
                connection.execute(_TABLE)
                yield connection
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(f"Could not read or write the summaries in {self.path}: {error}. Try again.") from None
        except sqlite3.Error as error:
            lost = "Delete that file; its summaries are lost."
            raise StoreError(f"The summaries in {self.path} are damaged ({error}). {lost}") from None
