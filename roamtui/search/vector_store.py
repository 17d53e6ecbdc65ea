"""Vectors that were computed before, in SQLite, by a digest of the text and the name of the model that made them."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from roamtui.private_folders import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_FILE = "vectors.sqlite3"
_DIGEST_BYTES = 16
_WAIT_SECONDS = 10
_ASKED_AT_ONCE = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors(
    digest BLOB NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(digest, model)
) WITHOUT ROWID"""


def digest_text(text: str) -> bytes:
    """Return what a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class VectorStore:
    """Keeps vectors between runs, for all libraries and models. To be used from one thread at a time.

    Where the file cannot be used, vectors live as long as the store, and `problem` says so.

    Args:
        folder: Where the file lies; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.problem = ""
        """Why an older file is lost, or nothing is kept; a sentence, empty where all is well."""
        self._connection = self._open(folder) if folder is not None else _connect(":memory:")

    def load(self, digests: Iterable[bytes], model: str) -> dict[bytes, bytes]:
        """Return the vectors of a model that are known, by digest."""
        found: dict[bytes, bytes] = {}
        for some in _split(tuple(dict.fromkeys(digests))):
            marks = ", ".join("?" * len(some))
            query = f"SELECT digest, vector FROM vectors WHERE digest IN ({marks}) AND model = ?"  # noqa: S608 - marks
            found.update(self._connection.execute(query, (*some, model)))
        return found

    def find_other_model(self, digests: Sequence[bytes], model: str) -> str | None:
        """Return a model other than this one of which vectors of the same texts are known."""
        for some in _split(digests):
            marks = ", ".join("?" * len(some))
            query = f"SELECT model FROM vectors WHERE digest IN ({marks}) AND model != ? LIMIT 1"  # noqa: S608 - marks
            row = self._connection.execute(query, (*some, model)).fetchone()
            if row is not None:
                return str(row[0])
        return None

    def save(self, vectors: Mapping[bytes, bytes], model: str) -> None:
        """Keep vectors by digest; what was kept is kept whatever happens next."""
        rows = [(digest, model, vector) for digest, vector in vectors.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", rows)
        except sqlite3.Error as error:
            self.problem = f"Embeddings cannot be kept ({error}), so they are computed again next time."

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _open(self, folder: Path) -> sqlite3.Connection:
        path = folder / _FILE
        try:
            make_private_folder(folder)
            return _connect(path)
        except sqlite3.OperationalError as error:
            return self._do_without(error)
        except sqlite3.DatabaseError:
            self.problem = f"{path} was damaged, so all embeddings are computed again."
            with suppress(OSError):
                path.unlink()
        except OSError as error:
            return self._do_without(error)
        try:
            return _connect(path)
        except sqlite3.Error as error:
            return self._do_without(error)

    def _do_without(self, error: Exception) -> sqlite3.Connection:
        self.problem = f"Embeddings cannot be kept ({error}), so they are computed again next time."
        return _connect(":memory:")


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        with connection:
            connection.execute(_TABLE)
        connection.execute("SELECT digest, model, vector FROM vectors LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _split(digests: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (digests[start : start + _ASKED_AT_ONCE] for start in range(0, len(digests), _ASKED_AT_ONCE))
