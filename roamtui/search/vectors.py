"""`VectorIndex`: the vectors of a library's text, which express its meaning. A `VectorStore` keeps them.

A chunk is a short piece of a section's own text, with the titles above it.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from roamtui.document.document import NodeKind, hash_text
from roamtui.document.library import Library, Node
from roamtui.errors import RoamtuiError
from roamtui.outline.labels import PLAIN_PATH_STEP, strip_heading
from roamtui.search.base import Embedder, VectorArray, VectorRows
from roamtui.search.lance import LanceStore
from roamtui.search.section_store import SectionStore
from roamtui.sentences import iter_sentence_ends
from roamtui.text import Bounds, Span

_PATH_LENGTH_MAX = 200
"""Maximum length of the titles before a chunk, in characters. The start, which is farthest from the text, is
cut off."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s")
_CHANGED = (
    "{} gives vectors of another length than those in the index. "
    "Delete the index with `roamtui index SOURCE --delete`, and search again."
)
_LOADED_AT_ONCE = 4_096
_STORED_TYPE = "<f2"
"""Half precision. The dot product of two unit vectors of 384 numbers is then off by less than 0.001."""


VectorStore = SectionStore | LanceStore
"""Keeps vectors by the digest of their text. Several programs may use it at once."""


class _Section(NamedTuple):
    """What is embedded of a section."""

    titles: str
    text: str
    """Its own text without the heading, which is among the titles."""
    span: Span
    """Where the text is."""


def _read_section(node: Node) -> _Section | None:
    """Return what is embedded of a section, or None if it has only subsections or is an empty file."""
    document = node.document
    columns = document.columns
    start, end = columns.starts[node.row : node.row + 2]
    kind = columns.kinds[node.row]
    own = document.text[start:end]
    body = strip_heading(own) if kind is NodeKind.SECTION else own
    text = body.strip()
    if not text and (node.has_children or (node.is_loaded and kind is not NodeKind.SECTION)):
        return None
    key = document.key
    path = {posixpath.splitext(key)[0]: None}
    if kind is not NodeKind.TEXT:
        path |= dict.fromkeys(columns.path(node.row))
    titles = PLAIN_PATH_STEP.join(" ".join(title.split()) for title in path if title.strip())
    first = end - len(body.lstrip())
    return _Section(titles[-_PATH_LENGTH_MAX:], text, Span(doc=key, start=first, end=first + len(text)))


def split_text(text: str, size: int) -> Iterator[Bounds]:
    """Yield the bounds of pieces of at most `size` characters. Only white space is between them.

    A piece ends after the last paragraph that ends in its second half. If none does, it ends after a sentence
    or line, or else after a word.
    """
    position = 0
    while piece := text[position : position + size]:
        if position + size < len(text):
            piece = piece[: _find_last_end(piece, size // 2) or size]
        if words := piece.strip():
            start = position + len(piece) - len(piece.lstrip())
            yield start, start + len(words)
        position += len(piece)


def _find_last_end(piece: str, after: int) -> int:
    paragraphs = (match.end() for match in _PARAGRAPH_END.finditer(piece))
    sentences = chain(iter_sentence_ends(piece), [piece.rfind("\n") + 1])
    words = (match.end() for match in _SPACE.finditer(piece, after))
    last_ends = (max(ends, default=0) for ends in (paragraphs, sentences, words))
    return next((end for end in last_ends if end > after), 0)


class NearSection(NamedTuple):
    """How near a section is to a query in meaning."""

    cosine: float
    piece: Span | None
    """The nearest piece of its text, or None if it has only titles."""


class VectorIndex:
    """The vectors of one library's chunks. Some or all may be missing.

    Each chunk has a row. The key of its vector has the digest of its section's titles and text, its number,
    and the number of chunks. A section without text has one chunk with its titles. Any method may raise a
    `RoamtuiError`: the embedder failed or gives vectors of another length, or the store cannot be used.
    """

    def __init__(self, library: Library, chunk_size: int, store: VectorStore, embedder: Embedder) -> None:
        """Load the vectors that are stored. A chunk has up to `chunk_size` characters, without its titles."""
        import numpy as np  # noqa: PLC0415 - an extra

        self._library = library
        self._store = store
        self._embedder = embedder
        self._sections: dict[str, int] = {}
        """A number for each section, in document order. Sections with equal titles and text share one."""
        self._first_rows: list[int] = []
        """For each number, the row of its first chunk; at the end, the number of all rows."""
        self._keys: list[str] = []
        """The key of the vector of each row."""
        self._pieces: list[Bounds] = []
        """The bounds of each chunk in the text of its section."""
        numbers: dict[str, int] = {}
        for section_id in library.walk():
            if (section := _read_section(library.node(section_id))) is None:
                continue
            digest = hash_text("\n".join((str(chunk_size), section.titles, section.text)))
            if digest not in numbers:
                numbers[digest] = len(numbers)
                pieces = [*split_text(section.text, chunk_size)] or [(0, 0)]
                self._first_rows.append(len(self._keys))
                self._keys += (f"{digest}-{index}-{len(pieces)}" for index in range(len(pieces)))
                self._pieces += pieces
            self._sections[section_id] = numbers[digest]
        self._numbers = np.array([*self._sections.values()], dtype=np.intp)
        row_count = len(self._keys)
        self._first_rows.append(row_count)
        self._is_known = np.zeros(row_count, dtype=bool)
        self._matrix: VectorArray = np.zeros((row_count, 0), dtype=np.float32)
        """Unit vectors. Rows take no memory until they are written."""
        self._unsaved: list[int] = []
        stored = store.load(embedder.name)
        rows = {key: row for row, key in enumerate(self._keys)}
        found = ((rows[key], vector) for key, vector in stored.items() if key in rows)
        while batch := dict(islice(found, _LOADED_AT_ONCE)):
            if len({*map(len, batch.values())}) > 1:
                raise RoamtuiError(_CHANGED.format(embedder.name))
            vectors = np.frombuffer(b"".join(batch.values()), dtype=_STORED_TYPE)
            self._put([*batch], vectors.reshape(len(batch), -1))
        self._unused = [key for key in stored if key not in rows]
        """Keys of stored vectors of text that the library no longer has."""
        self.save()

    def __len__(self) -> int:
        """Return the number of sections."""
        return len(self._sections)

    @property
    def missing(self) -> int:
        """The number of chunks without a vector."""
        return int((~self._is_known).sum())

    @property
    def unsaved(self) -> int:
        """The number of vectors that are not in the store yet."""
        return len(self._unsaved)

    @property
    def has_any(self) -> bool:
        """Whether any chunk has a vector."""
        return bool(self._matrix.size)

    def count_compared(self) -> int:
        """Return the number of sections whose chunks all have vectors."""
        return len(self) - len(self._list_incomplete())

    def _list_incomplete(self) -> list[int]:
        """List the positions of the sections that lack a vector."""
        import numpy as np  # noqa: PLC0415 - an extra

        if not self._keys:
            return []
        is_whole = np.minimum.reduceat(self._is_known, self._first_rows[:-1])
        positions: list[int] = (~is_whole[self._numbers]).nonzero()[0].tolist()
        return positions

    def iter_missing(self, first: Iterable[str] = ()) -> Iterator[tuple[int, str]]:
        """Yield row and text of each chunk without a vector: of the sections `first`, then of all others."""
        ids = [*self._sections]
        others = (ids[position] for position in self._list_incomplete())
        for section_id in chain(first, others):
            missing = [row for row in self._list_rows(section_id) if not self._is_known[row]]
            section = _read_section(self._library.node(section_id)) if missing else None
            for row in missing:
                assert section is not None, "it has a chunk"
                yield row, f"{section.titles}\n{section.text[slice(*self._pieces[row])]}".strip()

    def _list_rows(self, section_id: str) -> range:
        """Return the rows of a section; none if it has only subsections."""
        number = self._sections.get(section_id)
        return range(0) if number is None else range(*self._first_rows[number : number + 2])

    def embed(self, chunks: Mapping[int, str]) -> None:
        """Embed chunks from `iter_missing`, by row."""
        # a batch takes as long as its longest text
        ordered = sorted(chunks.items(), key=lambda chunk: len(chunk[1]))
        vectors = normalise_rows(self._embedder.embed([text for _, text in ordered]))
        rows = [row for row, _ in ordered]
        self._put(rows, vectors.astype(_STORED_TYPE))
        self._unsaved += rows

    def save(self) -> None:
        """Save the vectors that are not in the store yet. If that fails, the next call tries again.

        Once no vector is missing and all files are loaded, stored vectors of other text are deleted.
        """
        if self._unsaved:
            keys = [self._keys[row] for row in self._unsaved]
            vectors = (vector.tobytes() for vector in self._matrix[self._unsaved].astype(_STORED_TYPE))
            self._store.save(self._embedder.name, dict(zip(keys, vectors, strict=True)))
            self._unsaved = []
        if self._unused and not self.missing:
            nodes = map(self._library.node, self._library.walk())
            if all(node.is_loaded and not node.problem for node in nodes):
                self._store.delete_unused(self._embedder.name, self._unused)
            self._unused = []

    def embed_query(self, query: str) -> VectorArray:
        """Return the vector of a query. The first call may load a model."""
        vector: VectorArray = normalise_rows(self._embedder.embed([query]))[0]
        if self.has_any and len(vector) != self._matrix.shape[1]:
            raise RoamtuiError(_CHANGED.format(self._embedder.name))
        if not vector.any():
            raise RoamtuiError(f"{self._embedder.name} finds no meaning in the query.")
        return vector

    def rank(
        self, query: VectorArray, *, limit: int, within: str | None = None, also: Iterable[str] = ()
    ) -> dict[str, NearSection]:
        """Return the sections with the chunks most similar to a query, best first.

        Up to `limit` sections come first, then the other sections of `also`. Sections without
        vectors are left out.
        """
        import numpy as np  # noqa: PLC0415 - an extra

        if not self.has_any:
            return {}
        cosines = np.where(self._is_known, self._matrix @ query, -np.inf)
        best = np.maximum.reduceat(cosines, self._first_rows[:-1])
        inside = frozenset(self._library.walk(within)) if within is not None else self._sections.keys()
        ids = [*self._sections]
        ranked = (ids[index] for index in (-best[self._numbers]).argsort(kind="stable"))
        nearest = islice((section_id for section_id in ranked if section_id in inside), limit)
        near: dict[str, NearSection] = {}
        for section_id in dict.fromkeys((*nearest, *also)):
            rows = self._list_rows(section_id)
            row = max(rows, key=lambda row: float(cosines[row]), default=-1)
            section = _read_section(self._library.node(section_id)) if rows else None
            if section is not None and self._is_known[row]:
                piece = section.span.get_part(*self._pieces[row]) if section.text else None
                near[section_id] = NearSection(float(cosines[row]), piece)
        return near

    def _put(self, rows: Sequence[int], vectors: VectorArray) -> None:
        """Set the vectors of rows. A vector with infinite or undefined numbers becomes zero."""
        import numpy as np  # noqa: PLC0415 - an extra

        if not self.has_any:
            self._matrix = np.zeros((len(self._matrix), vectors.shape[1]), dtype=np.float32)
        if vectors.shape[1] != self._matrix.shape[1]:
            raise RoamtuiError(_CHANGED.format(self._embedder.name))
        self._matrix[rows] = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0)
        self._is_known[rows] = True


def normalise_rows(matrix: VectorRows) -> VectorArray:
    """Return the rows scaled to length 1. Rows with infinite or undefined numbers become zero."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.asarray(matrix, dtype=np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
