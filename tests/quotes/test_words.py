"""The words of a text are the same for all threads."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from roamtui.quotes import words
from roamtui.quotes.words import read_words


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let threads take turns after a few steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_read_words_at_once_each_get_those_of_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_CACHED_WORDS_MAX", 60)  # so that texts leave while others are read

    def count_words(number: int) -> int:
        length = number % 40 + 1
        return len(read_words("word " * length)) - length

    with ThreadPoolExecutor(8) as threads:
        assert not any(threads.map(count_words, range(4_000)))
