"""`LanceStore`: vectors in a LanceDB database, which several machines share."""

import importlib.util
import os
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from roamtui.errors import UsageError
from roamtui.sanitiser import mask_logins, sanitise_line
from roamtui.search.base import IndexLostError
from roamtui.text import shorten

_TABLE = "vectors_"
"""Start of the names of the tables, one for each embedder."""
_TABLES_MAX = 10_000
_REASON_LENGTH = 200
_MESSAGE = re.compile("<Message>(.+?)</Message>", re.DOTALL)
_PAUSES = 0.2, 0.8, 2.0
"""Maximum pauses in seconds before a write is retried, because another program may be creating the table."""


class LanceStore:
    """Vectors in a LanceDB database. A vector that two programs wrote is loaded only once.

    The database is a folder, or ``s3://…``, ``gs://…``, ``az://…`` or ``db://…`` with credentials from the
    environment.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: The database cannot be used. Any method may raise this.
    """

    def __init__(self, uri: str) -> None:
        if importlib.util.find_spec("lancedb") is None:
            raise UsageError(
                'keeping vectors in a database needs LanceDB. Install it with: pip install "roamtui[lancedb]"'
            )
        os.environ.setdefault("LANCEDB_LOG", "error")  # otherwise it writes warnings to the terminal
        os.environ.setdefault("LANCE_LOG", "error")
        self._uri = uri if "://" in uri else str(Path(uri).expanduser())
        import lancedb  # noqa: PLC0415 - an extra
        import pyarrow as pa  # noqa: PLC0415 - the same

        self._arrow: Any = pa
        with self._convert_errors():
            self._connection = lancedb.connect(self._uri)

    def load(self, kind: str) -> dict[str, bytes]:
        """Return all vectors of an embedder, by the digest of their text."""
        with self._convert_errors():
            try:
                table = self._connection.open_table(_name_table(kind))
            except ValueError:  # no such table yet; another program may be creating it
                return {}
            rows = table.search().select(["digest", "vector"]).to_arrow()
            digests = rows["digest"].to_pylist()
            vectors = rows["vector"].combine_chunks()
            matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, vectors.type.list_size)
            return dict(zip(digests, (row.tobytes() for row in matrix), strict=True))

    def save(self, kind: str, vectors: Mapping[str, bytes]) -> None:
        """Add vectors of an embedder."""
        arrow = self._arrow
        name = _name_table(kind)
        count = len(vectors)
        data = b"".join(vectors.values())
        values = arrow.Array.from_buffers(arrow.float16(), len(data) // 2, [None, arrow.py_buffer(data)])
        matrix = arrow.FixedSizeListArray.from_arrays(values, len(values) // count)
        rows = arrow.table({"digest": list(vectors), "vector": matrix})
        for pause in (*_PAUSES, None):
            try:
                with self._convert_errors():
                    table = self._connection.create_table(name, schema=rows.schema, exist_ok=True)
                    table.add(rows)
            except IndexLostError:
                if pause is None:
                    raise
                time.sleep(random.uniform(0, pause))  # noqa: S311 - not for security
            else:
                return

    def delete_unused(self, *_: object) -> None:
        """Keep all vectors, because other libraries may have their text."""

    def delete(self) -> bool:
        """Delete the tables of vectors, but no others. Return whether there was one."""
        with self._convert_errors():
            listed = self._connection.list_tables(limit=_TABLES_MAX).tables
            names = [name for name in listed if name.startswith(_TABLE)]
            for name in names:
                self._connection.drop_table(name)
        return bool(names)

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert LanceDB's errors to `IndexLostError`, with a message that names the database."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
            message = _MESSAGE.search(str(error))  # the object store's message, without those around it
            words = message[1] if message else str(error).partition(", /")[0]
            reason = shorten(sanitise_line(mask_logins(words)), _REASON_LENGTH) or type(error).__name__
            advice = " Check the URL, and the keys in the environment." if "://" in self._uri else ""
            name = shorten(sanitise_line(mask_logins(self._uri)), 80)
            raise IndexLostError(f"The index {name} cannot be used: {reason.rstrip('.')}.{advice}") from error


def _name_table(kind: str) -> str:
    return _TABLE + blake2b(kind.encode(), digest_size=16).hexdigest()
