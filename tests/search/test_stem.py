"""Porter's stemmer agrees with the one in SQLite's FTS5, which the index uses."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.stem import stem

_ENDINGS = (
    *("s", "es", "ies", "sses", "ss", "ed", "eed", "ing", "y", "e", "ll", "ational", "tional", "enci", "anci"),
    *("izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness"),
    *("fulness", "ousness", "aliti", "iviti", "biliti", "ical", "ness", "icate", "iciti", "ful", "ative", "alize"),
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "sion", "ou", "ism"),
    *("ate", "iti", "ous", "ive", "ize", "at", "bl", "iz", "tt", "zz"),
)


def _stem_by_index(words: Iterable[str]) -> dict[str, str]:
    numbered = list(enumerate(words))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter unicode61')")
        connection.executemany("INSERT INTO words(rowid, word) VALUES(?, ?)", numbered)
        connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, instance)")
        return {numbered[row][1]: found for found, row in connection.execute("SELECT term, doc FROM vocabulary")}


@given(st.lists(st.builds(str.__add__, st.text("abcdeilnorstyz", max_size=6), st.sampled_from(_ENDINGS)), min_size=1))
def test_agrees_with_the_index(words: list[str]) -> None:
    stems = _stem_by_index(words)
    assert stems == {word: stem(word) for word in stems}


def test_agrees_with_the_index_on_real_words(data_dir: Path) -> None:
    texts = (path.read_text("utf-8", "replace") for path in sorted(data_dir.glob("sets/vespa-docs/docs/**/*.md"))[:60])
    words = {word for text in texts for word in re.findall("[a-z0-9]+", text.lower())}
    stems = _stem_by_index(words)
    assert len(words) > 5_000
    assert {word: stem(word) for word in stems} == stems
