"""`LanceWordStore`: the words of sections in LanceDB, ranked by its full-text search."""

from __future__ import annotations

import threading
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from roamtui.errors import UsageError
from roamtui.search.lance.catalogue import LanceCatalogue
from roamtui.search.lance.database import delete_rows, retry_conflicts, tidy_table
from roamtui.search.lance.expressions import TITLE, WORDS, QueryMaker
from roamtui.search.languages import STOP_WORDS
from roamtui.search.store.parts import NamesByRun
from roamtui.search.terms import find_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from roamtui.search.lance.database import Database
    from roamtui.search.store.parts import IndexRow, Part

SECTIONS = "sections"
_ROW_BITS = 13
"""A part has at most 5,000 rows."""
_BATCH_ROWS = 20_000
_COUNT_MAX = 10_000
"""Rows that are counted; a word in more of them tells little."""
_COUNTS_KEPT = 20_000
_TITLE_TIMES = 3
_NAME_TIMES = 2
"""How often title and identifiers count where a word of the text counts once."""
_WORD_LENGTH_MIN = 4
_TOKEN_LENGTH_MAX = 200
_GROWTH = 8


class LanceWordStore:
    """Ranks rows by the words of parts. See `WordStore`.

    The number of a row comes from the digest of its part, so that programs that write at once agree on it. A part is
    written whole or not at all; one that two programs wrote is found once. Weights are those of writing.

    Args:
        database: Where the tables lie.

    Raises:
        UsageError: It holds the index of other documents; of `synchronise`.
        IndexLostError: The database cannot be used; of every method.
    """

    path = None
    is_quick = True

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        arrow = database.arrow
        text, number = arrow.string(), arrow.int64()
        self._row_fields = [("number", number), ("part", text), ("doc", text), (TITLE, text), (WORDS, text)]
        self._sections = database.open_table(SECTIONS, self._row_fields)
        self._bounds = (0, -1)
        """First and last row that is written."""
        self._counts: dict[str, int] = {}
        self._has_stem: dict[str, bool] = {}
        self._title_words: list[str] | None = None
        self.summaries: Mapping[str, str] = LanceCatalogue(database).load_summaries()

    def close(self) -> None:
        """Let go of nothing: each write is whole."""

    def synchronise(self, parts: Sequence[Part], tell: Callable[[int, int], None] | None = None) -> dict[str, int]:
        """Write the parts that are missing, take out those that are not among these, and return where each begins.

        Args:
            parts: All that is to be found, each with a digest of its own.
            tell: Is told how many of the sections to write are written, and of how many.
        """
        with self._lock, self._database.failing():
            self._counts.clear()
            self._has_stem.clear()
            self._title_words = None
            retry_conflicts(lambda: self._write(parts, tell))
            bases = {part.digest: find_base(part.digest) for part in parts}
            ends = [bases[part.digest] + len(part) for part in parts]
            self._bounds = (min(bases.values(), default=0), max(ends, default=0) - 1)
            return bases

    def _write(self, parts: Sequence[Part], tell: Callable[[int, int], None] | None) -> None:
        self._sections.checkout_latest()
        known = self._list_values("part")
        self._check_documents({part.document.key for part in parts})
        delete_rows(self._sections, "part", known - {part.digest for part in parts})
        self._add([part for part in parts if part.digest not in known], tell)
        tidy_table(self._sections, [(WORDS, self._make_index()), (TITLE, self._make_index())])

    def rank(
        self,
        expression: str,
        weights: Sequence[float],  # noqa: ARG002 - those of the time of writing
        bounds: tuple[int, int],
        accepts: Callable[[int], bool],
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` rows that satisfy an FTS5 expression with their scores, the best first."""
        with self._lock, self._database.failing():
            query = self._make_query(expression)
            size = limit
            while query is not None:
                found = self._search(query, bounds, size)
                accepted = {row: score for row, score in found if accepts(row)}
                if len(accepted) >= limit or len(found) < size:
                    return sorted(accepted.items(), key=lambda item: (-item[1], item[0]))[:limit]
                size *= _GROWTH
            return []

    def list_matches(self, expression: str, bounds: tuple[int, int], limit: int) -> list[int]:
        """Return up to `limit` rows that satisfy an expression, by number."""
        with self._lock, self._database.failing():
            query = self._make_query(expression)
            return sorted({row for row, _ in self._search(query, bounds, limit)}) if query is not None else []

    def count(self, expression: str, count_max: int) -> int:
        """Return how many rows satisfy an expression, at most `count_max` and a number past which it tells little."""
        with self._lock, self._database.failing():
            if len(self._counts) > _COUNTS_KEPT:
                self._counts.clear()
            if expression not in self._counts:
                query = self._make_query(expression)
                rows = self._search(query, self._bounds, _COUNT_MAX) if query is not None else []
                self._counts[expression] = len(rows)
            return min(count_max, self._counts[expression])

    def has_stem(self, word_stem: str) -> bool:
        """Whether any row holds a word with this stem."""
        with self._lock, self._database.failing():
            if len(self._has_stem) > _COUNTS_KEPT:
                self._has_stem.clear()
            if word_stem not in self._has_stem:
                query = self._database.queries.MatchQuery(word_stem, WORDS)
                self._has_stem[word_stem] = bool(self._search(query, self._bounds, 1))
            return self._has_stem[word_stem]

    def list_title_words(self) -> Sequence[str]:
        """Return the words of all titles that a mistyped one may have meant, sorted."""
        with self._lock, self._database.failing():
            return self._list_title_words()

    def _list_title_words(self) -> list[str]:
        if self._title_words is None:
            titles = self._sections.search().select([TITLE]).to_arrow()[TITLE].to_pylist()
            words = {word for title in set(titles) for word in find_words(title)}
            self._title_words = sorted(word for word in words if _is_telling(word))
        return self._title_words

    def _make_query(self, expression: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        title_words = self._list_title_words() if "*" in expression else ()
        return QueryMaker(self._database.queries, title_words).make(expression)

    def _search(self, query: Any, bounds: tuple[int, int], limit: int) -> list[tuple[int, float]]:  # noqa: ANN401
        found = self._sections.search(query, query_type="fts").limit(limit).select(["number", "_score"])
        if bounds[0] > self._bounds[0] or bounds[1] < self._bounds[1]:
            found = found.where(f"number >= {bounds[0]} AND number <= {bounds[1]}", prefilter=True)
        rows = found.to_arrow()
        return list(zip(rows["number"].to_pylist(), rows["_score"].to_pylist(), strict=True))

    def _list_values(self, column: str) -> set[str]:
        """Return the values of a column."""
        return set(self._sections.search().select([column]).to_arrow()[column].unique().to_pylist())

    def _check_documents(self, keys: set[str]) -> None:
        """Refuse to replace the index of other documents.

        Raises:
            UsageError: None of the documents in the database is among these.
        """
        others = self._list_values("doc")
        if others and keys and others.isdisjoint(keys):
            example = min(others) or "a single document"
            raise UsageError(
                f"{self._database.uri} holds the index of other documents, such as {example}. Name another place."
            )

    def _add(self, parts: Sequence[Part], tell: Callable[[int, int], None] | None) -> None:
        names_by_run = NamesByRun()
        total = sum(map(len, parts))
        done = 0
        for batch in _divide(parts):
            if tell is not None:
                tell(done, total)
            rows = [row for part in batch for row in _make_rows(part, names_by_run)]
            arrow = self._database.arrow
            self._sections.add(arrow.Table.from_pylist(rows, schema=arrow.schema(self._row_fields)))
            done += len(rows)
        if tell is not None and total:
            tell(total, total)

    def _make_index(self) -> Any:  # noqa: ANN401 - LanceDB's own
        return self._database.indexes.FTS(
            with_position=True, remove_stop_words=False, max_token_length=_TOKEN_LENGTH_MAX
        )


def find_base(digest: str) -> int:
    """Return the number of the first row of a part."""
    return int.from_bytes(blake2b(digest.encode(), digest_size=6).digest()) << _ROW_BITS


def join_words(row: IndexRow) -> str:
    """Return all words of a row as one text, in which what weighs more stands more than once."""
    return " ".join(
        filter(None, (*[row.title] * _TITLE_TIMES, row.path, row.body, *[row.names] * _NAME_TIMES, row.parts))
    )


def _make_rows(part: Part, names_by_run: NamesByRun) -> Iterator[dict[str, object]]:
    base = find_base(part.digest)
    for place, row in enumerate(part.make_rows(names_by_run)):
        yield {
            "number": base + place,
            "part": part.digest,
            "doc": part.document.key,
            TITLE: _make_encodable(row.title),
            WORDS: _make_encodable(join_words(row)),
        }


def _make_encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_telling(word: str) -> bool:
    return len(word) >= _WORD_LENGTH_MIN and word not in STOP_WORDS and not any(map(str.isdigit, word))


def _divide(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield the parts in batches of about as many rows."""
    batch: list[Part] = []
    for part in parts:
        batch.append(part)
        if sum(map(len, batch)) >= _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch
