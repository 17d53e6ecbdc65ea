"""What several of these tests begin with."""

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.anomalies.mortal_programs import MortalPrograms


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalPrograms]:
    if not hasattr(os, "fork"):
        pytest.skip("The programs are forks.")
    with closing(MortalPrograms(tmp_path_factory.mktemp("runs"))) as opened:
        yield opened
