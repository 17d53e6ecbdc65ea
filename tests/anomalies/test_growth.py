"""However odd a text is, reading one that is twelve times as long takes about twelve times the processor's time."""

import sys
from collections.abc import Callable

import pytest

from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import recheck
from tests.anomalies.readers import PIECES, READERS, measure_reading
from tests.search.libraries import make_library

_COUNT = 300
"""Characters of the shorter text; half as many for a reader that takes `_SLOW_SECONDS`, which is easier to measure."""
_SLOW_SECONDS = 0.003
_LONG_COUNT = 40_000
"""Characters of the shorter text of signs that slow down only a very long block."""
_TIMES = 12
"""How many times longer the longer one is."""
_GROWTH_MAX = 40
"""Time by the length grows twelvefold, time by its square by 144."""


@pytest.mark.parametrize(
    ("name", "pieces", "longest"),
    [
        *((name, PIECES, _COUNT) for name in READERS),
        ("words", ("– ", "★ "), _LONG_COUNT),
        ("llms.txt", (")",), _LONG_COUNT),
        ("subtitles", (" ",), _LONG_COUNT),
    ],
)
def test_reading_takes_time_by_the_length_of_a_text_not_by_its_square(
    name: str, pieces: tuple[str, ...], longest: int
) -> None:
    for piece in pieces:
        for may_retry in (True, True, False):  # other programs can slow anything down once
            is_slow = measure_reading(name, piece, longest) > _SLOW_SECONDS
            count = longest // 2 if is_slow else longest
            growth = measure_reading(name, piece, _TIMES * count) / measure_reading(name, piece, count)
            if growth <= _GROWTH_MAX:
                break
            assert may_retry, f"{growth:.0f} times the time for {_TIMES} times as many {piece!r}"


def _count_calls(work: Callable[[], object]) -> int:
    """Count the calls of functions, which no other program disturbs."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def test_false_quotes_take_no_work_at_each_place_of_their_words() -> None:
    def check_quotes(count: int) -> int:
        library = make_library("The late fee is due.\n\n" * count)
        first, *others = (Claim(quote=f"the late fee {number} was never due", place="") for number in range(20))
        recheck(first, library)
        return _count_calls(lambda: [recheck(claim, library) for claim in others])

    assert check_quotes(1_600) < 2 * check_quotes(200)
