"""`VectorIndex`: the chunks of one library as vectors, which SQLite keeps, compared with a query's by brute force.

A chunk is a piece of a section's own text that is small enough to be one thought, under the titles above it.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.paths import make_private_folder
from roamtui.search.base import Embedder, EmbedKind, Progress, StoredVectorArray, VectorArray

_PATH_LENGTH_MAX = 200
"""Characters of titles before a chunk; of more, the last stay, which are nearest to the text."""
_PATH_JOINT = " > "
_ENDS = (re.compile(r"\n[ \t]*\n"), re.compile(r"[.!?][\"')\]]*\s|\n"), re.compile(r"\s"))
"""Where a chunk may end, the best first: after a paragraph, after a sentence or line, after a word."""
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class EmbeddingChunk:
    """A piece of one section, as an embedder is given it."""

    section_id: str
    text: str
    """The titles above and its own on one line, then the piece."""


def make_chunks(library: Library, section_ids: Iterable[str], *, size: int, overlap: int) -> Iterator[EmbeddingChunk]:
    """Yield the chunks of sections in order; a section without text has one, its titles.

    Args:
        library: Holds the sections. No chunk crosses the end of a section's own text.
        section_ids: What is cut.
        size: Characters of a chunk at most, its titles not counted.
        overlap: Characters that a chunk repeats of the one before, less than half of `size`.
    """
    for section_id in section_ids:
        document, row = library.locate(section_id)
        columns = document.columns
        starts = columns.starts
        text = document.text[starts[row] : starts[row + 1]]
        kind = columns.kinds[row]
        if not text.strip() and library.get_label(section_id).has_more:
            continue
        titles = _list_titles(library, section_id)
        if kind is NodeKind.SECTION:
            text = _drop_heading(text)
        pieces = [text[start:end] for start, end in split_text(text, size=size, overlap=overlap)]
        if summary := library.summary(section_id):
            pieces.append(summary)
        for piece in pieces or [""]:
            whole = f"{titles}\n{piece}".strip()
            if whole:
                yield EmbeddingChunk(section_id, whole)


def split_text(text: str, *, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return where the pieces of a text begin and end; together they hold every character but white space.

    A piece ends where a paragraph, a sentence or a word ends, if one does so in its second half.
    """
    spans = []
    start = _skip_space(text, 0)
    while start < len(text):
        end = _choose_chunk_end(text, start, size)
        stripped = start + len(text[start:end].rstrip())
        spans.append((start, stripped))
        if end >= len(text):
            break
        start = _skip_space(text, max(_skip_to_word(text, end - overlap, end), start + 1))
    return spans


def _choose_chunk_end(text: str, start: int, size: int) -> int:
    limit = start + size
    if limit >= len(text):
        return len(text)
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, start + size // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _skip_to_word(text: str, start: int, end: int) -> int:
    """Return where the first whole word from `start` on begins, `end` where none does before."""
    if start >= end or text[start - 1].isspace():
        return min(start, end)
    match = _ENDS[-1].search(text, start, end)
    return match.end() if match else end


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _list_titles(library: Library, section_id: str) -> str:
    """Return the titles from the file's path down to the section's own, each once, on one line."""
    document, row = library.locate(section_id)
    key = document.key
    titles = {key[: key.rfind(".")] if "." in key.rpartition("/")[2] else key: None}
    if document.columns.kinds[row] is not NodeKind.TEXT:
        titles |= dict.fromkeys(document.columns.path(row))
    line = _PATH_JOINT.join(" ".join(title.split()) for title in titles if title.strip())
    return line[-_PATH_LENGTH_MAX:]


def _drop_heading(text: str) -> str:
    """Return a section's own text without the lines of its heading, which stand in the titles already."""
    first, _, rest = text.partition("\n")
    if first.lstrip().startswith("#"):
        return rest
    second, _, after = rest.partition("\n")
    return after if _UNDERLINE.match(second) else text


_FILE = "vectors.sqlite3"
_DIGEST_BYTES = 16
_WAIT_SECONDS = 10
_ASKED_AT_ONCE = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors(
    digest BLOB NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(digest, model)
) WITHOUT ROWID"""
_BATCH = 64
_STORED = "<f2"
"""Half precision: of 384 numbers each of norm 1, a dot product is off by less than 0.001."""


def digest_text(text: str) -> bytes:
    """Return what a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class VectorStore:
    """Keeps vectors between runs, for all libraries and models. To be used from one thread at a time.

    Where the file cannot be used, vectors live as long as the store.
    """

    def __init__(self, folder: Path | None) -> None:
        self.notes: list[str] = []
        """Why an older file is lost, nothing is kept, or texts are embedded again; a sentence each."""
        self._has_lost = False
        self._connection = self._open(folder) if folder is not None else _connect(":memory:")

    def load(self, digests: Iterable[bytes], model: str) -> dict[bytes, bytes]:
        """Return the vectors of a model that are known, by digest."""
        query = "SELECT vector FROM vectors WHERE digest = ? AND model = ?"
        try:
            found = {digest: self._connection.execute(query, (digest, model)).fetchone() for digest in digests}
        except sqlite3.Error as error:
            self._note_loss(error)
            return {}
        return {digest: row[0] for digest, row in found.items() if row is not None}

    def get_other_model(self, digests: Iterable[bytes], model: str) -> str | None:
        """Return a model other than this one of which vectors of the same texts are known."""
        query = "SELECT model FROM vectors WHERE digest = ? AND model != ? LIMIT 1"
        rows = (self._connection.execute(query, (digest, model)).fetchone() for digest in digests)
        try:
            return next((str(row[0]) for row in rows if row is not None), None)
        except sqlite3.Error:
            return None

    def save(self, vectors: Mapping[bytes, bytes], model: str) -> None:
        """Keep vectors by digest; what was kept is kept whatever happens next."""
        rows = [(digest, model, vector) for digest, vector in vectors.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._note_loss(error)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _open(self, folder: Path) -> sqlite3.Connection:
        path = folder / _FILE
        try:
            make_private_folder(folder)
            return _connect(path)
        except (OSError, sqlite3.OperationalError) as error:
            self._note_loss(error)
            return _connect(":memory:")
        except sqlite3.DatabaseError:
            self.notes.append(f"{path} was damaged, so all embeddings are computed again.")
        try:
            path.unlink()
            return _connect(path)
        except (OSError, sqlite3.Error) as error:
            self._note_loss(error)
            return _connect(":memory:")

    def _note_loss(self, error: Exception) -> None:
        if self._has_lost:
            return
        self._has_lost = True
        self.notes.append(f"Embeddings cannot be kept ({error}), so they are computed again next time.")


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
        self._chunks = tuple(make_chunks(library, library.walk(), size=size, overlap=overlap))
        self._matrix = embed_texts([chunk.text for chunk in self._chunks], embedder, store, tell).astype("<f4")

    def __len__(self) -> int:
        return len(self._chunks)

    def rank(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `limit` sections with the cosine of their most similar chunk, the best first."""
        if not self._chunks:
            return []
        cosines = self._matrix @ embed_query(query, self._embedder)
        best: dict[str, float] = {}
        for place in (-cosines).argsort(kind="stable"):
            section_id = self._chunks[place].section_id
            if section_id not in best and (within is None or section_id in within):
                best[section_id] = float(cosines[place])
                if len(best) == limit:
                    break
        return list(best.items())


def embed_texts(
    texts: Sequence[str], embedder: Embedder, store: VectorStore, tell: Progress | None
) -> StoredVectorArray:
    """Return a row for each text, of length 1; what the store knows is not made again, each new batch is kept at once.

    Args:
        texts: As the embedder gets them.
        embedder: Makes what is missing.
        store: Keeps all of it.
        tell: Is told how many of those that are missing are made, and of how many.
    """
    import numpy as np  # noqa: PLC0415 - an extra

    if not texts:
        return np.zeros((0, 0), dtype=_STORED)
    digests = [digest_text(text) for text in texts]
    known = store.load(digests, embedder.name)
    missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
    other = store.get_other_model(missing, embedder.name)
    if other is not None:
        store.notes.append(f"Embedded again by {embedder.name}: the vectors that were kept are of {other}.")
    waiting = sorted(missing, key=lambda digest: len(missing[digest]))  # a batch takes as long as its longest text
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        made = embedder.embed([missing[digest] for digest in batch], kind=EmbedKind.DOCUMENT)
        vectors = [row.astype(_STORED).tobytes() for row in _normalise_rows(made)]
        new = dict(zip(batch, vectors, strict=True))
        store.save(new, embedder.name)
        known |= new
        if tell is not None:
            tell(start + len(batch), len(waiting))
    return np.frombuffer(b"".join(known[digest] for digest in digests), dtype=_STORED).reshape(len(texts), -1)


def embed_query(query: str, embedder: Embedder) -> VectorArray:
    """Return a query as a vector of length 1."""
    row: VectorArray = _normalise_rows(embedder.embed([query], kind=EmbedKind.QUERY))[0]
    return row


def _normalise_rows(matrix: VectorArray | Sequence[Sequence[float]]) -> VectorArray:
    """Return vectors as rows of length 1; one without direction stays zero."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.asarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
