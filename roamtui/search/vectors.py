"""`VectorIndex`: the vectors of a library's text, which express its meaning. A `VectorStore` keeps them.

A chunk is a short piece of a section's own text, with the titles above it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isfinite
from typing import Protocol

from roamtui.document.document import Document, NodeKind, hash_text
from roamtui.document.library import Library, Node
from roamtui.errors import RoamtuiError
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.search.base import Embedder, VectorArray, VectorRows
from roamtui.sentences import iter_sentence_ends
from roamtui.text import Span

_PATH_LENGTH_MAX = 200
"""Maximum length of the titles before a chunk, in characters. The start, which is farthest from the text, is
cut off."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s")
_HEADING = re.compile(r"\s*#.*\n?|.*\n[ \t]{0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")
_CHANGED = (
    "{} gives vectors of another length than those in the index. "
    "Delete the index with `roamtui index SOURCE --delete`, and search again."
)
_LOADED_AT_ONCE = 4_096
_STORED_TYPE = "<f2"
"""Half precision. The dot product of two unit vectors of 384 numbers is then off by less than 0.001."""


class VectorStore(Protocol):
    """Keeps vectors by the digest of their text. Several programs may use it at once.

    Raises:
        IndexLostError: The store cannot be used.
    """

    def load(self, kind: str, /) -> dict[str, bytes]:
        """Return all vectors of an embedder, at half precision."""

    def save(self, kind: str, vectors: Mapping[str, bytes], /) -> None:
        """Add vectors of an embedder."""

    def delete_unused(self, kind: str, keys: Sequence[str], /) -> None:
        """Delete vectors that the library no longer has, unless other libraries may have them."""


def make_section_chunks(library: Library, section_id: str, size: int) -> Iterator[str]:
    """Yield the chunks of a section's own text, each after the titles.

    A section without text has one chunk with its titles, unless it has subsections. A chunk has up to `size`
    characters, not counting its titles.
    """
    if (section := _read_section(library, section_id)) is not None:
        titles, text = section
        for piece in [*split_text(text, size)] or [""]:
            yield f"{titles}\n{piece}".strip()


def _read_section(library: Library, section_id: str) -> tuple[str, str] | None:
    """Return the titles of a section and its text without the heading, or None if it has no chunk."""
    node = library.node(section_id)
    document, start, end = _locate_text(node)
    row = node.row
    columns = document.columns
    key = document.key
    text = document.text[start:end].strip()
    if not text and node.has_children:
        return None
    path = {key[: key.rfind(".")] if "." in key.rpartition("/")[2] else key: None}
    if columns.kinds[row] is not NodeKind.TEXT:
        path |= dict.fromkeys(columns.path(row))
    titles = PLAIN_PATH_STEP.join(" ".join(title.split()) for title in path if title.strip())
    return titles[-_PATH_LENGTH_MAX:], text


def _locate_text(node: Node) -> tuple[Document, int, int]:
    """Return where the own text of a node is, without its heading, which is among the titles."""
    document = node.document
    columns = document.columns
    start, end = columns.starts[node.row : node.row + 2]
    is_section = columns.kinds[node.row] is NodeKind.SECTION
    heading = _HEADING.match(document.text[start:end]) if is_section else None
    return document, start + (heading.end() if heading else 0), end


def split_text(text: str, size: int) -> Iterator[str]:
    """Yield the pieces of a text, which together have everything except white space.

    A piece ends after the last paragraph that ends in its second half. If none does, it ends after a sentence
    or line, or else after a word.
    """
    position = 0
    while piece := text[position : position + size]:
        if position + size < len(text):
            piece = piece[: _find_last_end(piece, size // 2) or size]
        position += len(piece)
        if piece.strip():
            yield piece.strip()


def _find_last_end(piece: str, after: int) -> int:
    paragraphs = (match.end() for match in _PARAGRAPH_END.finditer(piece))
    sentences = chain(iter_sentence_ends(piece), [piece.rfind("\n") + 1])
    words = (match.end() for match in _SPACE.finditer(piece, after))
    last_ends = (max(ends, default=0) for ends in (paragraphs, sentences, words))
    return next((end for end in last_ends if end > after), 0)


class VectorIndex:
    """The vectors that exist of one library's chunks. Some or all may be missing.

    A section is divided into chunks only when it is embedded, because that takes longer than to load vectors.
    They are stored by the digest of its titles and text, the number of the chunk, and the number of chunks.
    Any method may raise a `RoamtuiError`: the embedder failed, another one has taken its place, or the store
    cannot be used.
    """

    def __init__(self, library: Library, chunk_size: int, store: VectorStore, embedder: Embedder) -> None:
        """Load the vectors that are stored."""
        import numpy as np  # noqa: PLC0415 - an extra

        self._library = library
        self._chunk_size = chunk_size
        self._store = store
        self._embedder = embedder
        self._texts: dict[str, int] = {}
        """The number of each text, by its digest. Several sections may have it."""
        self._sections: dict[str, int] = {}
        """The number of the text of each section, in the order of the document."""
        lengths: list[int] = []
        for section_id in library.walk():
            if (section := _read_section(library, section_id)) is not None:
                digest = hash_text("\n".join((str(chunk_size), *section)))
                number = self._texts.setdefault(digest, len(lengths))
                self._sections[section_id] = number
                if number == len(lengths):
                    lengths.append(len(section[1]))
        self._numbers = np.array([*self._sections.values()], dtype=np.intp)
        self._chunk_counts = [0] * len(lengths)
        """The number of chunks of each text, 0 if it is not divided yet."""
        self._chunk_counts_max = [2 * length // chunk_size + 1 for length in lengths]
        """All chunks but the last have more than half of the size."""
        self._starts = [0] * len(lengths)
        """The row of the first chunk of each text."""
        self._missing = np.array(lengths, dtype=np.intp) // chunk_size + 1
        """How many vectors each text lacks: about, until it is divided."""
        rows_max = sum(self._chunk_counts_max)
        self._owners = np.zeros(rows_max, dtype=np.intp)
        """The number of the text that each row belongs to."""
        self._is_known = np.zeros(rows_max, dtype=bool)
        self._matrix: VectorArray = np.zeros((rows_max, 0), dtype=np.float32)
        """Unit vectors. Rows take no memory until they are written."""
        self._row_count = 0
        self._unsaved: list[int] = []
        stored = store.load(embedder.name)
        rows = {key: self._reserve_stored_row(key) for key in stored}
        found = ((row, stored[key]) for key, row in rows.items() if row is not None)
        while batch := dict(islice(found, _LOADED_AT_ONCE)):
            if len({*map(len, batch.values())}) > 1:
                raise RoamtuiError(_CHANGED.format(embedder.name))
            vectors = np.frombuffer(b"".join(batch.values()), dtype=_STORED_TYPE)
            self._put([*batch], vectors.reshape(len(batch), -1))
        self._unused = [key for key, row in rows.items() if row is None]
        """Stored vectors of text that the library no longer has."""
        self.save()

    def __len__(self) -> int:
        """Return the number of sections."""
        return len(self._sections)

    @property
    def missing(self) -> int:
        """The number of chunks without a vector, about."""
        return int(self._missing.sum())

    @property
    def unsaved(self) -> int:
        """The number of vectors that would be lost now."""
        return len(self._unsaved)

    @property
    def has_any(self) -> bool:
        """Whether any chunk has a vector."""
        return bool(self._matrix.size)

    def count_compared(self) -> int:
        """Return the number of sections all of whose chunks have vectors."""
        return int((self._missing[self._numbers] == 0).sum())

    def iter_missing(self, first: Iterable[str] = ()) -> Iterator[tuple[int, str]]:
        """Yield what `prepare_missing` returns for the sections `first`, then for all others."""
        ids = [*self._sections]
        others = (ids[index] for index in self._missing[self._numbers].nonzero()[0])
        for section_id in chain(first, others):
            yield from self.prepare_missing(section_id).items()

    def prepare_missing(self, section_id: str) -> dict[int, str]:
        """Return the chunks of a section that have no vector, by the rows that their vectors will have."""
        number = self._sections.get(section_id)
        if number is None or not self._missing[number]:
            return {}
        chunks = [*make_section_chunks(self._library, section_id, self._chunk_size)]
        start = self._reserve_rows(number, len(chunks))
        if start is None:
            self._missing[number] = 0
            return {}
        return {row: chunk for row, chunk in enumerate(chunks, start) if not self._is_known[row]}

    def embed(self, chunks: Mapping[int, str]) -> None:
        """Embed chunks of `prepare_missing`."""
        # a batch takes as long as its longest text
        ordered = sorted(chunks.items(), key=lambda chunk: len(chunk[1]))
        vectors = normalise_rows(self._embedder.embed([text for _, text in ordered]))
        rows = [row for row, _ in ordered]
        self._put(rows, vectors.astype(_STORED_TYPE))
        self._unsaved += rows

    def save(self) -> None:
        """Save what has been embedded since the last time. If that fails, it is not tried again.

        Once nothing is missing, and all files are read, stored vectors of other text are deleted.
        """
        unsaved, self._unsaved = self._unsaved, []
        if unsaved:
            digests = [*self._texts]
            numbers = self._owners[unsaved].tolist()
            places = (
                (digests[number], row - self._starts[number], self._chunk_counts[number])
                for row, number in zip(unsaved, numbers, strict=True)
            )
            keys = ("-".join(map(str, place)) for place in places)
            vectors = (vector.tobytes() for vector in self._matrix[unsaved].astype(_STORED_TYPE))
            self._store.save(self._embedder.name, dict(zip(keys, vectors, strict=True)))
        if self._unused and not self.missing:
            unused, self._unused = self._unused, []
            nodes = map(self._library.node, self._library.walk())
            if all(node.is_loaded and not node.problem for node in nodes):
                self._store.delete_unused(self._embedder.name, unused)

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
    ) -> dict[str, float]:
        """Return the sections with the chunks most similar to a query, best first, and their cosines.

        Up to `limit` sections come first, then the other sections of `also`. Sections without
        vectors are left out.
        """
        import numpy as np  # noqa: PLC0415 - an extra

        if not self.has_any:
            return {}
        used = slice(self._row_count)
        cosines = np.where(self._is_known[used], self._matrix[used] @ query, -np.inf)
        best = np.full(len(self._texts), -np.inf, dtype=np.float32)
        np.maximum.at(best, self._owners[used], cosines)
        inside = frozenset(self._library.walk(within)) if within is not None else self._sections.keys()
        ids = [*self._sections]
        ranked = (ids[index] for index in (-best[self._numbers]).argsort(kind="stable"))
        nearest = islice((section_id for section_id in ranked if section_id in inside), limit)
        others = (section_id for section_id in also if section_id in self._sections)
        found = {section_id: float(best[self._sections[section_id]]) for section_id in chain(nearest, others)}
        return {section_id: cosine for section_id, cosine in found.items() if isfinite(cosine)}

    def find_nearest_piece(self, query: VectorArray, section_id: str) -> Span | None:
        """Return the piece of a section's text that is most similar to a query, or None without vectors."""
        number = self._sections.get(section_id)
        section = None if number is None else _read_section(self._library, section_id)
        if number is None or section is None or not section[1]:
            return None
        pieces = [*split_text(section[1], self._chunk_size)]
        start = self._reserve_rows(number, len(pieces))
        if start is None:
            return None
        known = [row for row in range(start, start + len(pieces)) if self._is_known[row]]
        if not known:
            return None
        nearest = max(known, key=lambda row: float(self._matrix[row] @ query))
        document, first, _ = _locate_text(self._library.node(section_id))
        for piece in pieces[: nearest - start]:  # the same words may be there several times
            first = document.text.index(piece, first) + len(piece)
        piece = pieces[nearest - start]
        first = document.text.index(piece, first)
        return Span(doc=document.key, start=first, end=first + len(piece))

    def _reserve_rows(self, number: int, chunk_count: int) -> int | None:
        """Give a text its rows, if it has none, and return the first.

        Return None if it has another number of rows, because another version stored vectors of other chunks.
        """
        if not self._chunk_counts[number]:
            start = self._row_count
            self._row_count += chunk_count
            self._owners[start : self._row_count] = number
            self._starts[number] = start
            self._chunk_counts[number] = self._missing[number] = chunk_count
        return self._starts[number] if self._chunk_counts[number] == chunk_count else None

    def _reserve_stored_row(self, key: str) -> int | None:
        """Return the row of a stored vector, or None if the library has no such chunk."""
        digest, *place = key.split("-")
        number = self._texts.get(digest)
        if number is None or len(place) != 2:
            return None
        index, chunk_count = map(int, place)
        if not index < chunk_count <= self._chunk_counts_max[number]:
            return None
        start = self._reserve_rows(number, chunk_count)
        return None if start is None else start + index

    def _put(self, rows: Sequence[int], vectors: VectorArray) -> None:
        """Take the vectors of chunks. One with infinite or undefined numbers becomes zero."""
        import numpy as np  # noqa: PLC0415 - an extra

        if not self.has_any:
            self._matrix = np.zeros((len(self._matrix), vectors.shape[1]), dtype=np.float32)
        if vectors.shape[1] != self._matrix.shape[1]:
            raise RoamtuiError(_CHANGED.format(self._embedder.name))
        self._matrix[rows] = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0)
        np.subtract.at(self._missing, self._owners[rows], ~self._is_known[rows])
        self._is_known[rows] = True


def normalise_rows(matrix: VectorRows) -> VectorArray:
    """Return the rows scaled to length 1. Rows with infinite or undefined numbers become zero."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.asarray(matrix, dtype=np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
