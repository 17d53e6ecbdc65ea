"""The rows of a table: the documents of some sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from roamtui.document.plain import sanitise_line
from roamtui.sources.file_sources import list_sources
from roamtui.sources.read import check_file, is_path
from roamtui.table.store import Row


def list_rows(sources: Sequence[str]) -> tuple[Row, ...]:
    """List the documents of some sources, in order.

    Raises:
        SourceError: A source cannot be read.
    """
    rows: dict[str, Row] = {}  # a file and its folder may both be named
    for row in chain.from_iterable(map(_list_documents, sources)):
        rows.setdefault(row.source, row)
    return tuple(rows.values())


def _list_documents(source: str) -> Iterator[Row]:
    if not is_path(source):
        yield Row(title=source, source=source)
    elif not Path(source).is_dir():
        path = Path(source).absolute()
        check_file(path)
        yield Row(title=sanitise_line(path.name), source=str(path))
    else:
        for key, path in list_sources([Path(source)]).files.items():
            yield Row(title=sanitise_line(key), source=str(path))
