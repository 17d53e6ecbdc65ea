"""Progress on a terminal."""

from __future__ import annotations

import io
import sys

import pytest
from typing_extensions import override

from roamtui.headless.output import report_conversion


def test_a_conversion_tells_how_far_it_is_on_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        @override
        def isatty(self) -> bool:
            return True

    for stream, written in ((Terminal(), "\rConverting a b…\rConverting a b… 7 of 1,200\n"), (io.StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", stream)
        with report_conversion("folder/a\nb") as report:
            report(0, 0)
            report(7, 1_200)
            report(7, 1_200)
        assert stream.getvalue() == written
