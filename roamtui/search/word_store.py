"""`WordStore`: what search by words needs of whatever keeps the words of sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from roamtui.search.store.parts import Part


class WordStore(Protocol):
    """Ranks rows by the words of parts. May be asked from any thread; a row's number is never given to another.

    Raises:
        IndexLostError: It can be used no longer; of every method.
    """

    @property
    def path(self) -> Path | None:
        """Return the file that may be deleted and made anew, None where there is none."""
        ...

    @property
    def is_quick(self) -> bool:
        """Whether it finds the best rows without weighing all that match, so that a query need not be planned."""
        ...

    @property
    def summaries(self) -> Mapping[str, str]:
        """Return what is kept with the words: what a model wrote of documents and sections, by digest of the text."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...

    def synchronise(self, parts: Sequence[Part], tell: Callable[[int, int], None] | None = None) -> dict[str, int]:
        """Write the parts that are missing, take out those that are not among these, and return where each begins.

        Args:
            parts: All that is to be found, each with a digest of its own.
            tell: Is told how many of the sections to write are written, and of how many.
        """
        ...

    def rank(
        self,
        expression: str,
        weights: Sequence[float],
        bounds: tuple[int, int],
        accepts: Callable[[int], bool],
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` rows that satisfy an FTS5 expression with their scores, the best first.

        Args:
            expression: As `parse_query` makes it.
            weights: Of title, titles above, text, identifiers, and parts of words in camel case.
            bounds: First and last row.
            accepts: Says which rows between them count.
            limit: How many at most.
        """
        ...

    def list_matches(self, expression: str, bounds: tuple[int, int], limit: int) -> list[int]:
        """Return the first rows that satisfy an expression, by number."""
        ...

    def count(self, expression: str, count_max: int) -> int:
        """Return how many rows satisfy an expression, at most `count_max`."""
        ...

    def has_stem(self, word_stem: str) -> bool:
        """Whether any row holds a word with this stem."""
        ...

    def list_title_words(self) -> Sequence[str]:
        """Return the words of all titles that a mistyped one may have meant, sorted."""
        ...
