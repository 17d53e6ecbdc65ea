"""`VectorIndex`: searches a library's chunks by comparing all vectors, which a `VectorStore` keeps.

A chunk is a short piece of a section's own text, with the titles above it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from roamtui.document.document import NodeKind, hash_text
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.base import Embedder, Progress, VectorArray, VectorRows
from roamtui.sentences import iter_sentence_ends

_PATH_LENGTH_MAX = 200
"""Maximum length of the titles before a chunk, in characters. The start, which is farthest from the text, is
cut off."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s")
_HEADING = re.compile(r"\s*#.*\n?|.*\n[ \t]{0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")
_BATCH_SIZE = 64
_SAVED_AT_ONCE = 512
"""Number of vectors that are saved together. Each time takes several requests to object storage."""
_CHANGED = (
    "{} gives vectors of another length than those in the index. "
    "Delete the index with `roamtui index SOURCE --delete`, and search again."
)
STORED_TYPE = "<f2"
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


def make_chunks(library: Library, size: int) -> Iterator[tuple[str, str]]:
    """Yield a library's chunks in order: the section's id, and the text that the embedder receives."""
    for section_id in library.walk():
        for chunk in make_section_chunks(library, section_id, size):
            yield section_id, chunk


def make_section_chunks(
    library: Library, section_id: str, size: int, length_max: int | None = None
) -> Iterator[str]:
    """Yield the chunks of a section's own text, up to `length_max` characters, each after the titles.

    A section without text has one chunk with its titles, unless it has subsections. A chunk has up to `size`
    characters besides its titles.
    """
    node = library.node(section_id)
    document = node.document
    row = node.row
    columns = document.columns
    key = document.key
    text = document.text[columns.starts[row] : columns.starts[row + 1]][:length_max]
    if not text.strip() and node.has_children:
        return
    path = {key[: key.rfind(".")] if "." in key.rpartition("/")[2] else key: None}
    if columns.kinds[row] is not NodeKind.TEXT:
        path |= dict.fromkeys(columns.path(row))
    titles = " > ".join(" ".join(title.split()) for title in path if title.strip())[-_PATH_LENGTH_MAX:]
    if columns.kinds[row] is NodeKind.SECTION and (heading := _HEADING.match(text)) is not None:
        text = text[heading.end() :]  # the heading is among the titles
    for piece in [*split_text(text, size)] or [""]:
        yield f"{titles}\n{piece}".strip()


def split_text(text: str, size: int) -> Iterator[str]:
    """Yield the pieces of a text, which together have everything except white space.

    A piece ends after the last paragraph that ends in its second half. If none does, it ends after a sentence
    or line, or else after a word.
    """
    position = 0
    while piece := text[position : position + size]:
        if position + size < len(text):
            spaces = [match.end() for match in _SPACE.finditer(piece)]
            lines = [end for end in spaces if piece[end - 1] == "\n"]
            paragraphs = [match.end() for match in _PARAGRAPH_END.finditer(piece)]
            best_first = (paragraphs, [*iter_sentence_ends(piece), *lines], spaces)
            last = (max(ends, default=0) for ends in best_first)
            piece = piece[: next((end for end in last if end > size // 2), size)]
        position += len(piece)
        if piece.strip():
            yield piece.strip()


class VectorIndex:
    """Ranks the sections of a library by their most similar chunk.

    The constructor embeds only texts whose vectors are not stored. It may take minutes. If it is interrupted,
    the next one continues.
    """

    def __init__(
        self,
        library: Library,
        chunk_size: int,
        store: VectorStore,
        embedder: Embedder,
        on_progress: Progress | None = None,
    ) -> None:
        self._library = library
        self._embedder = embedder
        chunks = list(make_chunks(library, chunk_size))
        self._section_ids = [section_id for section_id, _ in chunks]
        self._matrix = embed_texts([text for _, text in chunks], embedder, store, on_progress).astype("<f4")

    def rank(self, query: str, *, limit: int | None = None, within: str | None = None) -> dict[str, float]:
        """Return the sections with the most similar chunks, best first, and the cosines of these chunks."""
        if not self._section_ids:
            return {}
        inside = frozenset(self._library.walk(within)) if within is not None else None
        query_row = normalise_rows(self._embedder.embed([query], is_query=True))[0]
        if len(query_row) != self._matrix.shape[1]:
            raise RoamtuiError(_CHANGED.format(self._embedder.name))
        cosines = self._matrix @ query_row
        best: dict[str, float] = {}
        for index in (-cosines).argsort(kind="stable"):
            section_id = self._section_ids[index]
            if inside is None or section_id in inside:
                best.setdefault(section_id, float(cosines[index]))
                if len(best) == limit:
                    break
        return best


def embed_texts(
    texts: Sequence[str], embedder: Embedder, store: VectorStore, on_progress: Progress | None = None
) -> VectorArray:
    """Return a unit vector for each text, at half precision. Only missing ones are computed, and stored.

    `on_progress` receives the number of missing vectors that are computed, and their total. It is first
    called before any text is embedded.

    Raises:
        RoamtuiError: The embedder failed, or another model has taken its place.
    """
    import numpy as np  # noqa: PLC0415 - an extra

    if not texts:
        return np.zeros((0, 0), dtype=STORED_TYPE)
    digests = [*map(hash_text, texts)]
    known = store.load(embedder.name)
    missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
    if missing and on_progress is not None:
        on_progress(0, len(missing))
    # a batch takes as long as its longest text
    waiting = sorted(missing, key=lambda digest: len(missing[digest]))
    new: dict[str, bytes] = {}
    try:
        for start in range(0, len(waiting), _BATCH_SIZE):
            batch = waiting[start : start + _BATCH_SIZE]
            new |= compute_vectors({digest: missing[digest] for digest in batch}, embedder)
            if len(new) >= _SAVED_AT_ONCE:
                store.save(embedder.name, new)
                known |= new
                new = {}
            if on_progress is not None:
                on_progress(start + len(batch), len(waiting))
    finally:
        if new:
            store.save(embedder.name, new)
    known |= new
    rows = [known[digest] for digest in digests]
    if len({*map(len, rows)}) > 1:
        raise RoamtuiError(_CHANGED.format(embedder.name))
    return np.frombuffer(b"".join(rows), dtype=STORED_TYPE).reshape(len(texts), -1)


def compute_vectors(texts: Mapping[str, str], embedder: Embedder) -> dict[str, bytes]:
    """Return the unit vector of each text as it is stored, by the digest of the text."""
    rows = normalise_rows(embedder.embed([*texts.values()]))
    return dict(zip(texts, (row.astype(STORED_TYPE).tobytes() for row in rows), strict=True))


def normalise_rows(matrix: VectorRows) -> VectorArray:
    """Return the rows scaled to length 1. Zero vectors stay zero."""
    import numpy as np  # noqa: PLC0415 - an extra

    rows = np.asarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
