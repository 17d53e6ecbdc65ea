"""Notice that a text repeats itself without end, as small models do."""

from roamtui.sentences import iter_sentence_ends

_PERIOD_MAX = 200
"""Maximum number of characters that are repeated."""
_LENGTH_MIN = 600
"""Minimum number of characters of a repetition. A shorter one may be a chorus or a row of a table."""
_TIMES_MIN = 6
_TAIL_LENGTH = _PERIOD_MAX * _TIMES_MIN
_STEP = 50
"""Number of characters after which a text is examined again."""


class RepetitionGuard:
    """Watches a text that streams in."""

    def __init__(self) -> None:
        self._tail = ""
        self._new = ""
        """The end of the text, which is not examined yet."""

    def feed(self, piece: str) -> bool:
        """Add a piece. Return whether the text repeats itself."""
        self._new += piece
        while len(self._new) >= _STEP:
            self._tail = (self._tail + self._new[:_STEP])[-_TAIL_LENGTH:]
            self._new = self._new[_STEP:]
            if find_period(self._tail):
                return True
        return False


def find_period(text: str, length_min: int = _LENGTH_MIN) -> int:
    """Return the length of the piece that a text repeats at its end, at least six times in a row.

    The copies have `length_min` characters or more. Return 0 if there are none, or if they have no letter.
    """
    for period in range(1, _PERIOD_MAX + 1):
        length = max(length_min, period * _TIMES_MIN)
        tail = text[-length:]
        if len(tail) == length and tail.endswith(tail[:-period]):
            return period if any(map(str.isalpha, tail[:period])) else 0
    return 0


def cut_repetition(text: str) -> str:
    """Return a text that was stopped, with one copy of the words that it repeats at its end."""
    # marks that were removed since may have made the repetition shorter
    period = find_period(text) or find_period(text, length_min=0)
    if not period:
        return text
    start = len(text) - period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    kept = text[: start + period].rstrip()
    # The text before the first copy may end as the copies do, so that the copy seems to end too early.
    line = text[start : start + 2 * period].partition("\n")[0]
    sentence_ends = (start + end for end in iter_sentence_ends(line))
    return text[: next((end for end in sentence_ends if end >= len(kept)), len(kept))].rstrip()
