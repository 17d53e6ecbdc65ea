"""`WarmCache`: what parsing a large document gave, on disk by the digest of its text, so that it opens without parsing.

A file holds a head, columns as arrays and a digest of all of it. What is damaged, short or of another version is as
good as absent. Nothing depends on it: any failure means that the document is parsed.
"""

from __future__ import annotations

import os
import sys
from array import array
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from roamtui import __version__
from roamtui.document.columns import Columns, nest_levels
from roamtui.document.document import Document, hash_text
from roamtui.document.node import NodeKind
from roamtui.document.text import LENGTH_MIN, keep_text
from roamtui.private_folders import drop_least_used, make_private_folder, write_private_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES_MAX = 200_000_000
"""Of all files together; the least recently used go first."""

_FORMAT = b"roamtui outline 1\n"
_DIGEST_SIZE = 16
_KINDS = tuple(NodeKind)
_COUNT_BYTES = 8
_ID_BYTES = 4


class WarmCache:
    """A folder of parsed outlines."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, text: str, *, name: str, notes: tuple[str, ...] = (), is_markdown: bool = True) -> Document | None:
        """Return the document that `text` was parsed into before, with ids and sizes; None where it is not here.

        Args:
            text: All of a single document.
            name: Its file's name, which is the title where the text has none.
            notes: As in `parse_document`.
            is_markdown: As in `parse_document`.
        """
        if len(text) < LENGTH_MIN:
            return None
        kept = keep_text(text)
        digest = hash_text(kept)
        path = self._path(digest, name, is_markdown=is_markdown)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        try:
            title, columns, ids, own_tokens = _unpack(data, len(text))
        except (ValueError, IndexError):
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        document = Document(key="", title=title, text=kept, columns=columns, notes=notes)
        vars(document).update(ids=ids, own_tokens=own_tokens, content_hash=digest)
        return document

    def write(self, document: Document, *, name: str, is_markdown: bool = True) -> bool:
        """Keep a single document that was parsed, with its ids and sizes.

        Returns:
            Whether it is kept: not where it is small, kept already or holds links, where ids and sizes were not made
            anyway, or where the folder cannot be written.
        """
        is_made = {"ids", "own_tokens"} <= vars(document).keys()
        if len(document.text) < LENGTH_MIN or not is_made or document.key or any(document.columns.urls):
            return False
        path = self._path(document.content_hash, name, is_markdown=is_markdown)
        if path.exists():
            return False
        try:
            make_private_folder(self._folder)
            write_private_file(path, _pack(document))
            drop_least_used(self._folder, "*.outline", BYTES_MAX)
        except OSError:
            return False
        return True

    def _path(self, digest: str, name: str, *, is_markdown: bool) -> Path:
        said = f"{__version__}\x1f{digest}\x1f{name}\x1f{is_markdown}"
        name = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_SIZE).hexdigest()
        return self._folder / f"{name}.outline"


def _pack(document: Document) -> bytes:
    columns = document.columns
    titles = [title.encode("utf-8", "surrogatepass") for title in (document.title, *columns.titles)]
    blocks = (
        bytes(map(_KINDS.index, columns.kinds)),
        columns.levels,
        _store(columns.starts),
        _store(document.own_tokens),
        b"".join(map(bytes.fromhex, document.ids)),
        _store(array("Q", map(len, titles))),
        b"".join(titles),
    )
    body = b"".join(len(block).to_bytes(_COUNT_BYTES, "little") + block for block in blocks)
    return _FORMAT + blake2b(body, digest_size=_DIGEST_SIZE).digest() + body


def _unpack(data: bytes, length: int) -> tuple[str, Columns, tuple[str, ...], array[int]]:
    """Return title, columns, ids and sizes.

    Raises:
        ValueError: It is damaged, of another version, or of a text of another length.
    """
    head = len(_FORMAT) + _DIGEST_SIZE
    body = memoryview(data)[head:]
    if data[:head] != _FORMAT + blake2b(body, digest_size=_DIGEST_SIZE).digest():
        raise ValueError
    kinds, levels, starts, tokens, ids, lengths, titles = _split(body)
    columns_starts, own_tokens, title_lengths = _load(starts), _load(tokens), _load(lengths)
    count = len(levels)
    sizes = (len(kinds), len(columns_starts) - 1, len(own_tokens), len(ids) // _ID_BYTES, len(title_lengths) - 1)
    if any(size != count for size in sizes) or columns_starts[-1] != length:
        raise ValueError
    texts = list(_cut(bytes(titles), title_lengths))
    all_ids = bytes(ids).hex()
    parents, ends = nest_levels(bytes(levels))
    columns = Columns(
        kinds=tuple(_KINDS[kind] for kind in kinds),
        levels=bytes(levels),
        titles=tuple(texts[1:]),
        urls=("",) * count,
        starts=columns_starts,
        parents=parents,
        ends=ends,
    )
    width = 2 * _ID_BYTES
    return texts[0], columns, tuple(all_ids[at : at + width] for at in range(0, len(all_ids), width)), own_tokens


def _split(body: memoryview) -> Iterator[memoryview]:
    position = 0
    while position < len(body):
        start = position + _COUNT_BYTES
        position = start + int.from_bytes(body[position:start], "little")
        yield body[start:position]


def _cut(data: bytes, lengths: array[int]) -> Iterator[str]:
    position = 0
    for length in lengths:
        yield data[position : position + length].decode("utf-8", "surrogatepass")
        position += length


def _store(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _load(data: memoryview) -> array[int]:
    numbers = array("Q")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
