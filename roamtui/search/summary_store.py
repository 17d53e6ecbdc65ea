"""`SummaryStore`: what a model wrote of the texts of a library, in a file beside their index."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from roamtui.errors import StoreError
from roamtui.paths import make_private_folder

_WAIT_SECONDS = 10
_TABLE = """
CREATE TABLE IF NOT EXISTS summaries(
    digest TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, number INTEGER PRIMARY KEY, UNIQUE(digest, model)
)"""


class SummaryStore:
    """Keeps summaries by the digest of what they are of and the model that wrote them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, model: str | None = None) -> dict[str, str]:
        """Return summaries by digest: those of one model, or of each text the newest; none where there is no file."""
        if not self.path.exists():
            return {}
        query = "SELECT digest, text FROM summaries WHERE model = coalesce(?, model) ORDER BY number"
        try:
            with closing(self._connect()) as connection:
                return dict(connection.execute(query, (model,)))
        except (sqlite3.Error, OSError) as error:
            raise self._fail(error) from None

    def save(self, summaries: Mapping[str, str], model: str) -> None:
        """Keep summaries that a model wrote; what is kept is kept whatever happens next."""
        rows = [(digest, model, text) for digest, text in summaries.items()]
        try:
            make_private_folder(self.path.parent)
            with closing(self._connect()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO summaries(digest, model, text) VALUES(?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            raise self._fail(error) from None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_WAIT_SECONDS)
        try:
            self.path.chmod(0o600)
            connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _fail(self, error: Exception) -> StoreError:
        if isinstance(error, OSError | sqlite3.OperationalError):
            return StoreError(f"The summaries in {self.path} cannot be read or written now: {error}. Try it again.")
        return StoreError(f"The summaries in {self.path} cannot be used ({error}). Delete that file; they are lost.")
