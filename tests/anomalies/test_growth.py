"""However odd a text is, reading one that is twelve times as long takes about twelve times the processor's time."""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.conversation.log import ConversationStore
from roamtui.errors import SourceError
from roamtui.models.registry import NoModel
from roamtui.opening.loader import OpenedSource
from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import recheck
from roamtui.table.cells import Cell
from roamtui.table.columns import Column
from roamtui.table.runner import TableRun, fill_table, format_progress
from roamtui.table.store import ResultRow, ResultTable, TableLog
from tests.anomalies.readers import PIECES, READERS, SECONDS_MIN, measure_reading
from tests.conversation.conversations import Recorder
from tests.search.libraries import make_library
from tests.table.filling import agree, make_plan

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
        ("style sheet", ("padding:", "padding-", "display:"), _LONG_COUNT),
    ],
)
def test_reading_takes_time_by_the_length_of_a_text_not_by_its_square(
    name: str, pieces: tuple[str, ...], longest: int
) -> None:
    for piece in pieces:
        is_slow = measure_reading(name, piece, longest) > _SLOW_SECONDS
        count = longest // 2 if is_slow else longest
        _check_growth(partial(measure_reading, name, piece), count, repr(piece))


def _check_growth(measure: Callable[[int], float], count: int, what: str) -> None:
    for may_retry in (True, True, False):  # other programs can slow anything down once
        growth = measure(_TIMES * count) / measure(count)
        if growth <= _GROWTH_MAX:
            break
        assert may_retry, f"{growth:.0f} times the time for {_TIMES} times as many {what}"


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


def test_the_latest_conversation_is_found_without_reading_the_others(tmp_path: Path) -> None:
    def count_reading(count: int) -> int:
        store = ConversationStore(tmp_path / str(count))
        for number in range(count):
            with closing(store.start(f"c{number}", Recorder(f"c{number}").ask("Why?").events)) as log:
                log.save()
        store.get_latest("manual.md")
        return _count_calls(lambda: store.get_latest("manual.md"))

    assert count_reading(40) < 10 * count_reading(1)


def _make_table(folder: Path, count: int) -> ResultTable:
    rows = tuple(ResultRow(title=f"{number}.md", source=f"/docs/{number}.md") for number in range(count))
    return ResultTable(folder=folder / f"{count}", rows=rows, columns=(Column(question="Why?"),))


async def test_the_progress_of_a_large_table_is_told_as_fast_as_that_of_a_small_one(tmp_path: Path) -> None:
    def refuse(_source: str) -> OpenedSource:
        raise SourceError("It is away.")

    async def count_telling(count: int) -> int:
        calls: list[int] = []

        def tell(run: TableRun, _cell: Cell | None) -> None:
            calls.append(_count_calls(lambda: format_progress(run)))

        plan = replace(make_plan(NoModel()), open_source=refuse)
        run = await fill_table(_make_table(tmp_path, count), plan, tell, agree)
        assert format_progress(run) == f"{count} of {count} cells: {count} failed"
        return max(calls)

    assert await count_telling(400) < 2 * await count_telling(40)


def test_a_table_is_filled_again_without_comparing_each_row_to_each_other(tmp_path: Path) -> None:
    def measure_begin(count: int) -> float:
        with closing(TableLog(_make_table(tmp_path, count))) as log:
            log.begin_run()
        with closing(TableLog(_make_table(tmp_path, count))) as log:
            started = time.process_time()
            log.begin_run()
            return max(SECONDS_MIN, time.process_time() - started)

    _check_growth(measure_begin, 500, "rows")
