r"""Ids of sections: 8 hex digits from document key, path and ordinal, without collisions inside a file.

The rule is a contract with other programs: ``blake2b("\\x1f".join([doc, *path, str(n)]), digest_size=4)``.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATOR = "\x1f"
_ABOVE_LENGTH_MAX = 1_000
"""Characters of the titles above; longer ones, which may be as long as a book, are hashed once for all siblings."""


def hash_path(doc: str, path: Sequence[str], ordinal: int, *salt: str) -> str:
    """Return the id of the `ordinal`-th (0-based) node with this path in document `doc`.

    A `salt` is appended where the plain id is taken already.
    """
    joined = _SEPARATOR.join([doc, *path, str(ordinal), *salt])
    return blake2b(_encode(joined), digest_size=4).hexdigest()


def make_ids(doc: str, paths: Iterable[Sequence[str]], *, salt: str = "", is_listing: bool = False) -> list[str]:
    """Return one id for each path, in order; equal paths are told apart by their ordinal.

    Args:
        doc: Key of the document within its source.
        paths: Paths of the document's nodes, in document order.
        salt: Set for a file whose ids collided with those of an earlier file.
        is_listing: Whether the nodes are files and folders, each a document whose key is its path.
    """
    ordinals: dict[tuple[str, ...], int] = {}
    ids: dict[str, None] = {}
    above: tuple[str, ...] = ()
    begun = None
    has_long = False
    for path in paths:
        key = tuple(path)
        ordinal = ordinals.get(key, 0)
        ordinals[key] = ordinal + 1
        base_salt = (salt,) if salt else ()
        node_doc = "/".join(key) if is_listing else doc
        if has_long and key[:-1] != above:
            above = key[:-1]
            is_long = sum(map(len, above)) > _ABOVE_LENGTH_MAX and not (is_listing or salt)
            begun = blake2b(_encode(_SEPARATOR.join([doc, *above, ""])), digest_size=4) if is_long else None
        has_long = has_long or (bool(key) and len(key[-1]) > _ABOVE_LENGTH_MAX)
        if begun is None:
            section_id = hash_path(node_doc, key, ordinal, *base_salt)
        else:
            state = begun.copy()
            state.update(_encode(f"{key[-1]}{_SEPARATOR}{ordinal}"))
            section_id = state.hexdigest()
        attempt = 0
        while section_id in ids:
            attempt += 1
            section_id = hash_path(node_doc, key, ordinal, *base_salt, str(attempt))
        ids[section_id] = None
    return list(ids)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
