"""Parallel work: results in order, within the limit of threads."""

from __future__ import annotations

import threading

import pytest

from roamtui.document.parallel import run_parallel


def test_results_keep_the_order_of_items_and_the_limit_of_threads() -> None:
    together = threading.Barrier(3, timeout=120)

    def work(item: int) -> tuple[int, int]:
        together.wait()
        return item, threading.get_ident()

    done = run_parallel(work, range(9), 3)
    assert [item for item, _ in done] == list(range(9))
    assert len({thread for _, thread in done}) == 3


def test_the_first_failure_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        run_parallel(lambda item: 1 // item, (2, 0, 1), 2)
