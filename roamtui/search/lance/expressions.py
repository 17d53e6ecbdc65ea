"""FTS5 expressions, as `parse_query` and those who plan searches make them, as queries of LanceDB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from roamtui.search.terms import find_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOKEN = re.compile(r'"([^"]*)"|(AND|OR)\b|([a-z]+)\s*:|([()*])')
_STARTS_MAX = 30
"""Words for which a prefix may stand."""
WORDS = "words"
"""Column of all words of a section."""
TITLE = "title"


class QueryMaker:
    """Makes queries.

    Args:
        queries: LanceDB's module of queries.
        title_words: What a prefix may stand for, sorted.
    """

    def __init__(self, queries: Any, title_words: Iterable[str] = ()) -> None:  # noqa: ANN401 - an extra
        self._queries = queries
        self._title_words = title_words

    def make(self, expression: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        """Return the query of an expression, None where nothing can satisfy it."""
        tokens = [match.groups() for match in _TOKEN.finditer(expression)]
        query, end = self._read_any(tokens, 0)
        assert end == len(tokens), expression
        return query

    def _read_any(self, tokens: Sequence[tuple[str | None, ...]], place: int) -> tuple[Any | None, int]:
        """Read alternatives from a place on; return their query and the place after them."""
        found = []
        while True:
            query, place = self._read_all(tokens, place)
            if query is not None:
                found.append(query)
            if place == len(tokens) or tokens[place][1] != "OR":
                return self._join(found, self._queries.Occur.SHOULD), place
            place += 1

    def _read_all(self, tokens: Sequence[tuple[str | None, ...]], place: int) -> tuple[Any | None, int]:
        found: list[Any | None] = []
        while True:
            query, place = self._read_one(tokens, place)
            found.append(query)
            if place == len(tokens) or tokens[place][1] != "AND":
                break
            place += 1
        if None in found:
            return None, place
        return self._join(found, self._queries.Occur.MUST), place

    def _read_one(self, tokens: Sequence[tuple[str | None, ...]], place: int) -> tuple[Any | None, int]:
        column = WORDS
        if tokens[place][3] == "(":
            query, place = self._read_any(tokens, place + 1)
            assert tokens[place][3] == ")"
            return query, place + 1
        if tokens[place][2] is not None:
            column = TITLE if tokens[place][2] == TITLE else WORDS
            place += 1
        text = tokens[place][0] or ""
        if place + 1 < len(tokens) and tokens[place + 1][3] == "*":
            return self._make_start(text), place + 2
        return self._make_leaf(text, column), place + 1

    def _make_leaf(self, text: str, column: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        words = find_words(text)
        if not words:
            return None
        if len(words) > 1:
            return self._queries.PhraseQuery(" ".join(words), column)
        return self._queries.MatchQuery(words[0], column)

    def _make_start(self, start: str) -> Any:  # noqa: ANN401 - LanceDB's own
        """Return a query for the words of titles that begin so; LanceDB knows no beginnings of words."""
        words = [word for word in self._title_words if word.startswith(start)][:_STARTS_MAX]
        return self._queries.MatchQuery(" ".join([start, *words]), WORDS)

    def _join(self, found: Sequence[Any], occur: Any) -> Any | None:  # noqa: ANN401 - LanceDB's own
        if len(found) < 2:
            return found[0] if found else None
        return self._queries.BooleanQuery([(occur, query) for query in found])
