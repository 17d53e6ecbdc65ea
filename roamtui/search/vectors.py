"""`VectorIndex`: the chunks of one library as vectors, which SQLite keeps, compared with a query's by brute force.

A chunk is a piece of a section's own text that is small enough to be one thought, under the titles above it.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.locations import make_private_folder
from roamtui.search.base import Embedder, EmbedKind, Progress

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray


_PATH_LENGTH_MAX = 200
"""Characters of titles before a chunk; of more, the last stay, which are nearest to the text."""
_PATH_JOINT = " > "
_ENDS = (re.compile(r"\n[ \t]*\n"), re.compile(r"[.!?][\"')\]]*\s|\n"), re.compile(r"\s"))
"""Where a chunk may end, the best first: after a paragraph, after a sentence or line, after a word."""
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section, as an embedder is given it."""

    section_id: str
    text: str
    """The titles above and its own on one line, then the piece."""


def make_chunks(library: Library, section_ids: Iterable[str], *, size: int, overlap: int) -> Iterator[Chunk]:
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
        if not text.strip() and library.heading(section_id).has_more:
            continue
        titles = _list_titles(library, section_id)
        if kind is NodeKind.SECTION:
            text = _drop_heading(text)
        pieces = [text[start:end] for start, end in cut_text(text, size=size, overlap=overlap)]
        if summary := library.summary(section_id):
            pieces.append(summary)
        for piece in pieces or [""]:
            whole = f"{titles}\n{piece}".strip()
            if whole:
                yield Chunk(section_id, whole)


def cut_text(text: str, *, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return where the pieces of a text begin and end; together they hold every character but white space.

    A piece ends where a paragraph, a sentence or a word ends, if one does so in its second half.
    """
    spans = []
    start = _skip_space(text, 0)
    while start < len(text):
        end = _find_end(text, start, size)
        stripped = start + len(text[start:end].rstrip())
        spans.append((start, stripped))
        if end >= len(text):
            break
        start = _skip_space(text, max(_find_word(text, end - overlap, end), start + 1))
    return spans


def _find_end(text: str, start: int, size: int) -> int:
    limit = start + size
    if limit >= len(text):
        return len(text)
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, start + size // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _find_word(text: str, start: int, end: int) -> int:
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
