r"""Ids of sections: 8 hex digits from document key, path and ordinal, without collisions inside a file.

The rule is a contract with other programs: ``blake2b("\\x1f".join([doc, *path, str(n)]), digest_size=4)``.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATOR = "\x1f"


def hash_path(doc: str, path: Sequence[str], ordinal: int, *salt: str) -> str:
    """Return the id of the `ordinal`-th (0-based) node with this path in document `doc`.

    A `salt` is appended where the plain id is taken already.
    """
    joined = _SEPARATOR.join([doc, *path, str(ordinal), *salt])
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


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
    for path in paths:
        key = tuple(path)
        ordinal = ordinals.get(key, 0)
        ordinals[key] = ordinal + 1
        base_salt = (salt,) if salt else ()
        node_doc = "/".join(key) if is_listing else doc
        section_id = hash_path(node_doc, key, ordinal, *base_salt)
        attempt = 0
        while section_id in ids:
            attempt += 1
            section_id = hash_path(node_doc, key, ordinal, *base_salt, str(attempt))
        ids[section_id] = None
    return list(ids)
