from __future__ import annotations

import pytest

from roamtui.evaluation.intervals import Measure, compare_measures, find_intervals

_HALF = Measure(name="hits", values=(1.0, 0.0) * 50)


def test_a_mean_a_ratio_and_a_median_are_what_they_say() -> None:
    assert Measure(name="m", values=(1.0, 2.0, 6.0)).compute() == 3.0
    assert Measure(name="m", values=(1.0, 2.0), weights=(2.0, 2.0)).compute() == 0.75
    assert Measure(name="m", values=(1.0, 2.0, 60.0), is_median=True).compute() == 2.0


def test_what_means_nothing_has_no_value_and_no_interval() -> None:
    empty = Measure(name="m", values=(0.0, 0.0), weights=(0.0, 0.0))
    assert empty.compute() is None
    assert find_intervals([empty]) == {}
    assert find_intervals([Measure(name="m", values=())]) == {}


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    low, high = find_intervals([_HALF], seed=3)["hits"]
    assert low == pytest.approx(0.4, abs=0.02)
    assert high == pytest.approx(0.6, abs=0.02)


def test_the_same_seed_gives_the_same_interval() -> None:
    assert find_intervals([_HALF], seed=3) == find_intervals([_HALF], seed=3)
    assert find_intervals([_HALF], seed=3, resamples=50) != find_intervals([_HALF], seed=4, resamples=50)


def test_what_never_varies_has_an_interval_of_no_width() -> None:
    assert find_intervals([Measure(name="m", values=(2.0,) * 9)]) == {"m": (2.0, 2.0)}


def test_a_gain_is_paired_so_that_questions_hard_for_both_do_not_blur_it() -> None:
    before = Measure(name="hits", values=(1.0,) * 50 + (0.0,) * 50)
    after = Measure(name="hits", values=(1.0,) * 70 + (0.0,) * 30)

    (gain,) = compare_measures([before], [after], seed=1)

    assert (gain.before, gain.after) == (0.5, 0.7)
    assert 0.1 < gain.low < 0.2 < gain.high < 0.3
    assert gain.better == 1.0


def test_between_equal_runs_neither_is_better() -> None:
    (gain,) = compare_measures([_HALF], [_HALF])
    assert (gain.low, gain.high, gain.better) == (0.0, 0.0, 0.5)
