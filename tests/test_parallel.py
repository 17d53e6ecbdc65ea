"""Work in several threads."""

from threading import Thread, current_thread

from roamtui.parallel import run_parallel


def test_many_items_share_few_threads() -> None:
    threads: set[Thread] = set()

    def double(number: int) -> int:
        threads.add(current_thread())
        return 2 * number

    assert run_parallel(double, range(100)) == list(range(0, 200, 2))
    assert len(threads) < 10
