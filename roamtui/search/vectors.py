"""`VectorIndex`: the chunks of one library as vectors, which SQLite keeps, compared with a query's by brute force."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.locations import make_private_folder
from roamtui.search.base import Embedder, EmbedKind, Progress
from roamtui.search.chunks import Chunk, make_chunks

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray

_FILE = "vectors.sqlite3"
_DIGEST_BYTES = 16
_WAIT_SECONDS = 10
_ASKED_AT_ONCE = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors(
    digest BLOB NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(digest, model)
) WITHOUT ROWID"""
_BATCH = 64
STORED = "<f2"
"""Half precision: of 384 numbers each of norm 1, a dot product is off by less than 0.001."""


def digest_text(text: str) -> bytes:
    """Return what a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class VectorStore:
    """Keeps vectors between runs, for all libraries and models. To be used from one thread at a time.

    Where the file cannot be used, vectors live as long as the store, and `problem` says so.
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


class VectorIndex:
    """Ranks the sections of a library by their most similar chunk. Vectors of unchanged text are never made twice.

    Making one embeds what the store does not know, which may take minutes; it can be broken off and taken up again.
    """

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        store: VectorStore,
        chunking: tuple[int, int],
        tell: Progress | None = None,
    ) -> None:
        size, overlap = chunking
        self._embedder = embedder
        self._chunks: tuple[Chunk, ...] = tuple(make_chunks(library, library.walk(), size=size, overlap=overlap))
        self.replaced_model: str | None = None
        """Another model whose vectors of this text were known, so that all was embedded again."""
        self._matrix = self._load(store, tell)

    def __len__(self) -> int:
        return len(self._chunks)

    def rank(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `limit` sections with the cosine of their most similar chunk, the best first."""
        import numpy as np  # noqa: PLC0415 - an extra

        if not self._chunks:
            return []
        vector = normalise_rows(self._embedder.embed([query], kind=EmbedKind.QUERY))[0]
        cosines = self._matrix @ vector
        best: dict[str, float] = {}
        for place in np.argsort(-cosines, kind="stable"):
            section_id = self._chunks[place].section_id
            if section_id not in best and (within is None or section_id in within):
                best[section_id] = float(cosines[place])
                if len(best) == limit:
                    break
        return list(best.items())

    def _load(self, store: VectorStore, tell: Progress | None) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - an extra

        digests = [digest_text(chunk.text) for chunk in self._chunks]
        known = store.load(digests, self._embedder.name)
        missing = {
            digest: chunk.text for digest, chunk in zip(digests, self._chunks, strict=True) if digest not in known
        }
        if missing:
            self.replaced_model = store.find_other_model(tuple(missing), self._embedder.name)
        known |= embed_missing(missing, self._embedder, store, tell)
        if not digests:
            return np.zeros((0, 0), dtype=np.float32)
        joined = b"".join(known[digest] for digest in digests)
        return np.frombuffer(joined, dtype=STORED).reshape(len(digests), -1).astype(np.float32)


def embed_missing(
    missing: Mapping[bytes, str], embedder: Embedder, store: VectorStore, tell: Progress | None
) -> dict[bytes, bytes]:
    """Return the vectors of texts by their digests; each batch that is embedded is kept at once."""
    found: dict[bytes, bytes] = {}
    waiting = sorted(missing, key=lambda digest: len(missing[digest]))  # a batch takes as long as its longest text
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        made = embedder.embed([missing[digest] for digest in batch], kind=EmbedKind.DOCUMENT)
        vectors = [row.astype(STORED).tobytes() for row in normalise_rows(made)]
        new = dict(zip(batch, vectors, strict=True))
        store.save(new, embedder.name)
        found |= new
        if tell is not None:
            tell(start + len(batch), len(waiting))
    return found


def normalise_rows(matrix: NDArray[np.float32] | Sequence[Sequence[float]]) -> NDArray[np.float32]:
    """Return vectors as rows of length 1; one without direction stays zero."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.asarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
