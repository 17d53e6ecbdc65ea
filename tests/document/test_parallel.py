"""Parallel work: results in order, within the limit of threads."""

from __future__ import annotations

import threading

import pytest

from roamtui.document.parallel import run_parallel


def test_results_keep_the_order_of_items_and_the_limit_of_threads() -> None:
    together = threading.Barrier(3, timeout=120)
    working: set[int] = set()
    most = []

    def work(item: int) -> int:
        working.add(item)
        together.wait()
        most.append(len(working))
        together.wait()
        working.discard(item)
        together.wait()
        return item * item

    assert run_parallel(work, range(9), 3) == [item * item for item in range(9)]
    assert set(most) == {3}


def test_the_first_failure_is_raised() -> None:
    done = []

    def work(item: int) -> None:
        done.append(item)
        if item in (1, 3):
            raise ValueError(item)

    with pytest.raises(ValueError, match="1"):
        run_parallel(work, range(5), 1)
    assert sorted(done)[:2] == [0, 1]
